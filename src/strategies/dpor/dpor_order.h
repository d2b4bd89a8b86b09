/* Happens-before clocks (dpor_order.c), and sequences of steps for wakeup trees (dpor_wakeup.c). */
#pragma once

#include "strategies/dpor/dpor.h"

/* One block of a clock: the loops compile to vector instructions. Step numbers are below 2^31. */
static inline void dpor_join_lanes(uint32_t *restrict to, const uint32_t *restrict from)
{
	for (uint32_t i = 0; i < DPOR_LANES; i++)
		to[i] = (int32_t)from[i] > (int32_t)to[i] ? from[i] : to[i];
}

static inline void dpor_copy_lanes(uint32_t *restrict to, const uint32_t *restrict from)
{
	for (uint32_t i = 0; i < DPOR_LANES; i++)
		to[i] = from[i];
}

static inline void dpor_clear_lanes(uint32_t *to)
{
	for (uint32_t i = 0; i < DPOR_LANES; i++)
		to[i] = 0;
}

static inline void dpor_clock_join(const struct dpor *dpor, uint32_t *to, const uint32_t *from)
{
	for (uint32_t at = 0; at < dpor->width; at += DPOR_LANES)
		dpor_join_lanes(to + at, from + at);
}

static inline void dpor_clock_copy(const struct dpor *dpor, uint32_t *to, const uint32_t *from)
{
	for (uint32_t at = 0; at < dpor->width; at += DPOR_LANES)
		dpor_copy_lanes(to + at, from + at);
}

static inline bool dpor_happens_before(struct dpor *dpor, uint32_t first, uint32_t second)
{
	const struct dpor_step *step = &dpor_steps(dpor)[first];

	return dpor_clock(dpor, second)[step->op.thread] >= step->ordinal;
}

/* The past of a step independent of other threads: the clock of the thread's previous step, or of
 * its creation. Valid as long as these steps are on the stack. */
static inline const uint32_t *dpor_own_past(struct dpor *dpor, uint32_t step)
{
	static const uint32_t nothing[DPOR_THREADS];
	const struct dpor_step *self = &dpor_steps(dpor)[step];
	const uint32_t creation = dpor->creation[self->op.thread];
	const uint32_t from = self->previous != DPOR_NONE ? self->previous : creation;
	const uint32_t *past = from != DPOR_NONE ? dpor_clock(dpor, from) : nothing;

	if (self->enabler == DPOR_NONE)
		return past;
	dpor_clock_copy(dpor, dpor->joined, past);
	dpor_clock_join(dpor, dpor->joined, dpor_clock(dpor, self->enabler));
	return dpor->joined;
}

/* The last step of the op's bucket; NULL: the op depends on no other op. */
static inline uint32_t *dpor_bucket(struct dpor *dpor, const struct dpor_op *op)
{
	const uint64_t key = dpor_key(op);

	return key ? &dpor->last_in_bucket[(key ^ key >> 16) % DPOR_BUCKETS] : NULL;
}

/*
 * Iterates over earlier steps of other threads that are not in `past`, newest first. The iteration
 * ends at a step in the past if all earlier steps that depend on the op are in that step's past: a
 * step of the same thread with the same op, or a change of the same object.
 */
struct dpor_look_back {
	const struct dpor_op *op;
	uint32_t previous_in_bucket, wide; /* next candidates */
	/* all steps below this one are candidates (wide op); else DPOR_NONE */
	uint32_t all_below;
};

void dpor_look_back_begin(struct dpor *dpor, struct dpor_look_back *look, uint32_t step);
uint32_t dpor_look_back_next(struct dpor *dpor, struct dpor_look_back *look, const uint32_t *past);
/* The steps before `step`, which the iteration has returned, happen before from now on. */
void dpor_look_back_join(
	struct dpor *dpor, struct dpor_look_back *look, uint32_t *clock, uint32_t step);

/* The nearest wanted race, which may be irreversible; DPOR_NONE: none. */
uint32_t dpor_first_race(struct dpor *dpor, uint32_t second,
	bool (*is_wanted)(const struct dpor_op *first, const struct dpor_op *second));

struct dpor_sequence {
	uint32_t *steps;
	uint32_t count;
	uint32_t core; /* length of the prefix that ends with the op to be moved ahead */
	/* the step of a waiting loop's read that may be blocked in the new order; DPOR_NONE: none */
	uint32_t doubtful;
};

/*
 * Adds the sequence to the wakeup tree of `step`, unless a sleeper covers it. Returns true if the
 * race is settled for all runs that contain it (dpor_reverse_races()).
 */
bool dpor_add_order(struct dpor *dpor, uint32_t step, struct dpor_sequence *sequence);
