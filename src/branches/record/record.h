/*
 * Layout of a run's record in the memory that command and target share. The record has, per thread,
 * the data that cannot be recomputed from the program's bitcode. The runtime writes the record
 * while the program runs; docs/record-format.md describes the format.
 *
 * Sites of instrumented code (abi/instrument_abi.h) report to the recorder in the order in which a
 * thread executes them. Most reports are *predictable*: a read returns the value last seen at that
 * address, or a call returns the same value as last time at that site. Predictable reports are only
 * counted. Any other report becomes an *entry*. An entry has the number of predictable reports
 * before it, a tag, and the operands of the tag.
 *
 * Invariant: the recorder and the walk (branches/interpret/) make the same predictions from the
 * same state. A change of prediction rules makes existing records unreadable: RECORD_VERSION must
 * change too.
 *
 * Marks on fields: [host] is written by the command, [guest] by the target.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model/ids.h"
#include "branches/record/number.h"

#define RECORD_VERSION 8u

/* The low four bits of an entry's first number; the upper bits count the predictable reports. */
enum record_tag {
	/* A read of at most eight bytes. Operand: record_difference() from the predicted value. */
	RECORD_READ,
	/* A value at a site of kind SITE_RESULT or later. Operand: difference from the last value. */
	RECORD_VALUE,
	/*
	 * Code without bitcode calls an instrumented function. Operands: site; then for each of its
	 * SITE_ARGUMENTs the difference from that argument's last value.
	 */
	RECORD_ENTER,
	RECORD_JUMP, /* operands: site of kind SITE_LANDING or SITE_RETURNS_TWICE, its two values */
	/*
	 * The thread performs an op of the engine. Operands: step and position, each minus the
	 * thread's last one. The thread's pending write enters the predicted memory on both sides.
	 */
	RECORD_SYNC,
	/* The run is controlled from here on: the main thread creates its first thread next. */
	RECORD_LIVE,
	RECORD_BAD,    /* a read of unmapped memory: the program crashes here */
	RECORD_REPORT, /* checked records only, before each report. Operands: site, address */
	RECORD_END,
	/* The thread continues after a context switch. Operand: position minus its last one. */
	RECORD_TURN,
	RECORD_NEXT, /* RECORD_SYNC with step and position both one higher than the last ones */
	/*
	 * RECORD_SYNC and RECORD_NEXT for an op that code without bitcode requests. That code may
	 * have overwritten the memory of the pending write: both sides predict zeros there.
	 */
	RECORD_SYNC_OUTSIDE,
	RECORD_NEXT_OUTSIDE,
	/* RECORD_ENTER with the site of the thread's last such entry, initially site 0 */
	RECORD_ENTER_AGAIN,
	RECORD_TAG_COUNT
};

#define RECORD_TAG_BITS 4

/*
 * Positions order the record across threads. The events of a thread between one entry with a
 * position and its next one precede, in the run, all events with a greater position.
 */

/* Returns the zigzag encoding of `value - known` in `bytes` bytes: small differences give small
 * numbers. */
static inline uint64_t record_difference(uint64_t value, uint64_t known, uint32_t bytes)
{
	const uint32_t unused = 64 - 8 * bytes;
	const int64_t difference = (int64_t)((value - known) << unused) >> unused;

	return (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63);
}

/* Bytes above the size of the read are arbitrary. */
static inline uint64_t record_with_difference(uint64_t number, uint64_t known)
{
	return known + (number >> 1 ^ (0 - (number & 1)));
}

/*
 * The value of each byte that the thread last read or wrote. The low bits of an address select the
 * slot; the latest address evicts an earlier one. A collision causes a wrong prediction, the same
 * on both sides, which becomes an entry.
 */
#define RECORD_MEMORY_BYTES (UINT64_C(1) << 28)
/* An access may cross the end of the predicted memory by this many bytes. */
#define RECORD_MEMORY_SLACK 4096

static inline uint64_t record_slot_of(uint64_t address)
{
	return address & (RECORD_MEMORY_BYTES - 1);
}

