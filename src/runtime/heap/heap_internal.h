/* What heap.c and the files beside it share: records of blocks, and blocks outside of the heap. */
#ifndef RADDLE_RUNTIME_HEAP_HEAP_INTERNAL_H
#define RADDLE_RUNTIME_HEAP_HEAP_INTERNAL_H

#include "runtime/heap.h"

struct heap_record {
	object_name name;
	uint16_t stream; /* for heap_stream() */
	uint8_t is_freed : 1;
	uint8_t is_used : 1; /* somebody asked for the names of its memory in this run */
	uint8_t loop;	     /* heap_loop_number() */
	uint32_t ordinal;
	uint32_t bytes; /* UINT32_MAX: that or more */
};

/* Allocations of one thread from one place in the code. */
struct heap_stream {
	uint64_t site;
	uint64_t hash; /* of site and thread, the same in every process */
	thread_name thread;
	uint32_t count; /* made so far, in this run */
	uint32_t run;	/* of the last: see heap_begin_run() */
	uint16_t next;	/* of the same head, 0: none */
	uint8_t kind;	/* enum memory_block_kind */
};

struct heap_outside {
	uintptr_t start;
	size_t bytes;
	struct heap_record record;
};

/* Further blocks are not recorded. */
#define HEAP_OUTSIDE_MAX 4096

/* `table` has room for HEAP_OUTSIDE_MAX. */
void heap_outside_set_up(struct heap_outside *table);
void heap_outside_add(const struct heap_outside *block);
/* The block that holds the address, NULL: none. */
struct heap_outside *heap_outside_find(uintptr_t address);
/* The block that starts there, if any, is no more. */
void heap_outside_remove(uintptr_t start);

/* The blocks, by start. */
const struct heap_outside *heap_outside_all(uint32_t *count);

/* ---- heap_streams.c ---- */

#define HEAP_STREAMS_MAX 32768
#define HEAP_STREAM_HEADS 2048

/* `streams` has room for HEAP_STREAMS_MAX, `heads` for HEAP_STREAM_HEADS, all zeros. */
void heap_streams_set_up(struct heap_stream *streams, uint16_t *heads);
const struct heap_stream *heap_stream(uint16_t index);
/* Of a block that the moving thread makes at `site`, in this run. Not yet said: how large it is. */
struct heap_record heap_new_record(uint64_t site, uint8_t kind, uint32_t run);

/* ---- heap_frees.c ---- */

/* The block is no longer the program's. `run`: never 0. */
void heap_frees_note(uintptr_t start, uint64_t site, uint32_t run);
/* How it was given back in this run; false: it is not known. */
bool heap_frees_find(uintptr_t start, uint32_t run, struct heap_free *out);
/* Has any been noted in this run? */
bool heap_frees_any(uint32_t run);

/* ---- heap_loops.c ---- */

#define HEAP_LOOPS 65536 /* call stacks */

/* `counts` has room for HEAP_LOOPS. */
void heap_loops_set_up(uint8_t *counts);
/*
 * A block is made at `site`, by the stream of that hash: n-th of its call stack, from 1, UINT8_MAX or
 * later. 0: nobody asks.
 */
uint8_t heap_loop_number(uint64_t stream, uint64_t site);

/* ---- heap_blocks.c: contract_memory.blocks of traced runs ---- */

void heap_blocks_made(const struct heap_block *block, uint8_t kind);
void heap_blocks_freed(uintptr_t start);

#endif
