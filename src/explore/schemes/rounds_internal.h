/*
 * Rounds of a sampling strategy (strategies/strategy.h). Lessons of runs take effect between two
 * rounds only. Failures are investigated in the order of their runs. A campaign that ends with a
 * failure counts the runs before it and no other. rounds.c begins rounds,
 * rounds_assign.c gives runs to workers, rounds_count.c counts results.
 */
#pragma once

#include "explore/scheme.h"

#define ROUNDS_NO_HOLD UINT32_MAX

/* A data race that did not end its run, and the first run that showed it. */
struct rounds_race {
	uint64_t run;
	struct race_seen seen;
};

struct rounds {
	uint64_t number; /* number of the current round, from 1 */
	uint64_t first;	 /* number of its first run */
	uint64_t before; /* runs in all earlier rounds */
	uint32_t runs;
	uint32_t given; /* positions below this one are assigned to workers */
	/* watched positions from `given` to below this one are assigned as well */
	uint32_t given_ahead;
	/* All runs before this position are counted, and their failures are investigated. Ordered runs
	 * may be made again after that. */
	uint32_t settled;
	/* index of the first run of the round that failed and is not yet investigated; workers
	 * begin no later run until then */
	uint32_t hold;
	bool has_new_points; /* runs found new shared memory */
	/* sites that touch new shared memory may be off: no round of one run followed */
	bool has_hidden_sites;
	bool has_new_memory;	/* runs found new shared memory: the next round has one run */
	uint64_t single_rounds; /* number of one-run rounds caused by has_new_memory */
	uint32_t layout;	/* memory layout of the round's runs (model/memory/layout.h) */
	uint32_t layout_index;
	uint64_t layout_until; /* the layout changes when `before` reaches this number */
	uint8_t is_made[STRATEGY_ROUND_MOST];
	struct contract_run log[STRATEGY_ROUND_MOST];
	uint64_t keys[STRATEGY_ROUND_MOST]; /* keys of failing runs, by position; 0: none */
	/* new failures that await investigation, sorted by run */
	struct campaign_failure *failures;
	uint32_t failure_count;
	struct race_pair *ignored; /* races that end no run from the next round on */
	uint32_t ignored_count;

	/* state that outlives a round */
	bool is_over;			/* runs that are not settled do not count */
	void *knowledge;		/* the strategy's state with the lessons of all workers */
	struct contract_totals counted; /* totals of settled runs */
	uint64_t races_ignored, blind_runs; /* counters of the race detector, over settled runs */
	struct rounds_race *races;
	uint32_t race_count;
};

static inline const struct strategy *rounds_strategy_of(const struct campaign *campaign)
{
	return strategies[campaign->options->strategy];
}

static inline uint32_t rounds_position_of(const struct campaign *campaign, uint64_t run)
{
	return (uint32_t)(run - campaign->rounds->first);
}

/* Returns the number of runs at the round's beginning that one worker makes in order. */
uint32_t rounds_ordered(const struct campaign *campaign);
int rounds_next_batch(struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/* Returns the run with which a worker begins that makes the runs from `run` on again, or instead of
 * another worker. An ordered run needs the state after the run before. The worker therefore makes
 * all ordered runs again, and those that are settled do not count twice. */
uint64_t rounds_resume_at(const struct campaign *campaign, uint64_t run);
void rounds_release_failures(struct rounds *round);
void rounds_take_runs(struct campaign *campaign, struct campaign_worker *worker, uint64_t end);
int rounds_take_failure(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/* Counts complete runs in order. With `is_last`, all runs made so far count and no further run
 * follows. */
int rounds_settle(struct campaign *campaign, bool is_last, struct error *err);
void rounds_add_totals(struct campaign *campaign, struct contract_totals *totals);
/* Lists the observed races, each with the first run that showed it. */
void rounds_list_races(struct campaign *campaign);
