/*
 * The state of strategy `replay`, laid out here because the campaign fills it: it follows a
 * schedule.
 *
 * Exact mode follows the segments one by one; the first step whose thread does not exist or is not
 * enabled sets `diverged`, and from there on the schedule without preemptions is followed.
 *
 * Loose mode follows *directives*: "when thread A has performed `after` ops and is to move next,
 * let B move instead". Between directives the current thread goes on while it can. Directives stay
 * meaningful when others are taken away, which is what minimising needs (delta debugging over
 * switches).
 */
#ifndef RADDLE_STRATEGIES_REPLAY_H
#define RADDLE_STRATEGIES_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/schedule.h"

enum replay_mode { REPLAY_EXACT, REPLAY_LOOSE };

struct replay_directive {
	thread_name thread; /* A, by stable name */
	thread_name next;   /* B */
	uint64_t after;	    /* ops of A before the switch */
};

struct replay_state {
	uint32_t mode;		/* enum replay_mode */
	uint32_t diverged;	/* exact mode: set at the first misfit */
	uint64_t diverged_step; /* where */
	struct schedule_cursor cursor;
	uint32_t directive_count;
	uint32_t directive_next; /* loose: directives before this one are used up */
	uint32_t value_next;	 /* loose: value choices taken so far */
	uint32_t segment_count;
	uint64_t performed[THREAD_CAPACITY]; /* loose: ops per thread index in this run */
	uint64_t directives_offset;	     /* bytes from the start of the state */
	uint64_t segments_offset; /* likewise; loose mode reads only its value segments */
	uint64_t bytes;		  /* of the whole block */
};

/* Bytes of a state with room for so many segments and directives. */
size_t replay_state_bytes(uint32_t segment_count, uint32_t directive_count);

/* Fills a zeroed block of replay_state_bytes(...). Arrays are copied. */
void replay_state_init(struct replay_state *state, enum replay_mode mode,
	const struct schedule_segment *segments, uint32_t segment_count,
	const struct replay_directive *directives, uint32_t directive_count);

#endif
