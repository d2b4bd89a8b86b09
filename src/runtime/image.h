/*
 * The memory image: every private writable page of the process at the starting point, and the way back
 * to it. Large areas are tracked by the kernel (userfaultfd write protection), so that only the pages a
 * run wrote are copied; small ones are copied whole, which is cheaper.
 *
 * All state of the image lies in shared memory and survives its own restoring. Used by a restart server
 * on a stack that is in shared memory too.
 */
#ifndef RADDLE_RUNTIME_IMAGE_H
#define RADDLE_RUNTIME_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

struct image;

/*
 * Takes the image. `stack_pointer` is where the target's own thread stands: of its stack only what lies
 * above counts. NULL when the process has more areas than an image can hold, or memory is short.
 */
struct image *image_take(const void *stack_pointer);
/* Puts memory back; returns the number of pages copied. false in *is_complete: tracking broke. */
uint64_t image_restore(struct image *image, bool *is_complete);
/* Forgets the copies. */
void image_release(struct image *image);
bool image_is_tracked(const struct image *image);

#endif
