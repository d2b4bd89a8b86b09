/*
 * The state of strategy `replay`, which follows a schedule. The layout is public, because the
 * campaign fills the state.
 *
 * Exact mode follows the segments one by one. The run diverges at the first step whose thread does
 * not exist or is not enabled, or at the first value choice out of place. A diverged run continues
 * without preemptions. A run beyond the last segment has not diverged: the schedule was a prefix.
 *
 * Priority mode schedules as pct does, with *falls*: "when thread A has reached `after` and would
 * move, its priority drops below all others". Here `after` is 2^16
 * times the number of locks that A has acquired, plus its ops since: the total number of ops would
 * be less stable. `names` gives the order of the initial priorities.
 *
 * Recording mode follows the segments as exact mode does. It writes into the space for falls
 * those with which priority mode reproduces the run from the order of `names`.
 *
 * REPLAY_OBSERVE follows the segments like exact mode, and records each operation
 * (strategies/replay/replay_observe.h). REPLAY_PREEMPT makes a few preemptions by site
 * (strategies/replay/replay_preempt.h).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/ids.h"
#include "model/schedule.h"
#include "strategies/key_table.h"

enum replay_mode { REPLAY_EXACT, REPLAY_PRIORITY, REPLAY_RECORD, REPLAY_OBSERVE, REPLAY_PREEMPT };

struct replay_fall {
	thread_name thread; /* A, by stable name */
	uint64_t after;
};

struct replay_state {
	uint32_t mode;		/* enum replay_mode */
	uint32_t diverged;	/* exact mode: set at the first mismatch, cleared by begin_run */
	uint64_t diverged_step; /* step of the mismatch */
	struct schedule_cursor cursor;
	uint32_t known; /* number of threads of this run seen so far */
	uint32_t segment_count;
	uint32_t fall_count;
	uint32_t falls_used; /* made or written in this run */
	/* priority mode: contested acquisitions, counted as rpro does */
	uint64_t acquisitions;
	uint64_t first_fall; /* priority mode: acquisitions before the first and the last fall */
	uint64_t last_fall;
	uint64_t lowest;       /* priority of the thread that fell last */
	uint64_t step;	       /* the last step, for reports of mismatching value choices */
	uint64_t falls_offset; /* bytes from the start of the state */
	/* per fall: 1 + the thread's next fall, or 0 */
	uint64_t links_offset;
	uint64_t segments_offset; /* most other modes use only the value segments */
	uint64_t observed_offset; /* struct replay_observed; 0: none */
	uint64_t preempt_offset;  /* struct replay_preempt; 0: none */
	uint64_t bytes;		  /* size of the whole block */
	bool has_names;		  /* segments refer to `names` instead of thread indices */
	bool is_random_after;	  /* exact mode: see replay_state_set_random() */
	bool knows_few_values;	  /* exact mode: see replay_state_set_few_values() */
	/* exact mode: steps of disabled threads are skipped, without divergence */
	bool skips_disabled;
	/* exact mode: accesses to memory are not in the schedule; a thread makes them after the step
	 * that precedes them */
	bool lacks_accesses;
	struct rng rng; /* seeded by the run */

	struct key_table names;
	uint32_t first_fall_of[KEY_TABLE_CAPACITY]; /* 1 + index of a fall; 0: none */
	uint16_t index_of[KEY_TABLE_CAPACITY];

	/* The following arrays are indexed by thread index of this run. */
	uint64_t performed[THREAD_CAPACITY]; /* progress of the thread, in the unit of `after` */
	uint32_t fall[THREAD_CAPACITY];	     /* 1 + the next unused fall; 0: none */
	uint64_t priority[THREAD_CAPACITY];
};

/* After a recording, the first `falls_used` entries are set. */
static inline struct replay_fall *replay_falls(struct replay_state *state)
{
	return (struct replay_fall *)((char *)state + state->falls_offset);
}

size_t replay_state_bytes(uint32_t segment_count, uint32_t fall_count);

/* Initialises a zeroed state. Arrays are copied. Falls of one thread must be sorted by `after`. */
void replay_state_init(struct replay_state *state, enum replay_mode mode,
	const struct schedule_segment *segments, uint32_t segment_count,
	const struct replay_fall *falls, uint32_t fall_count);

/* Makes segment.thread an index into `names`, which are distinct, at most THREAD_CAPACITY, and
 * copied. */
void replay_state_set_names(
	struct replay_state *state, const thread_name *names, uint32_t name_count);

/* Lets exact mode choose each enabled thread equally likely after the last segment, by the run's
 * seed. */
void replay_state_set_random(struct replay_state *state);

/* Lets exact mode take the first possibility at a value choice that the schedule omits. */
void replay_state_set_few_values(struct replay_state *state);
