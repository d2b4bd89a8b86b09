/*
 * State of the race detector, shared by its files. race.c judges memory accesses, race_order.c
 * maintains happens-before, race_plain.c is the fast path of plain accesses.
 */
#pragma once

#include "detectors/clock_pool.h"
#include "detectors/detector.h"
#include "detectors/race.h"
#include "detectors/shadow.h"
#include "detectors/sync_table.h"
#include "model/memory_model.h"

struct race_thread {
	uint32_t generation; /* equals race_state.generation if the entry belongs to this run */
	uint32_t reserved;
	struct vector_clock now;
	struct vector_clock fenced; /* `now` at the last release fence */
	/* Clocks seen by relaxed reads; an acquire fence joins them into `now` */
	struct vector_clock heard_of;
};

struct race_state {
	/* Written by the command; kept between runs. */
	struct race_pairs ignored;
	bool is_watching;
	/* A relaxed store does not end the release sequence of another thread */
	bool follows_thread_sanitizer;
	/* Races seen; the runtime writes them while is_watching. Kept between runs. */
	uint32_t seen_count;
	struct race_seen seen[RACE_SEEN_MAX];
	/* Totals of all runs, written by the runtime. */
	uint64_t ignored_count;
	uint64_t blind_runs;
	/* State of the run. */
	uint32_t generation;
	bool is_blind;
	bool has_suppressed; /* the last event was a suppressed race */
	struct clock_pool pool;
	struct race_thread threads[THREAD_CAPACITY];
	/* c11: what the stores in histories release, by the number of their message */
	struct vector_clock messages[STORE_MESSAGES_MOST];
	uint32_t message_generations[STORE_MESSAGES_MOST];
	struct vector_clock all_messages;
	struct sync_table objects;
	struct shadow shadow;
};

/* Unless has_fitted, marks the detector as blind for the rest of the run. */
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

/* Starts the thread's clock at its first event of the run. */
void race_begin_thread(struct race_state *state, struct thread_id id);
/* Returns the thread's entry; its clock is valid from its first event on. */
static inline struct race_thread *race_thread(struct race_state *state, struct thread_id id)
{
	struct race_thread *thread = &state->threads[id.index];

	if (thread->generation != state->generation)
		race_begin_thread(state, id);
	return thread;
}
/* Begins a new epoch after a release, because the release does not cover later accesses of the
 * thread. */
void race_advance(struct race_state *state, struct thread_id id);

/* Applies the rule of a successful operation other than memory accesses and fences. */
void race_synchronise(struct race_state *state, const struct detector_event *event);
void race_fence(struct race_state *state, const struct detector_event *event);
/* Applies the acquire and release sides of an atomic access to `cell`. An update calls the read
 * first. Under c11 an access may read or continue an old store: the event's messages say which. */
void race_read_atomically(struct race_state *state, const struct detector_event *event,
	const struct shadow_cell *cell);
void race_write_atomically(
	struct race_state *state, const struct detector_event *event, struct shadow_cell *cell);
