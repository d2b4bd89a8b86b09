/* The record of live allocations, kept in programs with instrumented code and in traced runs.
 * The interposed allocation functions (allocation.c) fill it; heap_find() and
 * memory_variable_name() (memory.h) read it. It lies in private memory at a fixed address, which
 * a rewind restores like the target's memory. Runs in the moving thread. */
#pragma once

#include "runtime/memory.h"

/* Set once, by heap_start_recording(); read by every interposed allocation function. */
extern bool heap_is_recording;

/* Restarts the counts of allocations, where the restart restores no memory image. Names of later
 * blocks then equal those of any other such run, and no name of an earlier block. */
void heap_begin_run(void);
/* Records an allocation. `kind`: enum memory_block_kind. */
void heap_made(const void *start, size_t bytes, uint64_t site, uint8_t kind);
/* Called before the free. Ignores unknown blocks and blocks already freed. */
void heap_freed(const void *start, uint64_t site);
/* Notes that a block was moved. The block keeps its name, whether or not it grew in place. `from`
 * and `to` may be equal. */
void heap_moved(const void *from, const void *to, size_t bytes, uint64_t site);
/* Lends this memory to allocations until heap_lend(NULL, 0); frees have no effect in between. */
void heap_lend(void *start, size_t bytes);
/* Returns the end of the lent memory already in use. */
char *heap_lent_end(void);
/* Notes that the program's own mmap or munmap has replaced or removed memory outside of the
 * heap. */
void heap_unmapped(const void *start, size_t bytes);

struct heap_free {
	uintptr_t start;
	uint64_t site;
	uint64_t step;
	uint32_t run; /* number of calls of heap_begin_run(), + 1 */
	struct thread_id thread;
};

/* Returns false if not freed, or allocated again. Known only for the latest blocks whose variables
 * were named. */
bool heap_was_freed(const void *address, struct heap_free *out);

/* Visits all blocks, and freed blocks whose memory was not allocated again. */
void heap_each(void (*visit)(const struct heap_block *block));
/* Same as heap_find(), but also finds a freed block whose memory was not allocated again. */
bool heap_find_any(const void *address, struct heap_block *out);
