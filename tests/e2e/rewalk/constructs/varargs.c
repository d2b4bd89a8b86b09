/* Functions with any number of arguments: of the program, and of the library. */
#include <stdarg.h>
#include <stdio.h>

#include "show_bits.h"

SHOW_MAIN

static __attribute__((noinline)) uint64_t add(int count, ...)
{
	uint64_t result = 0;
	va_list list, again;

	va_start(list, count);
	va_copy(again, list);
	for (int i = 0; i < count; i++)
		result = result * 7 + va_arg(list, uint64_t);
	result += (uint64_t)va_arg(list, double);
	for (int i = 0; i < count; i++)
		result ^= va_arg(again, uint64_t);
	va_end(again);
	va_end(list);
	return result;
}

static __attribute__((noinline)) int print(char *to, size_t room, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = vsnprintf(to, room, format, list);
	va_end(list);
	return length;
}

/* Named arguments of both kinds of registers, more of each than there are. */
static __attribute__((noinline)) uint64_t mixed(
	double a, int b, float c, const char *d, double e, ...)
{
	uint64_t result = (uint64_t)(a + c + e) + (uint64_t)b + (uint64_t)d[0];
	va_list list;

	va_start(list, e);
	for (int i = 0; i < 5; i++) {
		result = result * 5 + (uint64_t)va_arg(list, int);
		result = result * 3 + (uint64_t)va_arg(list, double);
	}
	va_end(list);
	return result;
}

static __attribute__((noinline)) uint64_t many(long a, long b, long c, long d, long e, long f,
	long g, double h, double i, double j, double k, double l, double m, double n, double o,
	double p, ...)
{
	uint64_t result = (uint64_t)(a + b + c + d + e + f + g) + (uint64_t)(h + i + j + k + l + m);
	va_list list;

	va_start(list, p);
	result += va_arg(list, uint64_t) + (uint64_t)(n + o + p + va_arg(list, double));
	va_end(list);
	return result;
}

struct pair {
	uint64_t first, second;
};

struct large {
	uint64_t items[4];
};

/* Named arguments that are in memory, or in registers of their own rules; others that take several. */
static __attribute__((noinline)) uint64_t structs(
	struct large named, __int128 wide, long double extended, ...)
{
	uint64_t result = named.items[1] + (uint64_t)wide + (uint64_t)extended;
	va_list list;
	struct pair pair;
	struct large large;

	va_start(list, extended);
	pair = va_arg(list, struct pair);
	large = va_arg(list, struct large);
	result += pair.first * 3 + pair.second + large.items[3];
	result += (uint64_t)va_arg(list, long double) + (uint64_t)va_arg(list, __int128);
	va_end(list);
	return result;
}

static __attribute__((noinline)) uint64_t take(int count, va_list list)
{
	uint64_t result = 0;

	while (count--)
		result = result * 11 + va_arg(list, uint64_t);
	return result;
}

/* Lists that other functions continue, or that are started, copied and ended several times. */
static __attribute__((noinline)) uint64_t hand_on(int count, ...)
{
	uint64_t result = 0;
	va_list list, rest;

	for (int round = 0; round < 2; round++) {
		va_start(list, count);
		result += va_arg(list, uint64_t);
		va_copy(rest, list);
		result ^= take(count - 1, rest);
		va_end(rest);
		result += va_arg(list, uint64_t);
		va_end(list);
	}
	return result;
}

void construct(uint64_t number)
{
	struct large large = {{1, number, 3, number + 4}};
	struct pair pair = {number, 6};
	char text[40];

	show_bits(add(0, 2.5));
	show_bits(add(3, number, number * 2, UINT64_C(9), 1e6));
	show_bits(add(9, UINT64_C(1), UINT64_C(2), UINT64_C(3), UINT64_C(4), UINT64_C(5),
		UINT64_C(6), number, UINT64_C(8), UINT64_C(9), 10.0));
	show_bits(mixed(1.5, 2, 3.0f, "d", 5.0, 1, 2.0, 3, 4.0, 5, 6.0, (int)number, 8.0, 9, 10.0));
	show_bits(many(1, 2, 3, 4, 5, 6, 7, 1., 2., 3., 4., 5., 6., 7., 8., 9., number, 12.5));
	show_bits(structs(large, number, 7.0L, pair, large, 8.0L, (__int128)number));
	show_bits(hand_on(7, number, UINT64_C(2), UINT64_C(3), UINT64_C(4), UINT64_C(5), number,
		UINT64_C(7)));
	show_bits(
		(uint64_t)print(text, sizeof text, "%d %s %lu", -5, "and", (unsigned long)number));
	for (int i = 0; text[i]; i++)
		show_bits((uint64_t)text[i]);
}
