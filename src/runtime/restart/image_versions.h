/* Later contents of the pages of an image, for checkpoint.c. Runs in the rewind server. */
#ifndef RADDLE_RUNTIME_RESTART_IMAGE_VERSIONS_H
#define RADDLE_RUNTIME_RESTART_IMAGE_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/restart/image.h"

/* A block of words that is filled from its beginning, and emptied from its end. */
struct image_memory {
	char *start;
	uint64_t used, capacity; /* in words */
};

/* NULL: it is full. */
void *image_memory_take(struct image_memory *memory, uint64_t bytes);

/*
 * Keeps what every page holds that has changed since the last versions, which were kept at that moment (NULL: there are
 * none), in `memory`. *last: the chain of the new versions, to be given to image_drop_versions(), also after a failure.
 */
bool image_keep_versions(struct image *image, struct image_memory *memory,
	const struct image_moment *before, uint32_t *last);
/* The newest versions are not wanted any more: image_restore() puts back those before. */
void image_drop_versions(struct image *image, uint32_t last);

/*
 * A stack of which the image holds only the upper part, from `end` on: what lies between `floor` and `end` has
 * come into use since.
 */
struct image_stack {
	char *floor, *end;
};

enum image_whereabouts {
	IMAGE_NOWHERE, /* no memory of the image */
	IMAGE_MEMORY,  /* some that it holds */
	IMAGE_STACK    /* a stack, whichever part of it */
};

/* What is at this place? `stack` is filled for stacks. */
enum image_whereabouts image_find(
	const struct image *image, const char *place, struct image_stack *stack);
/* A place in the stack of the thread that took the image. */
const char *image_main_stack(const struct image *image);

#endif
