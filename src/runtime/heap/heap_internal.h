/*
 * Shared declarations of the heap's files. heap.c records the blocks of the brk heap;
 * heap_outside.c records all other blocks (mappings). A block's name is the hash of its stream
 * and its ordinal in the stream; it is the same in every run. A stream is a thread with an
 * allocating call site (heap_streams.c).
 *
 * Life cycle of a record: an allocation makes it; a free marks it as freed but keeps its name; an
 * allocation that reuses the memory replaces it. All state is restored by a rewind, or renewed by
 * heap_begin_run().
 */
#ifndef RADDLE_RUNTIME_HEAP_HEAP_INTERNAL_H
#define RADDLE_RUNTIME_HEAP_HEAP_INTERNAL_H

#include "runtime/heap.h"

struct heap_record {
	object_name name;
	uint16_t stream; /* index for heap_stream() */
	uint8_t is_freed : 1;
	uint8_t is_used : 1; /* a name of its memory was looked up in this run */
	uint8_t loop;	     /* result of heap_loop_number() */
	uint32_t ordinal;
	uint32_t bytes; /* UINT32_MAX: that size or more */
};

/* Allocation stream: the blocks that one thread allocates at one call site. */
struct heap_stream {
	uint64_t site;
	uint64_t hash; /* hash of site and thread, the same in every process */
	thread_name thread;
	uint32_t count; /* blocks allocated in this run */
	uint32_t run;	/* run of the last allocation: see heap_begin_run() */
	uint16_t next;	/* next stream of the same hash chain; 0: none */
	uint8_t kind;	/* enum memory_block_kind */
};

struct heap_outside {
	uintptr_t start;
	size_t bytes;
	struct heap_record record;
};

/* Capacity of the table. Further blocks are not recorded. */
#define HEAP_OUTSIDE_MAX 4096

/* `table` has room for HEAP_OUTSIDE_MAX entries. */
void heap_outside_set_up(struct heap_outside *table);
void heap_outside_add(const struct heap_outside *block);
/* The block that contains the address; NULL: none. */
struct heap_outside *heap_outside_find(uintptr_t address);
/* Removes the block that starts at the address, if there is one. */
void heap_outside_remove(uintptr_t start);

/* All blocks, sorted by start. */
const struct heap_outside *heap_outside_all(uint32_t *count);

/* ---- heap_streams.c ---- */

#define HEAP_STREAMS_MAX 32768
#define HEAP_STREAM_HEADS 2048

/* `streams` has room for HEAP_STREAMS_MAX entries. `heads` has room for HEAP_STREAM_HEADS and is
 * all zero. */
void heap_streams_set_up(struct heap_stream *streams, uint16_t *heads);
const struct heap_stream *heap_stream(uint16_t index);
/* Makes the record of a block that the moving thread allocates at `site`. The caller fills in
 * the size. */
struct heap_record heap_new_record(uint64_t site, uint8_t kind, uint32_t run);

/* ---- heap_frees.c ---- */

/* Notes that the program has freed the block. `run` is never 0. */
void heap_frees_note(uintptr_t start, uint64_t site, uint32_t run);
/* Finds where the block was freed in this run. False: unknown. */
bool heap_frees_find(uintptr_t start, uint32_t run, struct heap_free *out);
/* True if a free was noted in this run. */
bool heap_frees_any(uint32_t run);

/* ---- heap_loops.c ---- */

#define HEAP_LOOPS 65536 /* number of call stacks */

/* `counts` has room for HEAP_LOOPS entries. */
void heap_loops_set_up(uint8_t *counts);
/* Ordinal of a block among the blocks of the same call stack, from 1, saturated at UINT8_MAX.
 * `stream` is the hash of its stream. 0: ordinals are not wanted. */
uint8_t heap_loop_number(uint64_t stream, uint64_t site);

/* ---- heap_blocks.c: contract_memory.blocks of traced runs ---- */

void heap_blocks_made(const struct heap_block *block, uint8_t kind);
void heap_blocks_freed(uintptr_t start);

#endif
