/* Inline assembly, whose result is a constant; atomic updates of all sizes; floating point; vectors. */
#include <math.h>
#include <stdatomic.h>

#include "show_bits.h"

SHOW_MAIN

static _Atomic uint8_t bytes[2];
static _Atomic uint16_t halves[2];
static _Atomic uint32_t words[2];
static _Atomic uint64_t longs[2];
static uint64_t plain[2][64];

static __attribute__((noinline)) uint64_t assembly(uint64_t value)
{
	uint64_t result, length;

	__asm__("leaq 3(%1,%1,4), %0" : "=r"(result) : "r"(value));
	__asm__("bsrq %1, %0" : "=r"(length) : "r"(value | 1) : "cc");
	return result * 64 + length;
}

static __attribute__((noinline)) uint64_t atomics(uint64_t number)
{
	const unsigned at = number & 1;
	uint64_t expected = 17 * number, result;

	atomic_store(&bytes[at], (uint8_t)(number * 50));
	result = atomic_fetch_add(&bytes[at], 200);
	result = result * 5 + atomic_fetch_sub(&halves[at], (uint16_t)number);
	result = result * 5 + atomic_fetch_xor(&words[at], 0xf0f0f0f0u);
	result = result * 5 + atomic_fetch_or(&longs[at], number << 40);
	result = result * 5 + atomic_exchange(&longs[at], 17 * number);
	result = result * 5 + atomic_compare_exchange_strong(&longs[at], &expected, 1);
	result = result * 5 + atomic_compare_exchange_strong(&longs[at], &expected, 2);
	atomic_thread_fence(memory_order_seq_cst);
	return result * 5 + expected + bytes[at] + halves[at] + words[at];
}

static __attribute__((noinline)) uint64_t floats(uint64_t number)
{
	double value = (double)number / 3, sum = 0;
	float small = (float)value;

	for (int i = 1; i < 9; i++) {
		sum += value / i - floor(value * i);
		small = small * 1.5f - (float)i;
		value = sqrt(value + i) + fabs(sum);
	}
	return (uint64_t)(int64_t)(sum * 1e6) ^ (uint64_t)(int64_t)(small * 1000) ^
	       (uint64_t)(value * 1e9);
}

static __attribute__((noinline)) uint64_t vectors(uint64_t number)
{
	uint64_t *const own = plain[number & 1];
	uint64_t sum = 0;

	for (int i = 0; i < 64; i++)
		own[i] = (uint64_t)i * number;
	for (int i = 0; i < 64; i++)
		sum += own[i] ^ (uint64_t)i;
	return sum;
}

void construct(uint64_t number)
{
	show_bits(assembly(number));
	show_bits(atomics(number));
	show_bits(floats(number));
	show_bits(vectors(number));
	show_bits((uint64_t)__builtin_popcountll(number * 0x9e3779b97f4a7c15));
	show_bits(__builtin_bswap64(number) ^ (uint64_t)__builtin_clzll(number) ^
		  (uint64_t)__builtin_ctzll(number));
}
