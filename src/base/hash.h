/*
 * Small non-cryptographic hashes: 64-bit mixing (the finaliser of splitmix64, public domain, S.
 * Vigna) and FNV-1a over bytes followed by that finaliser. The results are part of file formats and
 * must not change.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_mix(uint64_t value)
{
	value ^= value >> 30;
	value *= UINT64_C(0xbf58476d1ce4e5b9);
	value ^= value >> 27;
	value *= UINT64_C(0x94d049bb133111eb);
	return value ^ (value >> 31);
}

/* Combines in order: hash_pair(a, b) differs from hash_pair(b, a). */
static inline uint64_t hash_pair(uint64_t first, uint64_t second)
{
	return hash_mix(first * UINT64_C(0x9e3779b97f4a7c15) + second + 1);
}

static inline uint64_t hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *at = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash_mix(hash);
}
