/* Later contents of the pages of an image, for checkpoint.c. Runs in the rewind server. */
#ifndef RADDLE_RUNTIME_IMAGE_VERSIONS_H
#define RADDLE_RUNTIME_IMAGE_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/image.h"

/* A block of words that is filled from its beginning, and emptied from its end. */
struct image_memory {
	char *start;
	uint64_t used, capacity; /* in words */
};

/* NULL: it is full. */
void *image_memory_take(struct image_memory *memory, uint64_t bytes);

/*
 * Keeps what every page holds that has changed since the last versions, in `memory`. *last: the chain of
 * the new versions, to be given to image_drop_versions(), also after a failure.
 */
bool image_keep_versions(struct image *image, struct image_memory *memory, uint32_t *last);
/* The newest versions are not wanted any more: image_restore() puts back those before. */
void image_drop_versions(struct image *image, uint32_t last);

/* Where the part of the stack ends that the image does not hold; NULL: it holds all above `pointer`. */
char *image_stack_end(const struct image *image, const char *pointer, bool *is_known);

#endif
