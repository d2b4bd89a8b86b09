/*
 * Orders in a run of dpor: what happens before what (dpor_order.c), and sequences of its steps, which
 * are put into wakeup trees (dpor_wakeup.c).
 */
#ifndef RADDLE_STRATEGIES_DPOR_DPOR_ORDER_H
#define RADDLE_STRATEGIES_DPOR_DPOR_ORDER_H

#include "strategies/dpor/dpor.h"

/* ---- clocks ---- */

/* Of lanes: a loop of known length is a few vector instructions. Numbers of steps are below 2^31. */
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

/* What happens before a step whatever the other threads do: its own thread, and who made that. Valid while these are there. */
const uint32_t *dpor_own_past(struct dpor *dpor, uint32_t step);

/* ---- steps that an op may depend on ---- */

/* Where the last step is kept that was about the same; NULL: an op about nothing. */
uint32_t *dpor_bucket(struct dpor *dpor, const struct dpor_op *op);

/* Those before `step`, newest first, that are of other threads and not in `past`. */
struct dpor_look_back {
	uint32_t alike, wide; /* the next of each */
	uint32_t all_below;   /* for a wide op; else DPOR_NONE */
};

void dpor_look_back_begin(struct dpor *dpor, struct dpor_look_back *look, uint32_t step);
/* DPOR_NONE: that was all. */
uint32_t dpor_look_back_next(
	struct dpor *dpor, struct dpor_look_back *look, const uint32_t *past, uint8_t self);

/*
 * The nearest step before that one with which it is in a race that fulfils the condition; DPOR_NONE: there is none. Without
 * any regard to whether the other order can be had.
 */
uint32_t dpor_first_race(struct dpor *dpor, uint32_t second,
	bool (*is_wanted)(const struct dpor_op *first, const struct dpor_op *second));

/* ---- sequences: numbers of steps, whose order is kept ---- */

struct dpor_sequence {
	uint32_t *steps;
	uint32_t count;
	uint32_t core; /* of those: up to the op that is to come before another one */
};

/*
 * The sequence from that step on, unless a sleeper there shows that it has been had. True: this is settled
 * for all runs that have the race; see dpor_reverse_races().
 */
bool dpor_add_order(struct dpor *dpor, uint32_t step, struct dpor_sequence *sequence);

#endif
