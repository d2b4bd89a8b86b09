/*
 * Variable-length numbers of a record, seven bits per byte, lowest first. A number of n bytes has n
 * - 1 zero bits below the lowest set bit of its first byte. A number above 56 bits is a zero byte
 * followed by eight bytes. This prefix allows one load or store instead of a byte loop.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define RECORD_NUMBER_MOST 9
/* record_number_put() may write up to this many bytes beyond the end of a number. */
#define RECORD_NUMBER_SLACK 8

/* Returns the position after the number. Calls nothing: the recorder runs in the user's threads. */
static inline uint8_t *record_number_put(uint8_t *at, uint64_t number)
{
	uint32_t bytes;
	uint64_t word;

	if (__builtin_expect(number < 128, 1)) {
		*at = (uint8_t)(number << 1 | 1);
		return at + 1;
	}
	if (__builtin_expect(number >> 56 != 0, 0)) {
		*at = 0;
		memcpy(at + 1, &number, sizeof number);
		return at + RECORD_NUMBER_MOST;
	}
	bytes = (uint32_t)(63 - __builtin_clzll(number)) * 37 / 256 + 1;
	word = (number << 1 | 1) << (bytes - 1);
	memcpy(at, &word, sizeof word); /* one instruction */
	return at + bytes;
}

/* Returns the position after the number. Returns NULL if the number is cut short. */
static inline const uint8_t *record_number_get(
	const uint8_t *at, const uint8_t *end, uint64_t *number)
{
	uint32_t bytes;
	uint64_t word = 0;

	if (at >= end)
		return NULL;
	if (__builtin_expect(*at & 1, 1)) {
		*number = *at >> 1;
		return at + 1;
	}
	bytes = *at ? (uint32_t)__builtin_ctz(*at) + 1 : RECORD_NUMBER_MOST;
	if (end - at < (ptrdiff_t)bytes)
		return NULL;
	if (bytes == RECORD_NUMBER_MOST) {
		memcpy(number, at + 1, sizeof *number);
		return at + bytes;
	}
	if (__builtin_expect(end - at >= (ptrdiff_t)sizeof word, 1)) {
		memcpy(&word, at, sizeof word);
		word &= UINT64_MAX >> (64 - 8 * bytes);
	} else {
		memcpy(&word, at, bytes);
	}
	*number = word >> bytes;
	return at + bytes;
}
