/* Arrays on the heap of the command, never of a target. Out of memory ends the command. */
#ifndef RADDLE_BASE_ARRAY_H
#define RADDLE_BASE_ARRAY_H

#include <stddef.h>
#include <stdlib.h>

#include "base/bug.h"

/* Zeroed memory for so many items, at least for one. */
static inline void *array_new(size_t count, size_t size)
{
	void *array = calloc(count ? count : 1, size);

	BUG_ON(!array);
	return array;
}

/* The array with room for an item behind the first `count`. The function serves to append items one
 * by one. */
static inline void *array_room(void *array, size_t count, size_t size)
{
	if (count & (count - 1) || (count && count < 8))
		return array;
	array = realloc(array, (count ? 2 * count : 8) * size);
	BUG_ON(!array);
	return array;
}

#endif
