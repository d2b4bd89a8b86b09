/*
 * The record of a run: per thread, only what cannot be recomputed from the program's bitcode. The
 * runtime writes it into shared memory while the program runs; docs/record-format.md tells the format.
 *
 * Sites of instrumented code (abi/instrument_abi.h) report to the recorder in the order in which a thread
 * passes them. Most reports are *predictable*: a read gives what the thread last saw at that address, a call
 * returns what it returned last time at that place. Predictable reports are only counted. What is not
 * predictable is an *entry*: the number of predictable reports before it, a tag, and what the tag asks for.
 * Whoever walks the run again makes the same predictions, so both always agree.
 */
#ifndef RADDLE_BRANCHES_RECORD_RECORD_H
#define RADDLE_BRANCHES_RECORD_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model/ids.h"
#include "branches/record/number.h"

#define RECORD_VERSION 8u

/* The low four bits of an entry's first number; the others are the count of predictable reports. */
enum record_tag {
	RECORD_READ, /* at most eight bytes at a time. Number: record_difference() from what was known */
	/* Of a site of the kinds from SITE_RESULT on. Number: record_difference() from its last value */
	RECORD_VALUE,
	/* A call from code without bitcode. Number: site; then, of its SITE_ARGUMENTs, the difference from the last ones */
	RECORD_ENTER,
	RECORD_JUMP, /* numbers: site of kind SITE_LANDING or SITE_RETURNS_TWICE, its two values */
	/*
	 * The thread performs an op of the engine. Numbers: step and position, both less its last ones. What it wrote last
	 * is known.
	 */
	RECORD_SYNC,
	RECORD_LIVE,   /* from here on the run is controlled: the first thread is created next */
	RECORD_BAD,    /* a read of memory that cannot be read: the program crashes here */
	RECORD_REPORT, /* checked records only, before each report. Numbers: site, address */
	RECORD_END,
	RECORD_TURN, /* it moves again after others have. Number: position, less its last one */
	RECORD_NEXT, /* as RECORD_SYNC; step and position are one more each */
	/* As those two; code without bitcode asks for the op, and may have written what the thread wrote last. */
	RECORD_SYNC_OUTSIDE,
	RECORD_NEXT_OUTSIDE,
	RECORD_ENTER_AGAIN, /* as RECORD_ENTER, of the site that the thread's last one was of; the first time, of site 0 */
	RECORD_TAG_COUNT
};

#define RECORD_TAG_BITS 4

/*
 * Positions grow with the run: what a thread does behind an entry with a position, up to its next one, lies
 * in the run before all that has a greater position.
 */

/* What a thread reads is often near to what it saw there: a small number for what is little more or less. */
static inline uint64_t record_difference(uint64_t value, uint64_t known, uint32_t bytes)
{
	const uint32_t unused = 64 - 8 * bytes;
	const int64_t difference = (int64_t)((value - known) << unused) >> unused;

	return (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63);
}

/* The value of such a number; its bytes that were not read may be anything. */
static inline uint64_t record_with_difference(uint64_t number, uint64_t known)
{
	return known + (number >> 1 ^ (0 - (number & 1)));
}

/* ---- predictions ---- */

/*
 * What a thread last saw or wrote, byte by byte. An address has its place by its lower bits only: who comes
 * later takes the place of who was there. A prediction may be wrong, and then it is an entry; but both
 * sides make the same ones.
 */
#define RECORD_MEMORY_BYTES (UINT64_C(1) << 28)
/* Behind it: no access crosses its end by more. */
#define RECORD_MEMORY_SLACK 4096

static inline uint64_t record_place_of(uint64_t address)
{
	return address & (RECORD_MEMORY_BYTES - 1);
}

/* What is known of what was copied. Neither side calls memcpy(): the recorder must not. */
static inline void record_copy_known(uint8_t *memory, uint64_t from, uint64_t to, uint64_t bytes)
{
	const uint8_t *source = memory + record_place_of(from);
	uint8_t *target = memory + record_place_of(to);
	uint64_t i = 0, word;

	for (; i + sizeof word <= bytes; i += sizeof word) {
		memcpy(&word, source + i, sizeof word); /* one instruction */
		memcpy(target + i, &word, sizeof word);
		__asm__("" : "+r"(i)); /* or the compiler makes memcpy of it */
	}
	for (; i < bytes; i++) {
		target[i] = source[i];
		__asm__("" : "+r"(i));
	}
}

