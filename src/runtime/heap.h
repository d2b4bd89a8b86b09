/*
 * The record of live allocations: what the interposed allocation functions (allocation_functions.c) tell,
 * and what memory.h's heap_find() and memory_variable_name() answer from.
 *
 * Kept only where somebody asks: in programs with instrumented code, and in traced runs. All of it
 * is the process's private memory at a fixed place, which rewind restores like the target's own.
 * Runs in the moving thread.
 */
#ifndef RADDLE_RUNTIME_HEAP_H
#define RADDLE_RUNTIME_HEAP_H

#include "runtime/memory.h"

/* Set once, by heap_start_recording(); read by every interposed allocation function. */
extern bool heap_is_recording;

/*
 * Where no image of the memory is restored: blocks made from here on are counted, and named, as those of any
 * other such run. They never have the name of one that was made before the first.
 */
void heap_begin_run(void);
/* A block of `bytes` was given out to the call at `site`. `kind`: enum memory_block_kind. */
void heap_made(const void *start, size_t bytes, uint64_t site, uint8_t kind);
/* The block is about to be given back at `site`; nothing happens where it is not known or was freed before. */
void heap_freed(const void *start, uint64_t site);
/*
 * realloc made `to` of `from` (which may be equal). The block keeps its name, so that it does not
 * depend on whether there was room to grow in place.
 */
void heap_moved(const void *from, const void *to, size_t bytes, uint64_t site);
/* Allocations use this memory (thread_stacks.h) until heap_lend(NULL, 0); frees have no effect meanwhile. */
void heap_lend(void *start, size_t bytes);
/* End of the lent memory that allocations already use. */
char *heap_lent_end(void);
/* Memory outside of the heap, by the program's own mmap and munmap. */
void heap_unmapped(const void *start, size_t bytes);

/* How a block was given back. */
struct heap_free {
	uintptr_t start;
	uint64_t site;
	uint64_t step;
	uint32_t run; /* heap_begin_run() was called so often, + 1 */
	struct thread_id thread;
};

/*
 * Is the address in a block that was freed, and whose memory was not given out again? Not known of all: only of
 * blocks with memory that somebody had asked the name of, and the latest of many.
 */
bool heap_was_freed(const void *address, struct heap_free *out);

/* All blocks, also those that were freed and whose memory was not given out again. */
void heap_each(void (*visit)(const struct heap_block *block));
/* As heap_find(), also for a block that was freed and whose memory was not given out again. */
bool heap_find_any(const void *address, struct heap_block *out);

#endif
