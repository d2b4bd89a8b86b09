/*
 * Open-addressing hash table. A slot is any struct whose first member is a 64-bit key; key 0 marks
 * a free slot. The capacity is a power of two, and at most half of the slots are used. All zero:
 * an empty table. `bytes` is the size of a slot.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct slots {
	void *items;
	uint64_t count, capacity; /* number of used slots, and of all */
};

/* Returns the slot with that key, or the free slot where the key belongs. The capacity is not 0. */
static inline void *slots_find(const struct slots *slots, size_t bytes, uint64_t key)
{
	const uint64_t mask = slots->capacity - 1;
	uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 20 & mask;

	for (;;) {
		char *slot = (char *)slots->items + at * bytes;

		if (!*(const uint64_t *)(void *)slot || *(const uint64_t *)(void *)slot == key)
			return slot;
		at = (at + 1) & mask;
	}
}

/* Returns NULL if the table has no slot with that key. */
static inline void *slots_get(const struct slots *slots, size_t bytes, uint64_t key)
{
	uint64_t *slot = slots->count ? slots_find(slots, bytes, key) : NULL;

	return slot && *slot ? slot : NULL;
}

/* Makes room for further slots. Addresses of slots become invalid. */
void slots_grow(struct slots *slots, size_t bytes);

/* Returns the slot with that key. A new slot is zero behind its key. */
static inline void *slots_add(struct slots *slots, size_t bytes, uint64_t key)
{
	uint64_t *slot;

	if (2 * (slots->count + 1) > slots->capacity)
		slots_grow(slots, bytes);
	slot = slots_find(slots, bytes, key);
	slots->count += !*slot;
	*slot = key;
	return slot;
}

void slots_release(struct slots *slots);
