/* memcpy, memmove, memset, locals (also of a size that is computed), globals, bit fields, thread-locals. */
#include <stdlib.h>
#include <string.h>

#include "show_bits.h"

SHOW_MAIN

struct packed {
	unsigned low : 3, middle : 9, high : 20;
	signed char sign;
	short half;
	double real;
};

static struct packed globals[2];
static const uint16_t squares[8] = {0, 1, 4, 9, 16, 25, 36, 49};
static _Thread_local uint64_t own = 77;
static char shared_text[2][64];

static __attribute__((noinline)) uint64_t sum(const unsigned char *bytes, size_t count)
{
	uint64_t result = 0;

	for (size_t i = 0; i < count; i++)
		result = result * 31 + bytes[i];
	return result;
}

static __attribute__((noinline)) void copies(uint64_t number)
{
	struct packed one = {.low = 5, .middle = 300, .high = 70000, .sign = -3, .half = -999};
	struct packed two = one, *heap = malloc(3 * sizeof *heap);
	char *text = shared_text[number & 1];

	two.middle += (unsigned)number;
	memset(heap, 0, 3 * sizeof *heap);
	memcpy(&heap[1], &two, sizeof two);
	globals[number & 1] = heap[1];
	memmove(&heap[0], &heap[1], 2 * sizeof *heap);
	show_bits(heap[0].middle + heap[0].high + (uint64_t)(int64_t)heap[0].sign);
	show_bits(globals[number & 1].middle * 3u + (uint64_t)(int64_t)globals[number & 1].half);
	strcpy(text, "abcdefghijklmnopqrstuvwxyz");
	memmove(text + 3, text, 20 - number);
	show_bits(sum((const unsigned char *)text, 26));
	free(heap);
}

void construct(uint64_t number)
{
	unsigned char long_local[number * 40];
	uint64_t matrix[3][4], *pointer = &matrix[1][2];

	memset(long_local, (int)number, sizeof long_local);
	long_local[number] = 9;
	show_bits(sum(long_local, sizeof long_local));
	for (int i = 0; i < 12; i++)
		matrix[i / 4][i % 4] = (uint64_t)i * number + squares[i % 8];
	*pointer += pointer[-1] * pointer[1];
	show_bits(matrix[1][2] ^ matrix[2][(number * 3) % 4]);
	own += number;
	show_bits(own);
	copies(number);
}
