/* Calls and returns: recursion, structs by value, results of several words, code without bitcode, qsort() calling back. */
#include <stdlib.h>
#include <string.h>

#include "show_bits.h"

SHOW_MAIN

struct pair {
	uint64_t first, second;
};

struct large {
	uint64_t words[9];
};

static __attribute__((noinline)) uint64_t ackermann(uint64_t m, uint64_t n)
{
	if (!m)
		return n + 1;
	return ackermann(m - 1, n ? ackermann(m, n - 1) : 1);
}

static __attribute__((noinline)) struct pair swap(struct pair pair)
{
	return (struct pair){pair.second, pair.first};
}

static __attribute__((noinline)) struct large fill(struct large from, uint64_t with)
{
	for (int i = 0; i < 9; i++)
		from.words[i] = from.words[i] * 3 + with + (uint64_t)i;
	return from;
}

static int compare(const void *left, const void *right)
{
	const int a = *(const int *)left, b = *(const int *)right;

	return (a > b) - (a < b);
}

static __attribute__((noinline)) void many(
	int a, long b, char c, short d, unsigned e, uint64_t f, int g, long h, const char *i)
{
	show_bits((uint64_t)a + (uint64_t)b * 2 + (uint64_t)c * 3 + (uint64_t)d * 5 + e * 7 +
		  f * 11 + (uint64_t)g * 13 + (uint64_t)h * 17 + strlen(i));
}

void construct(uint64_t number)
{
	struct pair pair = swap((struct pair){number, number * number});
	struct large large = {{number}};
	int values[] = {7, -3, (int)number, 99, 0, -100, 5};
	char text[24] = "forty ";

	show_bits(ackermann(2, number));
	show_bits(pair.first);
	show_bits(pair.second);
	large = fill(fill(large, 4), number);
	show_bits(large.words[0] ^ large.words[8]);
	qsort(values, 7, sizeof *values, compare);
	for (int i = 0; i < 7; i++)
		show_bits((uint64_t)values[i]);
	strcat(text, number % 2 ? "two" : "three");
	show_bits(strlen(text));
	show_bits((uint64_t)strtol(text + 6 + (number & 0), NULL, 10) + (uint64_t)atoi("12"));
	many(1, -2, 'c', -4, 5, number, -7, 8, text);
}
