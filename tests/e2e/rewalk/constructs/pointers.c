/* Function pointers: in tables, as arguments, to code without bitcode, and those that are compared. */
#include <ctype.h>
#include <stdlib.h>

#include "show_bits.h"

SHOW_MAIN

typedef uint64_t operation(uint64_t, uint64_t);

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b;
}

static uint64_t multiply(uint64_t a, uint64_t b)
{
	return a * b;
}

static uint64_t shift(uint64_t a, uint64_t b)
{
	return a << (b & 63);
}

static operation *const constant_table[] = {add, multiply, shift};
static operation *changing_table[] = {shift, add, multiply};

static __attribute__((noinline)) uint64_t fold(operation *by, const uint64_t *values, int count)
{
	uint64_t result = 1;

	for (int i = 0; i < count; i++)
		result = by(result, values[i]);
	return result;
}

static __attribute__((noinline)) int count_if(int (*is)(int), const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += is((unsigned char)*text) != 0;
	return count;
}

void construct(uint64_t number)
{
	const uint64_t values[] = {2, number, 5, 3};
	void *(*volatile allocate)(size_t) = malloc;
	uint64_t *heap = allocate(16);
	operation *chosen = number & 1 ? add : multiply;

	for (int i = 0; i < 3; i++) {
		show_bits(fold(constant_table[i], values, 4));
		show_bits(fold(changing_table[(number + (uint64_t)i) % 3], values, 4));
	}
	show_bits(chosen == add);
	show_bits(chosen(number, 9));
	show_bits((uint64_t)count_if(isdigit, "a1b22c333") * 16 +
		  (uint64_t)count_if(isupper, "aBCd"));
	heap[0] = number;
	heap[1] = heap[0] * 3;
	show_bits(heap[0] + heap[1]);
	show_bits(*(uint64_t *)__builtin_align_down((char *)heap + number % 8, 8));
	free(heap);
}
