/*
 * What the files of the race detector share: its state, and the clocks of threads. race.c judges
 * accesses to memory, race_order.c knows what orders them.
 */
#ifndef RADDLE_DETECTORS_RACE_INTERNAL_H
#define RADDLE_DETECTORS_RACE_INTERNAL_H

#include "detectors/clock_pool.h"
#include "detectors/detector.h"
#include "detectors/race.h"
#include "detectors/shadow.h"
#include "detectors/sync_table.h"

/* As C11 numbers them, and instrument_abi.h. */
enum memory_order_number {
	ORDER_RELAXED,
	ORDER_CONSUME,
	ORDER_ACQUIRE,
	ORDER_RELEASE,
	ORDER_ACQUIRE_RELEASE,
	ORDER_SEQUENTIAL
};

struct race_thread {
	uint32_t generation; /* of the run that it is of */
	uint32_t reserved;
	struct vector_clock now;
	struct vector_clock fenced;   /* `now` at its last release fence */
	struct vector_clock heard_of; /* by relaxed reads: an acquire fence makes it known */
};

struct race_state {
	/* [host], and not cleared with a run. */
	uint32_t ignored_pairs;
	struct race_pair ignored[RACE_IGNORED_MAX];
	bool is_watching;
	/* [guest] while it is */
	uint32_t seen_count;
	struct race_seen seen[RACE_SEEN_MAX];
	/* [guest] counts of all runs */
	uint64_t ignored_count;
	uint64_t blind_runs;
	/* The run. */
	uint32_t generation;
	bool is_blind;
	bool has_let_pass; /* at the last event */
	struct clock_pool pool;
	struct race_thread threads[THREAD_CAPACITY];
	struct sync_table objects;
	struct shadow shadow;
};

/* Something did not fit: the detector says no more in this run. */
static inline void race_need(struct race_state *state, bool has_fitted)
{
	if (has_fitted)
		return;
	state->blind_runs += !state->is_blind;
	state->is_blind = true;
}

static inline void race_join(
	struct race_state *state, struct vector_clock *clock, const struct vector_clock *other)
{
	race_need(state, vector_clock_join(&state->pool, clock, other));
}

/* The thread's first event of the run. */
void race_begin_thread(struct race_state *state, struct thread_id id);
/* The thread, with a clock from its first event on. */
static inline struct race_thread *race_thread(struct race_state *state, struct thread_id id)
{
	struct race_thread *thread = &state->threads[id.index];

	if (thread->generation != state->generation)
		race_begin_thread(state, id);
	return thread;
}
/* What the thread has published is over: what it does from now on is not part of it. */
void race_advance(struct race_state *state, struct thread_id id);

/* An op that succeeded, other than accesses to memory and fences: what it orders. */
void race_synchronise(struct race_state *state, const struct detector_event *event);
void race_fence(struct race_state *state, const struct detector_event *event);
/* The atomic access's part in the release sequence of the memory. A read comes first. */
void race_read_atomically(struct race_state *state, const struct detector_event *event,
	const struct shadow_cell *cell);
void race_write_atomically(
	struct race_state *state, const struct detector_event *event, struct shadow_cell *cell);

static inline bool race_order_acquires(uint8_t order)
{
	return order != ORDER_RELAXED && order != ORDER_RELEASE;
}

static inline bool race_order_releases(uint8_t order)
{
	return order >= ORDER_RELEASE;
}

#endif
