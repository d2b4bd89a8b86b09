/*
 * Shared declarations of the heap's files. heap.c records the blocks of the brk heap,
 * heap_outside.c all others (mappings). A block's name is the hash of its stream and its ordinal in
 * the stream, the same in every run. A stream is a thread with an allocating call site
 * (heap_streams.c).
 *
 * A record begins with an allocation; a free marks it as freed but keeps its name; an allocation
 * that reuses the memory replaces it. All state is restored by a rewind, or renewed by
 * heap_begin_run().
 */
#pragma once

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

struct heap_stream {
	uint64_t site;
	uint64_t hash; /* the same in every process */
	thread_name thread;
	uint32_t count;
	uint32_t run;  /* run of the last allocation */
	uint16_t next; /* next stream in the hash chain; 0: none */
	uint8_t kind;  /* enum memory_block_kind */
};

struct heap_outside {
	uintptr_t start;
	size_t bytes;
	struct heap_record record;
};

/* Maximum number of blocks outside of the brk heap. Further blocks are not recorded. */
#define HEAP_OUTSIDE_MAX 4096

/* `table` has HEAP_OUTSIDE_MAX entries. */
void heap_outside_set_up(struct heap_outside *table);
void heap_outside_add(const struct heap_outside *block);
/* Returns the block that holds the address, or NULL. */
struct heap_outside *heap_outside_find(uintptr_t address);
void heap_outside_remove(uintptr_t start);

const struct heap_outside *heap_outside_all(uint32_t *count);

/* ---- heap_streams.c ---- */

#define HEAP_STREAMS_MAX 32768
#define HEAP_STREAM_HEADS 2048

/* Sets up the tables, which have HEAP_STREAMS_MAX and HEAP_STREAM_HEADS entries; `heads` is all
 * zero. */
void heap_streams_set_up(struct heap_stream *streams, uint16_t *heads);
const struct heap_stream *heap_stream(uint16_t index);
/* Makes the record of a block that the moving thread allocates. The caller fills in the size. */
struct heap_record heap_new_record(uint64_t site, uint8_t kind, uint32_t run);

/* ---- heap_frees.c ---- */

/* Records a free. `run` is never 0. */
void heap_frees_note(uintptr_t start, uint64_t site, uint32_t run);
/* Returns false if not freed in this run, or unknown. */
bool heap_frees_find(uintptr_t start, uint32_t run, struct heap_free *out);
bool heap_frees_any(uint32_t run);

/* ---- heap_loops.c ---- */

#define HEAP_LOOPS 65536 /* number of call stacks */

void heap_loops_set_up(uint8_t *counts);
/* Returns the ordinal among the blocks of the same call stack, from 1, saturated at UINT8_MAX; 0:
 * ordinals are not wanted. `stream`: hash of the block's stream. */
uint8_t heap_loop_number(uint64_t stream, uint64_t site);

/* ---- heap_blocks.c: contract_memory.blocks of traced runs ---- */

void heap_blocks_made(const struct heap_block *block, uint8_t kind);
void heap_blocks_freed(uintptr_t start);
