/*
 * The state of strategy `replay`, laid out here because the campaign fills it: it follows a
 * schedule.
 *
 * Exact mode follows the segments one by one; the first step whose thread does not exist or is not
 * enabled, or the first value choice that does not stand where the program asks for it, sets
 * `diverged`, and from there on the schedule without preemptions is followed. A run that goes on
 * after the last segment has not diverged: the schedule was a prefix.
 *
 * Loose mode follows *directives*: "when thread A has performed `after` ops and is to move next,
 * let B move instead". Who is to move next without directives is view_default(): the current thread
 * while it can, else the lowest enabled one. So a directive names a preempted thread, or the one
 * that would have taken over from a thread that waits. A directive is used once, or never when B
 * cannot move there; each one depends only on how far A has come, so it stays meaningful when
 * others are taken away, which is what minimising needs (delta debugging over switches).
 */
#ifndef RADDLE_STRATEGIES_REPLAY_H
#define RADDLE_STRATEGIES_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "model/ids.h"
#include "model/schedule.h"
#include "strategies/key_table.h"

enum replay_mode { REPLAY_EXACT, REPLAY_LOOSE };

struct replay_directive {
	thread_name thread; /* A, by stable name */
	thread_name next;   /* B */
	uint64_t after;	    /* ops of A before the switch */
};

struct replay_state {
	uint32_t mode;		/* enum replay_mode */
	uint32_t diverged;	/* exact mode: set at the first misfit, cleared by begin_run */
	uint64_t diverged_step; /* where */
	struct schedule_cursor cursor;
	uint32_t known; /* threads of this run that have been met */
	uint32_t segment_count;
	uint32_t directive_count;
	uint32_t directives_used;   /* loose: switches made in this run */
	uint64_t step;		    /* last one seen, for misfits of value choices */
	uint64_t directives_offset; /* bytes from the start of the state */
	uint64_t links_offset;	    /* per directive, 1 + the next one of the same thread, or 0 */
	uint64_t segments_offset;   /* loose mode reads only its value segments */
	uint64_t bytes;		    /* of the whole block */
	bool has_names;		    /* segments speak of `names`, not of indices of the run */

	/* Threads that the plan names, by their order in `names`. */
	struct key_table names;
	uint32_t first_directive[KEY_TABLE_CAPACITY]; /* 1 + index, 0: none */
	uint16_t index_of[KEY_TABLE_CAPACITY]; /* of this run's thread, UINT16_MAX: not created */

	/* By thread index of this run. */
	uint64_t performed[THREAD_CAPACITY]; /* loose: ops so far */
	uint32_t directive[THREAD_CAPACITY]; /* loose: 1 + the next unused one, 0: none */
};

/* Bytes of a state with room for so many segments and directives. */
size_t replay_state_bytes(uint32_t segment_count, uint32_t directive_count);

/*
 * Fills a zeroed block of replay_state_bytes(...). Arrays are copied. Directives of one thread
 * stand in the order in which they are to be used, so by growing `after`.
 */
void replay_state_init(struct replay_state *state, enum replay_mode mode,
	const struct schedule_segment *segments, uint32_t segment_count,
	const struct replay_directive *directives, uint32_t directive_count);

/*
 * After replay_state_init(), for schedules that speak of names: from now on segment.thread is an
 * index into `names` (distinct, at most THREAD_CAPACITY of them; copied), whatever index the thread
 * gets in the run.
 */
void replay_state_set_names(
	struct replay_state *state, const thread_name *names, uint32_t name_count);

#endif
