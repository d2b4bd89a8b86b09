/*
 * The memory image: every private writable page of the process at the starting point, and the way back
 * to it. Large areas are tracked by the kernel (userfaultfd write protection), so that only the pages a
 * run wrote are copied; small ones are copied whole, which is cheaper.
 *
 * All state of the image lies in shared memory and survives its own restoring. Used by a restart server
 * on a stack that is in shared memory too.
 */
#ifndef RADDLE_RUNTIME_RESTART_IMAGE_H
#define RADDLE_RUNTIME_RESTART_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bitset.h"
#include "model/ids.h"

struct image;

/*
 * Takes the image. `stack_pointer` is where the target's own thread stands: of its stack only what lies
 * above counts. NULL when the process has more areas than an image can hold, or memory is short.
 */
struct image *image_take(const void *stack_pointer);
/*
 * A point of the last run. The stack of a thread that does not live then is as it was, unless it was given to a thread
 * later: nobody has business there.
 */
struct image_moment {
	uint64_t time;
	uint64_t alive[BITSET_WORDS(
		THREAD_CAPACITY)]; /* stacks of the pool with a thread on them, by index */
};

/*
 * Puts memory back as it was then, at the newest versions; NULL: at the starting point. Returns the number of pages
 * copied. false in *is_complete: tracking broke.
 */
uint64_t image_restore(struct image *image, const struct image_moment *moment, bool *is_complete);
/* Forgets the copies. */
void image_release(struct image *image);
bool image_is_tracked(const struct image *image);

#endif
