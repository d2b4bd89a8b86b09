/* Versions: later contents of an image's pages, for checkpoint.c. Runs in the rewind server. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/restart/image.h"

/* A block of words that is used as a stack. */
struct image_memory {
	char *start;
	uint64_t used, capacity; /* numbers of words */
};

/* Allocates memory for versions; returns NULL if there is no room. */
void *image_memory_take(struct image_memory *memory, uint64_t bytes);

/* Saves every page that has changed since the point `before`, when the last versions were saved
 * (NULL: no versions exist). *last: the chain of new versions, for image_drop_versions() even after
 * a failure. */
bool image_keep_versions(struct image *image, struct image_memory *memory,
	const struct image_point *before, uint32_t *last);
/* Drops the newest versions. */
void image_drop_versions(struct image *image, uint32_t last);

/* A stack of which the image has only the part from `end` on. Memory above `floor` was used
 * since. */
struct image_stack {
	char *floor, *end;
};

enum image_whereabouts {
	IMAGE_NOWHERE, /* the address is not in the image */
	IMAGE_MEMORY,
	IMAGE_STACK /* any part of a stack */
};

/* Classifies an address; fills `stack` for stacks. */
enum image_whereabouts image_find(
	const struct image *image, const char *position, struct image_stack *stack);
/* Returns an address in the stack of the thread that took the image. */
const char *image_main_stack(const struct image *image);
