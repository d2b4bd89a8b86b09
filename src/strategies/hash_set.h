/*
 * A set of hashes at a distance behind a strategy's state, as states contain no pointers. A half
 * full set is cleared; the strategy then only makes some redundant runs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_set {
	uint64_t distance; /* distance in bytes from the set to the slots */
	uint32_t mask, count;
};

/* Returns a power of two of which `capacity` entries use at most half. */
static inline uint32_t hash_set_slots(uint64_t capacity)
{
	uint32_t slots = 1024;

	while (slots < 2 * capacity)
		slots *= 2;
	return slots;
}

static inline uint64_t *hash_set_begin(struct hash_set *set)
{
	return (uint64_t *)((char *)set + set->distance);
}

static inline void hash_set_clear(struct hash_set *set)
{
	for (uint32_t i = 0; set->count && i <= set->mask; i++)
		hash_set_begin(set)[i] = 0;
	set->count = 0;
}

/* Returns false if contained already. */
static inline bool hash_set_add(struct hash_set *set, uint64_t hash)
{
	uint64_t *slots = hash_set_begin(set);
	const uint64_t key = hash | 1; /* 0 marks a free slot */
	uint32_t at;

	if (set->count > set->mask / 2)
		hash_set_clear(set);
	at = (uint32_t)(key >> 32) & set->mask;
	for (uint32_t i = 0; i <= set->mask && slots[at]; i++, at = (at + 1) & set->mask)
		if (slots[at] == key)
			return false;
	slots[at] = key;
	set->count++;
	return true;
}
