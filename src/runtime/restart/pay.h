/*
 * Cost model of checkpoints: does taking them make runs faster? Measured in ticks of the
 * processor's clock during the campaign. A trial alternates stretches of runs with and without
 * checkpoints; the faster mode then stays for a while. The model changes only how long runs take.
 * Plain values, in memory that survives the run.
 *
 * A *parting* is an entry where a run first differs from the run before it: a checkpoint there
 * serves all runs until one differs earlier. A *timed* checkpoint is taken when a run is long,
 * while partings are unknown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum pay_way { PAY_WITHOUT, PAY_WITH, PAY_WAY_COUNT };

/* Only entries below PAY_ENTRIES are tracked as partings, PAY_PARTINGS of them at a time. */
#define PAY_ENTRIES 4096
#define PAY_PARTINGS 64

struct pay_parting {
	uint32_t entry;
	uint32_t parted; /* runs that first differed from their predecessor here */
	uint32_t before; /* runs that first differed earlier */
	uint32_t runs;
};

struct pay {
	bool is_warm;
	enum pay_way way;
	uint64_t mean[PAY_WAY_COUNT]; /* ticks of a run in the best stretch; 0: not measured yet */
	uint64_t runs, ticks;	      /* counts in this stretch */
	uint64_t longest;	      /* ticks of the longest run in this stretch */
	uint32_t stretches;	      /* finished stretches in this trial */
	uint64_t stay;		      /* runs before the next trial; 0: a trial is on */
	uint64_t stay_next;
	uint64_t taking; /* cost of a checkpoint; initially a guess */
	/* A run longer than this multiple of `taking` gets a timed checkpoint. */
	uint64_t factor;
	/* ticks spent by taking timed checkpoints, and saved by using them */
	uint64_t spent, saved;
	struct pay_parting partings[PAY_PARTINGS];
	uint32_t parting_count;
	uint64_t runs_parted;
	uint8_t parting_at[PAY_ENTRIES]; /* index in partings[] plus 1, 0: not tracked */
};

void pay_begin(struct pay *pay);
/* Notes the end of a run. `ticks`: duration of the run with its restore. */
void pay_run_ended(struct pay *pay, uint64_t ticks);
/* Records the cost of a checkpoint. `is_timed`: not at a parting. */
void pay_taken(struct pay *pay, bool is_timed, uint64_t ticks);
/* Records that a timed checkpoint was dropped. `ticks`: its saving. */
void pay_dropped(struct pay *pay, uint64_t ticks);
/* Records that the run first differs from its predecessor at that entry. */
void pay_parted(struct pay *pay, uint32_t entry);
static inline bool pay_knows(const struct pay *pay, uint32_t entry)
{
	return entry < PAY_ENTRIES && pay->parting_at[entry];
}
/* Returns whether a checkpoint at a tracked entry is worth its cost. `ticks`: its saving per
 * run. */
bool pay_wants_at(const struct pay *pay, uint32_t entry, uint64_t ticks);
/* Returns whether a timed checkpoint is due. `ticks`: since the run's begin or last checkpoint. */
bool pay_wants(const struct pay *pay, uint64_t ticks);

static inline uint64_t pay_ticks(void)
{
	return __builtin_ia32_rdtsc();
}