/* What was last told at a site of a value. */
#define RECORD_VALUES 8192u

static inline uint32_t record_value_slot(uint32_t site, uint32_t part)
{
	return (site * 5 + part) & (RECORD_VALUES - 1);
}

/* Of the arguments that a call from outside gives to the function of an entry. */
static inline uint32_t record_argument_slot(uint32_t entry, uint32_t number)
{
	return record_value_slot(entry, number + 1);
}

/* ---- what the engine did ---- */

enum record_op_flag { RECORD_OP_FAILED = 1, RECORD_OP_LAST = 2 };

/* An op that was performed; not those on memory. */
struct record_op {
	uint64_t step;
	uint64_t address;
	/*
	 * COND_WAIT: the mutex. BARRIER_*: the round. FUTEX_WAIT: expected, and found in the lower half. SLEEP of no
	 * object: nanoseconds and one more; 0: until a time of the clock.
	 */
	uint64_t argument;
	uint64_t site;
	uint16_t thread;
	uint16_t other; /* thread that was created, joined, ...; UINT16_MAX */
	uint8_t kind;	/* enum op_kind */
	uint8_t flags;	/* enum record_op_flag, or'ed */
	uint16_t reserved;
};

/* ---- in the process ---- */

#define RECORD_CHUNK_BYTES (UINT64_C(1) << 16)
/* Filled ones are taken by the host before there are more: what is used again needs no new pages. */
#define RECORD_FILLED_MOST 16
#define RECORD_OBJECTS_MAX 256
#define RECORD_IMAGES_MAX 64
#define RECORD_IMAGE_MOST (UINT64_C(64) << 20)

/* A piece of the record of one thread; offsets are from the start of the area. */
struct record_chunk {
	uint64_t next; /* 0: none */
	uint64_t used; /* bytes behind this head */
};

struct record_thread {
	uint64_t first, last; /* chunks; 0: none */
	uint8_t *at, *end;    /* [guest] in the last one */
	uint64_t predicted;   /* reports since the last entry, as of when it last stopped moving */
	uint64_t step, position; /* that were told last */
	uint64_t predicted_at_cut;
};

/* An executable or library as it was loaded. */
struct record_object {
	uint64_t base;
	char path[256];
};

/* A piece of memory, copied. */
struct record_image {
	uint64_t address, bytes;
	uint64_t offset; /* of the copy in the area */
};

struct record_area {
	uint32_t version;
	uint32_t is_checked; /* [host] every report is an entry, for tests and for the curious */
	uint64_t bytes;	     /* [host] of the area */
	uint64_t used;
	uint64_t room; /* [host] no chunk begins behind it */
	uint32_t
		is_emptied; /* [host] who finds no room waits until the host has taken what there is */
	uint32_t is_waiting; /* 1: [guest] it waits; 0: [host] there is room. A shared futex */
	uint32_t filled;     /* [guest] chunks, since the host took some last */
	uint32_t is_full;    /* the record is a beginning only */
	uint32_t is_cut;     /* [guest] it ends at points_most, and `predicted_at_cut` counts */
	uint32_t object_count;
	uint64_t position;
	uint64_t points_most; /* [host] positions that are told; 0: all */
	/* Static data of the objects with sites as it was when the run became live: chunks. */
	struct record_image images[RECORD_IMAGES_MAX];
	uint32_t image_count;
	struct record_object objects[RECORD_OBJECTS_MAX];
	struct record_thread ops; /* as op_stream.h writes them */
	struct record_thread threads[THREAD_CAPACITY];
};

/* Where the first chunk begins. */
static inline uint64_t record_area_start(void)
{
	return (sizeof(struct record_area) + 4095) & ~UINT64_C(4095);
}

#endif
