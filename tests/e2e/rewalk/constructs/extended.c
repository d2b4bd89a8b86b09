/* long double: constants, arithmetic, comparisons, conversions, memory, calls of the library, and results of vectors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "show_bits.h"

SHOW_MAIN

static long double shared_total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static const long double table[] = {0.1L, -1e4000L, 3.0L, 0x1.8p-70L};

static uint64_t bits_of(long double value)
{
	uint64_t words[2] = {0};

	memcpy(words, &value, 10);
	return words[0] ^ words[1] << 40;
}

static __attribute__((noinline)) long double series(long double from, int count)
{
	long double sum = 0;

	for (int i = 1; i <= count; i++)
		sum = sum * from + (i & 1 ? 1.0L / i : -0.5L * i) - table[i & 3] * 1e-4001L;
	return sum;
}

static __attribute__((noinline)) uint64_t compare(long double a, long double b)
{
	const long double nothing = a - a + NAN;

	return (uint64_t)(a < b) | (uint64_t)(a <= b) << 1 | (uint64_t)(a == b) << 2 |
	       (uint64_t)(a != b) << 3 | (uint64_t)(a > nothing) << 4 |
	       (uint64_t)(nothing != nothing) << 5 | (uint64_t) !(a >= nothing) << 6;
}

static __attribute__((noinline)) uint64_t convert(long double value, uint64_t number)
{
	const long double from = (long double)number * 0x1p33L + (long double)(int)-number;

	return (uint64_t)value ^ (uint64_t)(int64_t)-value ^ (uint64_t)(int)(from / 0x1p33L) ^
	       (uint64_t)(float)value << 7 ^ (uint64_t)(double)from << 3;
}

void construct(uint64_t number)
{
	const long double own = series((long double)number / 7, 20 + (int)number);
	char text[] = "2.718281828459045235360287";

	show_bits(bits_of(own));
	show_bits(bits_of(-fabsl(own) + sqrtl((long double)number)));
	show_bits(bits_of(expl(own / 100) * powl(1.5L, (long double)number)));
	show_bits(bits_of(floorl(own) + ceill(own * 3) + copysignl(2, own) + fmodl(own, 0.3L)));
	show_bits(bits_of(strtold(text + (number & 1), NULL)));
	show_bits(compare(own, (long double)number));
	show_bits(compare((long double)number, (long double)number));
	show_bits(convert(1000 + (long double)number * 1.25L, number));
	pthread_mutex_lock(&mutex);
	shared_total += own > 0 ? 1.5L : -0.25L;
	pthread_mutex_unlock(&mutex);
}
