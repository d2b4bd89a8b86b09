/*
 * Open-addressing hash tables. A slot is any struct whose first member is a 64-bit key; key 0 marks
 * a free slot. The capacity is a power of two, and at most half of the slots are used.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline uint64_t slots_hash(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

/* Returns the slot with that key, or the free slot where it belongs. `bytes` is the size of a
 * slot. */
static inline void *slots_find(const void *slots, uint64_t capacity, size_t bytes, uint64_t key)
{
	uint64_t at = slots_hash(key) & (capacity - 1);

	for (;;) {
		const char *slot = (const char *)slots + at * bytes;

		if (!*(const uint64_t *)slot || *(const uint64_t *)slot == key)
			return (void *)(uintptr_t)slot;
		at = (at + 1) & (capacity - 1);
	}
}

/* Ensures room for one more than `count` slots; a new table gets `least`. The caller frees it. */
void *slots_reserve(void *slots, uint64_t *capacity, size_t bytes, uint64_t count, uint64_t least);
