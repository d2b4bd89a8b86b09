/* Bit sets over arrays of 64-bit words. The caller passes the size of the set. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BITSET_WORDS(bits) (((bits) + 63) / 64)

static inline void bitset_add(uint64_t *words, uint32_t bit)
{
	words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static inline void bitset_remove(uint64_t *words, uint32_t bit)
{
	words[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

static inline bool bitset_has(const uint64_t *words, uint32_t bit)
{
	return words[bit / 64] >> (bit % 64) & 1;
}

static inline uint32_t bitset_count(const uint64_t *words, uint32_t word_count)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < word_count; i++)
		count += (uint32_t)__builtin_popcountll(words[i]);
	return count;
}

/*
 * Returns the first member that is >= from, or `bits` (the size of the set) when no member is left.
 */
static inline uint32_t bitset_next(const uint64_t *words, uint32_t bits, uint32_t from)
{
	uint32_t word = from / 64;
	uint64_t rest;

	if (from >= bits)
		return bits;
	rest = words[word] & (~UINT64_C(0) << (from % 64));
	while (!rest) {
		if (++word >= BITSET_WORDS(bits))
			return bits;
		rest = words[word];
	}
	word = word * 64 + (uint32_t)__builtin_ctzll(rest);
	return word < bits ? word : bits;
}

/* Returns eight byte counters: byte i is the number of members in bytes 0 to i of `word`. */
static inline uint64_t bitset_running_counts(uint64_t word)
{
	word -= word >> 1 & UINT64_C(0x5555555555555555);
	word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
	word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
	return word * UINT64_C(0x0101010101010101);
}

/* Returns the member with exactly `rank` smaller members. `rank` must be below bitset_count(). */
static inline uint32_t bitset_select(const uint64_t *words, uint32_t rank)
{
	const uint64_t low_bits = UINT64_C(0x0101010101010101);
	const uint64_t high_bits = UINT64_C(0x8080808080808080);

	for (uint32_t word = 0;; word++) {
		uint64_t rest = words[word];

		/* A large rank first skips whole words and bytes by their population counts. */
		if (rank >= 8) {
			const uint64_t counts = bitset_running_counts(rest);
			uint64_t beyond; /* high bit of each byte whose count is above rank */
			uint32_t shift;

			if (rank >= counts >> 56) {
				rank -= (uint32_t)(counts >> 56);
				continue;
			}
			beyond = ~((rank * low_bits | high_bits) - counts) & high_bits;
			shift = (uint32_t)__builtin_ctzll(beyond) - 7;
			rank -= (uint32_t)(counts << 8 >> shift & 0xff);
			rest = rest >> shift << shift;
		}
		for (; rest; rest &= rest - 1)
			if (!rank--)
				return word * 64 + (uint32_t)__builtin_ctzll(rest);
	}
}

#define bitset_each(bit, words, bits)                                                              \
	for (uint32_t bit = bitset_next(words, bits, 0); bit < (bits);                             \
		bit = bitset_next(words, bits, bit + 1))
