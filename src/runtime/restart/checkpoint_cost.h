/*
 * Cost model of checkpoints: does taking them make runs faster? Measured in ticks of the
 * processor's clock during the campaign. A trial alternates stretches of runs with and without
 * checkpoints; the faster mode then stays for a while. The choice changes only the duration of runs,
 * never their schedules.
 * Plain values, in memory that survives the run.
 *
 * A *divergence* is an entry where a run first differs from the run before it: a checkpoint there
 * serves all runs until one differs earlier. A *timed* checkpoint is taken when a run is long,
 * while divergences are unknown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum checkpoint_cost_mode { CHECKPOINT_COST_WITHOUT, CHECKPOINT_COST_WITH, CHECKPOINT_COST_MODES };

/* Only entries below CHECKPOINT_COST_ENTRIES are tracked as divergences, CHECKPOINT_COST_DIVERGENCES of them at a time. */
#define CHECKPOINT_COST_ENTRIES 4096
#define CHECKPOINT_COST_DIVERGENCES 64

struct checkpoint_cost_divergence {
	uint32_t entry;
	uint32_t diverged; /* runs that first differed from their predecessor here */
	uint32_t before;   /* runs that first differed earlier */
	uint32_t runs;
};

struct checkpoint_cost {
	bool is_warm;
	enum checkpoint_cost_mode mode;
	uint64_t mean
		[CHECKPOINT_COST_MODES]; /* ticks of a run in the best stretch; 0: not measured yet */
	uint64_t runs, ticks;		 /* counts in this stretch */
	uint64_t longest;		 /* ticks of the longest run in this stretch */
	uint32_t stretches;		 /* finished stretches in this trial */
	uint64_t stay;			 /* runs before the next trial; 0: a trial is on */
	uint64_t stay_next;
	uint64_t taking; /* cost of a checkpoint; initially a guess */
	/* A run longer than this multiple of `taking` gets a timed checkpoint. */
	uint64_t factor;
	/* ticks spent by taking timed checkpoints, and saved by using them */
	uint64_t spent, saved;
	struct checkpoint_cost_divergence divergences[CHECKPOINT_COST_DIVERGENCES];
	uint32_t divergence_count;
	uint64_t runs_diverged;
	uint8_t divergence_at
		[CHECKPOINT_COST_ENTRIES]; /* index in divergences[] plus 1, 0: not tracked */
};

void checkpoint_cost_begin(struct checkpoint_cost *cost);
/* Notes the end of a run. `ticks`: duration of the run with its restore. */
void checkpoint_cost_run_ended(struct checkpoint_cost *cost, uint64_t ticks);
/* Records the cost of a checkpoint. `is_timed`: not at a divergence. */
void checkpoint_cost_taken(struct checkpoint_cost *cost, bool is_timed, uint64_t ticks);
/* Records that a timed checkpoint was dropped. `ticks`: its saving. */
void checkpoint_cost_dropped(struct checkpoint_cost *cost, uint64_t ticks);
/* Records that the run first differs from its predecessor at that entry. */
void checkpoint_cost_diverged(struct checkpoint_cost *cost, uint32_t entry);
static inline bool checkpoint_cost_knows(const struct checkpoint_cost *cost, uint32_t entry)
{
	return entry < CHECKPOINT_COST_ENTRIES && cost->divergence_at[entry];
}
/* Returns whether a checkpoint at a tracked entry is worth its cost. `ticks`: its saving per
 * run. */
bool checkpoint_cost_saves_at(const struct checkpoint_cost *cost, uint32_t entry, uint64_t ticks);
/* Returns whether one is worth its cost if it saves as much as two runs without checkpoints take: a test
 * that does not read the clock. */
bool checkpoint_cost_may_save_at(const struct checkpoint_cost *cost, uint32_t entry);
/* Returns whether a timed checkpoint is due. `ticks`: since the run's begin or last checkpoint. */
bool checkpoint_cost_saves(const struct checkpoint_cost *cost, uint64_t ticks);
