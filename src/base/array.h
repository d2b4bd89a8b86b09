/* Arrays on the heap of the command, never of a target. Out of memory ends the command. */
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

static inline void array_free_local(void *local)
{
	void *memory;

	memcpy(&memory, local, sizeof memory);
	free(memory);
}

/* Precedes the declaration of a local pointer whose memory is freed where the block ends. */
#define FREE_SCOPED __attribute__((cleanup(array_free_local)))

/* Returns zeroed memory for `count` items, at least for one. */
static inline void *array_new(size_t count, size_t size)
{
	void *array = calloc(count ? count : 1, size);

	BUG_ON(!array);
	return array;
}

/* Gives the array, which may be NULL, room for `count` items. New items are not zeroed. */
static inline void *array_resize(void *array, size_t count, size_t size)
{
	array = realloc(array, (count ? count : 1) * size);
	BUG_ON(!array);
	return array;
}

/* Returns the array with room for one more item after the first `count`, for appending items one by
 * one. */
static inline void *array_room(void *array, size_t count, size_t size)
{
	if (count & (count - 1) || (count && count < 8))
		return array;
	return array_resize(array, count ? 2 * count : 8, size);
}

/* Appends an item to an array, and is an expression whose value is the address of that item. The item's bytes
 * are undefined. Only array_room() may have allocated the array. */
#define ARRAY_NEXT(array, count)                                                                   \
	((array) = array_room(array, count, sizeof *(array)), &(array)[(count)++])

/* Appends a value to an array that only array_room() enlarges. */
#define ARRAY_APPEND(array, count, ...)                                                            \
	do {                                                                                       \
		(array) = array_room(array, count, sizeof *(array));                               \
		(array)[(count)++] = __VA_ARGS__;                                                  \
	} while (0)
