/*
 * Executable memory near the modules for the code of record_stubs.c, and the writer of that code.
 * x86-64.
 *
 * A *region* lies within the reach of a module's jumps. It begins with the routine that flushes the
 * pending write; one *piece* of code per site follows. A table at its end maps each piece to its
 * fallback after a fault.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/record/record_internal.h"

/* After a fault, execution continues on a path that does not assume readable memory. */
struct stub_piece {
	uint32_t start, slow; /* offsets from the region's start */
};

/* Targets of reports that are not predicted: STUB_GENERAL is the path of the sites' own stubs
 * (site_thunk.S), the others are routines of record_near.S. */
enum stub_kind {
	STUB_GENERAL,
	STUB_READ,
	STUB_READ_1,
	STUB_READ_2,
	STUB_READ_4,
	STUB_READ_8,
	STUB_UPDATE,
	STUB_UPDATE_1,
	STUB_UPDATE_2,
	STUB_UPDATE_4,
	STUB_UPDATE_8,
	STUB_RESULT,
	STUB_ADDRESS,
	STUB_ARGUMENT,
	STUB_ENTER,
	STUB_COPIED,
	STUB_COPY,
	STUB_STRING,
	STUB_CONTENTS,
	STUB_RANGE,
	STUB_COUNT
};

struct stub_region {
	unsigned char *start, *at, *end;
	struct stub_piece *pieces; /* grows downwards from the region's end */
	uint32_t piece_count;
	unsigned char *kinds; /* jump targets by enum stub_kind */
	unsigned char *flush; /* changes %r10 and %r11 */
	unsigned char *flush_failed;
	/* its only instruction that copies byte by byte */
	unsigned char *flush_bytes;
	unsigned char *flush_bytes_failed;
};

/* The state has a 32-bit address. */
extern struct record_moving *record_region_state;

/* Finds a region with room for one more piece; returns NULL if there is none. */
struct stub_region *record_region_for(uintptr_t code_start);

struct writer {
	unsigned char *at;
};

static inline void put(struct writer *writer, const char *bytes, size_t count)
{
	memcpy(writer->at, bytes, count);
	writer->at += count;
}

#define PUT(writer, bytes) put(writer, bytes, sizeof(bytes) - 1)

static inline void put_word(struct writer *writer, uint64_t value)
{
	const uint32_t word = (uint32_t)value;

	memcpy(writer->at, &word, sizeof word);
	writer->at += sizeof word;
}

static inline void put_byte(struct writer *writer, unsigned value)
{
	*writer->at++ = (unsigned char)value;
}

/* Writes the displacement that ends a jump or call instruction. */
static inline void put_distance(struct writer *writer, const unsigned char *target)
{
	put_word(writer, (uint64_t)(target - (writer->at + 4)));
}

/* Address of a field as a 32-bit operand. */
#define STATE(field) ((uintptr_t)record_region_state + offsetof(struct record_moving, field))

/* Writes a placeholder displacement; land() fills it in. */
static inline unsigned char *put_forward(struct writer *writer)
{
	put_word(writer, 0);
	return writer->at;
}

static inline void land(const struct writer *writer, unsigned char *jump)
{
	const uint32_t distance = (uint32_t)(writer->at - jump);

	memcpy(jump - 4, &distance, sizeof distance);
}
