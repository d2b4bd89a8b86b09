/*
 * A coarse filter for runs in which few variables are points (focus.h): lines of 64 bytes that may hold such a
 * variable, indexed by some bits of the address. site_thunk.S lets an access to any other line pass in a few
 * instructions. An access to a marked line may still touch another variable, so memory.c examines it.
 *
 * Static data never moves. Heap blocks are added when allocated. A freed block stays marked, because a use after
 * free means the same variable.
 *
 * Runs in the code that starts runs, and in the moving thread; general registers only.
 */
#ifndef RADDLE_RUNTIME_FILTER_H
#define RADDLE_RUNTIME_FILTER_H

#define FILTER_LINE_BITS 6 /* 64 bytes */
#define FILTER_LINES 8192  /* a power of two: one byte each, for a window of 512 kB */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_block;
struct contract_memory;

/* Read by site_thunk.S. Has FILTER_LINES bytes; 0: no access to the line needs work. */
extern const uint8_t *filter_lines;
/* Marks every line. */
extern const uint8_t filter_all[FILTER_LINES];

/* Called when the run begins or continues from a checkpoint. `is_filtered`: its points are known by name. */
void filter_begin_run(const struct contract_memory *memory, bool is_filtered);
/* Lets every access through, until filter_resume(). */
void filter_suspend(void);
/* Ends filter_suspend(): the next access was seen. */
void filter_resume(void);
/* Marks the lines of a new heap block, if it may hold a point. */
void filter_add_block(const struct heap_block *block);
/* True when no line of these bytes is marked. */
bool filter_misses(uintptr_t start, size_t bytes);

#endif
#endif
