/* Byte layout of trace files, version 3 (docs/trace-format.md); numbers are little-endian. */
#pragma once

#include <stdint.h>

#include "base/hash.h"

#define TRACE_MAGIC "raddletr"
#define TRACE_HEADER_BYTES 24
#define TRACE_BLOCK_HEADER_BYTES 32
#define TRACE_EVENT_BYTES 123
/* The writer ends a block when it reaches this size; the last item may exceed it. */
#define TRACE_BLOCK_TARGET ((uint32_t)1 << 18)
/* The reader refuses larger blocks before it allocates memory. */
#define TRACE_BLOCK_MAX ((uint32_t)1 << 20)
#define TRACE_TEXT_MAX UINT16_MAX

enum trace_block_kind {
	TRACE_BLOCK_HEAD = 1, /* program, names of the operation kinds */
	TRACE_BLOCK_THREADS = 2,
	TRACE_BLOCK_EVENTS = 3,
	TRACE_BLOCK_END = 4 /* outcome and totals; must be the last block */
};

struct trace_block_header {
	uint32_t kind;
	uint32_t item_count;
	uint32_t plain_bytes;  /* uncompressed */
	uint32_t stored_bytes; /* bytes in the file, after this header */
	uint64_t checksum;     /* hash_bytes() of the stored bytes */
};

static inline void bytes_put(unsigned char *at, uint64_t value, unsigned size)
{
	for (unsigned i = 0; i < size; i++)
		at[i] = (unsigned char)(value >> (8 * i) & 0xff);
}

static inline uint64_t bytes_get(const unsigned char *at, unsigned size)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}
