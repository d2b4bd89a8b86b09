/*
 * The cost model of checkpoints: whether taking them makes runs faster. Measured in ticks of the
 * processor's clock during the campaign. A trial alternates stretches of runs with and without
 * checkpoints; the faster mode then stays for a while. The result changes only how long runs take.
 * Plain values, in memory that survives the run.
 *
 * Two reasons lead to a checkpoint. A *parting* is an entry where a run first differs from the run
 * before it: a checkpoint there serves all runs until one differs earlier. A *timed* checkpoint is
 * taken when a run is long, while partings are unknown.
 */
#ifndef RADDLE_RUNTIME_RESTART_PAY_H
#define RADDLE_RUNTIME_RESTART_PAY_H

#include <stdbool.h>
#include <stdint.h>

enum pay_way { PAY_WITHOUT, PAY_WITH, PAY_WAY_COUNT };

/* Limits: only entries below PAY_ENTRIES are tracked as partings, and only PAY_PARTINGS of them at
 * a time. */
#define PAY_ENTRIES 4096
#define PAY_PARTINGS 64

/* An entry where runs have differed from their predecessors. A checkpoint there serves all runs
 * until one differs earlier. The counts tell how many runs that is. */
struct pay_parting {
	uint32_t entry;
	uint32_t parted; /* runs that first differed here */
	uint32_t before; /* runs that first differed earlier */
	uint32_t runs;	 /* runs since the entry is tracked */
};

struct pay {
	bool is_warm;		      /* the first run is over */
	enum pay_way way;	      /* mode of the current runs */
	uint64_t mean[PAY_WAY_COUNT]; /* Ticks of a run in the best stretch; 0: not measured yet. */
	uint64_t runs, ticks;	      /* in this stretch */
	uint64_t longest;	      /* ticks of the longest run in this stretch */
	uint32_t stretches;	      /* finished stretches of this trial */
	uint64_t stay;		      /* runs before the next trial; 0: a trial is on */
	uint64_t stay_next;
	uint64_t taking; /* ticks that taking a checkpoint costs; initially a guess */
	/* A checkpoint is taken when a run is longer than this multiple of `taking`. */
	uint64_t factor;
	uint64_t spent, saved; /* ticks spent on taking timed checkpoints, and saved by them */
	struct pay_parting partings[PAY_PARTINGS];
	uint32_t parting_count;
	uint64_t runs_parted;
	uint8_t parting_at[PAY_ENTRIES]; /* index in partings[] plus 1, 0: not tracked */
};

void pay_begin(struct pay *pay);
/* Records a finished run. `ticks`: its duration, including its restore. */
void pay_run_ended(struct pay *pay, uint64_t ticks);
/* Records that a checkpoint was taken, and how long that took. `is_timed`: because the run was
 * long, not at a parting. */
void pay_taken(struct pay *pay, bool is_timed, uint64_t ticks);
/* Records that a timed checkpoint was dropped. `ticks`: what it has saved. */
void pay_dropped(struct pay *pay, uint64_t ticks);
/* Records that a run first differs from its predecessor at that entry. */
void pay_parted(struct pay *pay, uint32_t entry);
/* True when the entry is tracked as a parting. */
static inline bool pay_knows(const struct pay *pay, uint32_t entry)
{
	return entry < PAY_ENTRIES && pay->parting_at[entry];
}
/* True when a checkpoint at a tracked entry is worth its cost. `ticks`: what it saves each run that
 * begins there. */
bool pay_wants_at(const struct pay *pay, uint32_t entry, uint64_t ticks);
/* True when a timed checkpoint is due. `ticks`: duration of the run since its begin or its last
 * checkpoint. */
bool pay_wants(const struct pay *pay, uint64_t ticks);

static inline uint64_t pay_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

#endif
