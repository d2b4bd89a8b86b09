/*
 * Random numbers: xoshiro256** 1.0 (Blackman and Vigna, 2018, public domain), seeded by splitmix64.
 * Each purpose has its own generator. A generator is a plain value without pointers, so it survives
 * a rewind if it lies in shared memory.
 */
#pragma once

#include <stdint.h>

#include "base/hash.h"

struct rng {
	uint64_t word[4];
};

static inline void rng_seed(struct rng *rng, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		seed += UINT64_C(0x9e3779b97f4a7c15);
		rng->word[i] = hash_mix(seed);
	}
}

static inline uint64_t rng_rotate(uint64_t value, int by)
{
	return (value << by) | (value >> (64 - by));
}

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->word;
	const uint64_t result = rng_rotate(s[1] * 5, 7) * 9;
	const uint64_t shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rng_rotate(s[3], 45);
	return result;
}

/* Returns a uniform number in [0, bound), bound > 0, without bias: Lemire's multiplication with
 * rejection. */
static inline uint32_t rng_below(struct rng *rng, uint32_t bound)
{
	uint64_t product = (rng_next(rng) >> 32) * bound;
	uint32_t low = (uint32_t)product;

	if (low < bound) {
		const uint32_t threshold = -bound % bound;

		while (low < threshold) {
			product = (rng_next(rng) >> 32) * bound;
			low = (uint32_t)product;
		}
	}
	return (uint32_t)(product >> 32);
}

/* Same as rng_below(), for bounds of more than 32 bits. */
static inline uint64_t rng_below64(struct rng *rng, uint64_t bound)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
	uint64_t value;

	do {
		value = rng_next(rng);
	} while (value >= limit);
	return value % bound;
}
