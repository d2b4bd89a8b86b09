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
 *
 * Priority mode schedules as pct does: of the enabled threads the one with the highest priority
 * moves, and directives are *falls*: "when thread A has come to `after` and is to move, it falls
 * below all others" (`next` means nothing). Here `after` counts the locks that A has taken, times
 * 2^16, and its ops since the last one: how many ops there are in all may depend on who comes first
 * (the last one at a barrier does not wait). The initial priorities are the order of `names`.
 * Recording mode follows the segments like exact mode and writes into the room of its directives the
 * falls that priority mode would need to make the same run, from the order of `names` on.
 */
#ifndef RADDLE_STRATEGIES_REPLAY_H
#define RADDLE_STRATEGIES_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/ids.h"
#include "model/schedule.h"
#include "strategies/key_table.h"

enum replay_mode { REPLAY_EXACT, REPLAY_LOOSE, REPLAY_PRIORITY, REPLAY_RECORD };

struct replay_directive {
	thread_name thread; /* A, by stable name */
	thread_name next;   /* B */
	uint64_t after;	    /* ops of A before the switch, or the fall */
};

struct replay_state {
	uint32_t mode;		/* enum replay_mode */
	uint32_t diverged;	/* exact mode: set at the first misfit, cleared by begin_run */
	uint64_t diverged_step; /* where */
	struct schedule_cursor cursor;
	uint32_t known; /* threads of this run that have been met */
	uint32_t segment_count;
	uint32_t directive_count;
	uint32_t directives_used; /* switches made, falls made or written, in this run */
	uint64_t acquisitions;	  /* priority: contested ones so far, counted as rpro does */
	uint64_t first_fall;	  /* priority: acquisitions before the first and the last fall */
	uint64_t last_fall;
	uint64_t lowest;	    /* priority of the last thread that fell */
	uint64_t step;		    /* last one seen, for misfits of value choices */
	uint64_t directives_offset; /* bytes from the start of the state */
	uint64_t links_offset;	    /* per directive, 1 + the next one of the same thread, or 0 */
	uint64_t segments_offset;   /* loose mode reads only its value segments */
	uint64_t bytes;		    /* of the whole block */
	bool has_names;		    /* segments speak of `names`, not of indices of the run */
	bool is_random_after;	    /* exact mode: see replay_state_set_random() */
	bool knows_few_values;	    /* exact mode: see replay_state_set_few_values() */
	struct rng rng;		    /* seeded by the run */

	/* Threads that the plan names, by their order in `names`. */
	struct key_table names;
	uint32_t first_directive[KEY_TABLE_CAPACITY]; /* 1 + index, 0: none */
	uint16_t index_of[KEY_TABLE_CAPACITY]; /* of this run's thread, UINT16_MAX: not created */

	/* By thread index of this run. */
	uint64_t performed[THREAD_CAPACITY]; /* how far it has come, as directives count */
	uint32_t directive[THREAD_CAPACITY]; /* 1 + the next unused one, 0: none */
	uint64_t priority[THREAD_CAPACITY];
};

/* Of a recording: `directives_used` of them are falls. */
static inline struct replay_directive *replay_directives(struct replay_state *state)
{
	return (struct replay_directive *)((char *)state + state->directives_offset);
}

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

/*
 * After replay_state_init(), exact mode: behind the last segment every enabled thread is equally likely,
 * with the run's seed, instead of a schedule without preemptions.
 */
void replay_state_set_random(struct replay_state *state);

/*
 * After replay_state_init(), exact mode: the schedule was put together, not recorded. A value choice that it does not tell is
 * the first possibility, and no divergence.
 */
void replay_state_set_few_values(struct replay_state *state);

#endif
