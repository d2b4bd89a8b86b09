/* The memory image: every private writable page of the process at the starting point, and its
 * restore. The kernel tracks writes to large areas (userfaultfd write protection), so a restore
 * copies only the pages that a run wrote; small areas may be copied whole. All state lies in shared
 * memory and survives the restore. A restart server uses it, on a stack in shared memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/bitset.h"
#include "model/ids.h"

struct image;

/* Takes the image. From the target's own stack, the image contains only the part above
 * `stack_pointer`. Returns NULL if the process has too many areas or memory is short. */
struct image *image_take(const void *stack_pointer);
/* A point in the last run. The restore skips the stack of a thread that did not exist then, unless
 * the stack was given to a thread later. */
struct image_point {
	uint64_t time;
	uint64_t alive[BITSET_WORDS(
		THREAD_CAPACITY)]; /* pool indices of stacks that had a thread then */
};

/* Restores the point; NULL means the starting point. Returns the number of pages copied.
 * *is_complete false: tracking failed, and the memory is not restored. */
uint64_t image_restore(struct image *image, const struct image_point *point, bool *is_complete);
void image_release(struct image *image);
