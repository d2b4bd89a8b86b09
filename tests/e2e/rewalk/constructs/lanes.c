/* Vectors: of addresses, and taken for others with wider or narrower lanes. */
#include <string.h>

#include "show_bits.h"

SHOW_MAIN

typedef uint64_t words __attribute__((vector_size(16)));
typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint16_t halves __attribute__((vector_size(16)));

static __attribute__((noinline)) uint64_t reshape(uint64_t number)
{
	words value = {number * UINT64_C(0x9e3779b97f4a7c15), number * 77};
	bytes parts = (bytes)value ^ (bytes) { 1, 2, 3, 4, 5 };
	halves sums = (halves)(parts + parts) * 3;
	const words result = (words)sums;
	__extension__ unsigned __int128 whole;

	memcpy(&whole, &parts, sizeof whole);
	return result[0] ^ result[1] ^ (uint64_t)(whole >> 37);
}

struct node {
	uint64_t value;
	struct node *next, *other;
};

static __attribute__((noinline)) void link(struct node *nodes, uint64_t *first, uint64_t count)
{
	for (uint64_t i = 0; i + 1 < count; i++) {
		nodes[i].next = &nodes[i + 1];
		nodes[i].other = &nodes[i].next[0];
		first[i] = nodes[i].value;
	}
}

/* Addresses side by side, as optimisers make them of pointers that are stored together. */
static __attribute__((noinline)) void spread(uint64_t **to, uint64_t *base, const int64_t *by)
{
	for (int i = 0; i < 8; i++)
		to[i] = base + by[i];
}

static __attribute__((noinline)) uint64_t mask_of(const uint8_t *text)
{
	bytes value, found;
	uint64_t mask = 0;

	memcpy(&value, text, sizeof value);
	found = (bytes)(value == (bytes){0} + 'e');
	for (int i = 0; i < 16; i++)
		mask |= (uint64_t)(found[i] & 1) << i;
	return mask;
}

void construct(uint64_t number)
{
	struct node nodes[9];
	uint64_t first[9] = {0}, values[32], *places[8];
	int64_t by[8];

	for (uint64_t i = 0; i < 9; i++)
		nodes[i] = (struct node){.value = number * i};
	link(nodes, first, 9);
	show_bits(nodes[3].next->value + nodes[5].other->value + first[7]);
	for (int i = 0; i < 8; i++)
		by[i] = (int64_t)(number + (uint64_t)i * 3) % 32;
	for (int i = 0; i < 32; i++)
		values[i] = number * (uint64_t)i;
	spread(places, values, by);
	for (int i = 0; i < 8; i++)
		show_bits(*places[i]);
	show_bits(reshape(number));
	show_bits(mask_of((const uint8_t *)"here and there, everywhere"));
}
