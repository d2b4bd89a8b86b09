/*
 * Memory near the modules for the code that record_stubs.c makes, and what writes code there. x86-64.
 *
 * A *region* begins with the routine that looks at the pending write; the pieces follow, one for each site.
 */
#ifndef RADDLE_RUNTIME_RECORD_RECORD_REGION_H
#define RADDLE_RUNTIME_RECORD_RECORD_REGION_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/record/record_internal.h"

/* Where a fault in a piece goes on: on a way that does not take for granted that memory can be read. */
struct stub_piece {
	uint32_t start, slow; /* from the region's start */
};

/* Where pieces go on with what is not predicted: the way of the sites' own stubs (site_thunk.S), or one of record_near.S. */
enum stub_way {
	WAY_GENERAL,
	WAY_READ,
	WAY_READ_1,
	WAY_READ_2,
	WAY_READ_4,
	WAY_READ_8,
	WAY_UPDATE,
	WAY_UPDATE_1,
	WAY_UPDATE_2,
	WAY_UPDATE_4,
	WAY_UPDATE_8,
	WAY_RESULT,
	WAY_ADDRESS,
	WAY_ARGUMENT,
	WAY_ENTER,
	WAY_COPIED,
	WAY_COPY,
	WAY_STRING,
	WAY_TOLD,
	WAY_RANGE,
	WAY_COUNT
};

struct stub_region {
	unsigned char *start, *at, *end;
	struct stub_piece *pieces; /* grow down from the region's end */
	uint32_t piece_count;
	unsigned char *ways;  /* addresses of what pieces go on to, by enum stub_way */
	unsigned char *flush; /* looks at the pending write; uses %r10 and %r11 */
	unsigned char *flush_failed;
	unsigned char *flush_bytes; /* the one instruction that copies byte by byte */
	unsigned char *flush_bytes_failed;
};

/* Has a 32-bit address. Written once, by record_stubs_open(). */
extern struct record_moving *record_region_state;

/* A region that jumps from the module's code reach, with room for one more piece; NULL: there is none. */
struct stub_region *record_region_for(uintptr_t code_start);

/* ---- writing code ---- */

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

/* The distance of a jump or call, whose end this is. */
static inline void put_distance(struct writer *writer, const unsigned char *target)
{
	put_word(writer, (uint64_t)(target - (writer->at + 4)));
}

/* An operand of 32 bits that is the address of a field of the state. */
#define STATE(field) ((uintptr_t)record_region_state + offsetof(struct record_moving, field))

/* A jump whose target comes later. */
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

#endif
