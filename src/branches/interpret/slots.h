/*
 * Tables by keys: slots of any struct that begins with its key, a number of 64 bits; 0: the slot is free. Open addressing; the
 * capacity is a power of two, and more than the half is never used.
 */
#ifndef RADDLE_BRANCHES_INTERPRET_SLOTS_H
#define RADDLE_BRANCHES_INTERPRET_SLOTS_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t slots_hash(uint64_t key)
{
	return key * UINT64_C(0x9e3779b97f4a7c15) >> 20;
}

/* The slot with that key, or the free one where it would be. `bytes`: of a slot. */
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

/*
 * Makes sure that there is room for one more than `count`; `least` slots at first. The slots, which may be elsewhere
 * then; they are the caller's to free.
 */
void *slots_reserve(void *slots, uint64_t *capacity, size_t bytes, uint64_t count, uint64_t least);

#endif
