/*
 * All schedules of a simulated program, one after the other: a strategy for tests that compare with all
 * there is. `every_schedule` counts like an odometer over the choices of a run.
 */
#pragma once

#include <stdlib.h>

#include "base/bitset.h"
#include "strategies/strategy.h"

#define EVERY_DEPTH 256

struct every {
	uint32_t depth, count;
	uint32_t choice[EVERY_DEPTH], choices[EVERY_DEPTH];
	bool is_exhausted;
};

static inline void every_begin_campaign(void *state, const struct strategy_config *config)
{
	(void)state; /* begins as all zero */
	(void)config;
}

static inline void every_begin_run(void *state, uint64_t seed)
{
	(void)seed;
	((struct every *)state)->depth = 0;
}

static inline uint32_t every_decide(struct every *every, uint32_t choices)
{
	if (every->depth == every->count) {
		if (every->count == EVERY_DEPTH)
			abort(); /* the test's program is too long */
		every->choice[every->count] = 0;
		every->choices[every->count++] = choices;
	}
	return every->choice[every->depth++];
}

static inline struct thread_id every_choose(void *state, const struct schedule_view *view)
{
	const uint32_t rank = every_decide(state, view->enabled_count);

	return (struct thread_id){(uint16_t)bitset_select(view->enabled, rank)};
}

static inline uint32_t every_choose_value(void *state, uint32_t count)
{
	return every_decide(state, count);
}

static inline void every_end_run(void *state, const struct run_summary *summary)
{
	struct every *every = state;

	(void)summary;
	while (every->count &&
		every->choice[every->count - 1] + 1 == every->choices[every->count - 1])
		every->count--;
	every->is_exhausted = !every->count;
	if (every->count)
		every->choice[every->count - 1]++;
}

static inline bool every_is_exhausted(const void *state)
{
	return ((const struct every *)state)->is_exhausted;
}

static const struct strategy every_schedule = {
	.name = "every",
	.summary = "all schedules",
	.state_bytes = sizeof(struct every),
	.begin_campaign = every_begin_campaign,
	.begin_run = every_begin_run,
	.choose = every_choose,
	.choose_value = every_choose_value,
	.end_run = every_end_run,
	.search = {.is_exhausted = every_is_exhausted},
};
