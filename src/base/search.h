/* Sorted arrays. */
#pragma once

#include <stdint.h>

/* Compares numbers of 64 bits, or structs that begin with one, for qsort(). */
static inline int compare_numbers(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

/*
 * Sets `index` to the first index in [first, end) for which `is_before` is false; to `end` if there
 * is none. `is_before` is an expression of `index`: true up to some index, and false from there on.
 */
#define SEARCH(index, first, end, is_before)                                                       \
	do {                                                                                       \
		uint64_t search_low = (first), search_high = (end);                                \
		while ((index) = search_low + (search_high - search_low) / 2,                      \
			search_low < search_high) {                                                \
			if (is_before)                                                             \
				search_low = (index) + 1;                                          \
			else                                                                       \
				search_high = (index);                                             \
		}                                                                                  \
	} while (0)