/* Predictions follow a copy of the program's memory. The recorder must not call memcpy(). */
static inline void record_copy_known(uint8_t *memory, uint64_t from, uint64_t to, uint64_t bytes)
{
	const uint8_t *source = memory + record_slot_of(from);
	uint8_t *target = memory + record_slot_of(to);
	uint64_t i = 0, word;

	for (; i + sizeof word <= bytes; i += sizeof word) {
		memcpy(&word, source + i, sizeof word); /* one instruction */
		memcpy(target + i, &word, sizeof word);
		__asm__("" : "+r"(i)); /* keeps the compiler from turning the loop into memcpy() */
	}
	for (; i < bytes; i++) {
		target[i] = source[i];
		__asm__("" : "+r"(i));
	}
}

/* Slots for the last value at each site that reports values. */
#define RECORD_VALUES 8192u

static inline uint32_t record_value_slot(uint32_t site, uint32_t part)
{
	return (site * 5 + part) & (RECORD_VALUES - 1);
}

/* Returns the slot of an argument that code without bitcode passes to the function of site
 * `entry`. */
static inline uint32_t record_argument_slot(uint32_t entry, uint32_t number)
{
	return record_value_slot(entry, number + 1);
}

enum record_op_flag { RECORD_OP_FAILED = 1, RECORD_OP_LAST = 2 };

/* An operation of the engine. Memory accesses are not ops of the record. */
struct record_op {
	uint64_t step;
	uint64_t address;
	/*
	 * Depends on the kind of op: - COND_WAIT: the mutex - BARRIER_*: the number of the round -
	 * FUTEX_WAIT: the expected value in the upper half, the value found in the lower half -
	 * SLEEP without an object: nanoseconds plus one; 0: until an absolute time
	 */
	uint64_t argument;
	uint64_t site;
	uint16_t thread;
	uint16_t other; /* thread that was created, joined, ...; UINT16_MAX: none */
	uint8_t kind;	/* enum op_kind */
	uint8_t flags;	/* enum record_op_flag, or'ed */
	uint16_t reserved;
};

#define RECORD_CHUNK_BYTES (UINT64_C(1) << 16)
/* The host drains the record after this many filled chunks: reused chunks need no new pages. */
#define RECORD_FILLED_MOST 16
#define RECORD_OBJECTS_MAX 256
#define RECORD_IMAGES_MAX 64
#define RECORD_IMAGE_MOST (UINT64_C(64) << 20)

/* The head of a chunk of entries. Offsets count from the start of the area. */
struct record_chunk {
	uint64_t next; /* 0: none */
	uint64_t used; /* bytes behind this head */
};

struct record_thread {
	uint64_t first, last; /* offsets of chunks; 0: none */
	uint8_t *at, *end;    /* [guest] write position and end of the last chunk */
	/* number of predictable reports up to the thread's last context switch */
	uint64_t predicted;
	uint64_t step, position; /* values of the last entry that has them */
	uint64_t predicted_at_cut;
};

struct record_object {
	uint64_t base;
	char path[256];
};

struct record_image {
	uint64_t address, bytes;
	uint64_t offset; /* offset of the copy in the area */
};

struct record_area {
	uint32_t version;
	/* [host] every report becomes an entry: for tests and for inspection */
	uint32_t is_checked;
	uint64_t bytes; /* [host] size of the area */
	uint64_t used;
	uint64_t room; /* [host] no chunk begins beyond this offset */
	/* [host] a target without room waits until the host has drained the area */
	uint32_t is_emptied;
	/* Futex shared by both: 1: [guest] waits for room; 0: [host] has made room. */
	uint32_t is_waiting;
	uint32_t filled;  /* [guest] chunks filled since the host last drained the area */
	uint32_t is_full; /* the end of the record is missing */
	/* [guest] the record ends at points_most, and `predicted_at_cut` holds the counts */
	uint32_t is_cut;
	uint32_t object_count;
	uint64_t position;
	uint64_t points_most; /* [host] number of positions to record; 0: all */
	/* Writable static data of the objects with sites, copied when the run became controlled. */
	struct record_image images[RECORD_IMAGES_MAX];
	uint32_t image_count;
	struct record_object objects[RECORD_OBJECTS_MAX];
	struct record_thread ops; /* encoded by op_stream.h */
	struct record_thread threads[THREAD_CAPACITY];
};

static inline uint64_t record_area_start(void)
{
	return (sizeof(struct record_area) + 4095) & ~UINT64_C(4095);
}
