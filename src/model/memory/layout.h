/*
 * A layout determines the addresses of the heap, the mappings and the stacks of a target. Some bugs
 * depend on addresses: two keys in one slot of a hash table, or locks ordered by address. A
 * campaign varies the layout to find them. A layout is identified by a number, which gives the same
 * addresses in every process. Layout 0 gives the addresses of a run without raddle.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

#define LAYOUT_MAX UINT32_C(65535)

struct layout {
	uint32_t heap_bytes;	     /* upward shift of the start of the heap; a multiple of 16 */
	uint32_t map_bytes;	     /* downward shift of the mappings; whole pages */
	uint32_t main_stack_bytes;   /* downward shift of the frames of main; a multiple of 16 */
	uint32_t thread_stack_bytes; /* downward shift of the frames of other threads */
	bool has_ascending_stacks;   /* a later thread's stack lies above an earlier one's */
};

static inline struct layout layout_of(uint32_t number)
{
	const uint64_t heap = hash_pair(number, 1), stacks = hash_pair(number, 2);

	if (!number)
		return (struct layout){0};
	/* Shifts below 64 kB change the address bits that hash tables and allocators use, and cost
	 * little memory. */
	return (struct layout){.heap_bytes = (uint32_t)(heap & 4095) * 16,
		.map_bytes = (uint32_t)(heap >> 16 & 15) * 4096,
		.main_stack_bytes = (uint32_t)(stacks & 255) * 16,
		.thread_stack_bytes = (uint32_t)(stacks >> 16 & 255) * 16,
		.has_ascending_stacks = stacks >> 32 & 1};
}

/* Returns the layout number at `index` in a campaign; the first one is 0. */
static inline uint32_t layout_number(uint64_t seed, uint32_t index)
{
	return index ? 1 + (uint32_t)(hash_pair(seed, index) % LAYOUT_MAX) : 0;
}
