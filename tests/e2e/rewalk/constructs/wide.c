/* Integers of 128 bits; and sums that the optimiser computes with 65 of them, in closed form. */
#include "show_bits.h"

SHOW_MAIN

__extension__ typedef unsigned __int128 wide_unsigned;
__extension__ typedef __int128 wide_signed;

static wide_unsigned kept[2];

static __attribute__((noinline)) wide_unsigned mix(wide_unsigned a, wide_signed b, int count)
{
	wide_unsigned result = a * (wide_unsigned)b + ((wide_unsigned)0x123456789abcdef << 70);

	result ^= result >> (count * 7 & 127);
	result += (wide_unsigned)(b >> 3);
	result -= a << (count & 31);
	result = result / (a | 3) + result % ((wide_unsigned)b | 1) + (wide_unsigned)(b / 7);
	return result + (result > a ? 5 : 9) + (b < -4 ? 11 : 1);
}

static __attribute__((noinline)) uint64_t sum(uint64_t count)
{
	uint64_t result = 0;

	for (uint64_t i = 0; i < count; i++)
		result += i * i;
	return result;
}

void construct(uint64_t number)
{
	wide_signed factor = -(wide_signed)number * 1000000007;
	wide_unsigned *const own = &kept[number & 1];

	for (int i = 0; i < 5; i++) {
		*own = mix(*own + number, factor, i);
		factor *= -3;
		show_bits((uint64_t)*own);
		show_bits((uint64_t)(*own >> 64));
	}
	show_bits(sum(number * 10));
}
