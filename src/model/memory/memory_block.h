/* An allocation of a traced run, recorded by the runtime; names describe addresses by it. */
#pragma once

#include <stdint.h>

#include "model/ids.h"

#define MEMORY_BLOCK_CALLERS 10

/* The function that allocated a block. */
enum memory_block_kind {
	BLOCK_MALLOC,
	BLOCK_CALLOC,
	BLOCK_REALLOC,
	BLOCK_ALIGNED, /* aligned_alloc and similar functions */
	BLOCK_NEW,
	BLOCK_TEXT,    /* strdup, getline, asprintf */
	BLOCK_MAPPING, /* mmap */
	BLOCK_KIND_COUNT
};

struct memory_block {
	uint64_t start;
	uint64_t bytes;
	uint64_t site; /* return address of the allocating call in the user's code */
	uint64_t callers[MEMORY_BLOCK_CALLERS]; /* the call stack around `site`, innermost first */
	uint64_t made_step;
	uint64_t freed_step; /* UINT64_MAX: never freed */
	/* number of this allocation among those of its site and thread, from 1 */
	uint32_t ordinal;
	thread_name thread;
	uint32_t kind; /* enum memory_block_kind */
	uint32_t reserved;
};
