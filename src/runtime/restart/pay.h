/*
 * Do checkpoints pay? Measured in ticks of the processor's clock while the campaign goes on: stretches of
 * runs with them and without are compared, and the better way is kept for a while. Changes how long
 * runs take, and nothing else. Plain values, in memory that survives the run.
 */
#ifndef RADDLE_RUNTIME_RESTART_PAY_H
#define RADDLE_RUNTIME_RESTART_PAY_H

#include <stdbool.h>
#include <stdint.h>

enum pay_way { PAY_WITHOUT, PAY_WITH, PAY_WAY_COUNT };

/* Of so many entries of a run it can be known how they fare, at most of so many at a time. */
#define PAY_ENTRIES 4096
#define PAY_PARTINGS 64

/*
 * An entry where runs have parted from the ones before them. A checkpoint there serves all runs until one parts
 * before it: how many that are shows in how often that has happened.
 */
struct pay_parting {
	uint32_t entry;
	uint32_t parted; /* runs that parted there, */
	uint32_t before; /* and before it, */
	uint32_t runs;	 /* of so many since it is known */
};

struct pay {
	bool is_warm;		      /* the first run is over */
	enum pay_way way;	      /* of the runs at hand */
	uint64_t mean[PAY_WAY_COUNT]; /* ticks of a run at best; 0: not measured yet */
	uint64_t runs, ticks;	      /* of this stretch */
	uint64_t longest;	      /* of its runs */
	uint32_t stretches;	      /* of this trial that are over */
	uint64_t stay;		      /* runs before the next trial; 0: this is one */
	uint64_t stay_next;
	uint64_t taking; /* ticks that it takes to make a checkpoint; a guess at first */
	uint64_t factor; /* a checkpoint is made when a run has gone on so many times longer */
	uint64_t spent, saved; /* ticks: on making checkpoints, by going on from them */
	struct pay_parting partings[PAY_PARTINGS];
	uint32_t parting_count;
	uint64_t runs_parted;
	uint8_t parting_at[PAY_ENTRIES]; /* its place among these plus 1, 0: none */
};

void pay_begin(struct pay *pay);
/* A run is over, with all that had to be done for it. */
void pay_run_ended(struct pay *pay, uint64_t ticks);
/* A checkpoint was made, because of the time or where runs part, and how long that took. */
void pay_taken(struct pay *pay, bool is_timed, uint64_t ticks);
/* One that was made because of the time is gone; by the runs that began there it has saved so much. */
void pay_dropped(struct pay *pay, uint64_t ticks);
/* A run parts from the last one at that entry. */
void pay_parted(struct pay *pay, uint32_t entry);
/* Have runs parted there? */
static inline bool pay_knows(const struct pay *pay, uint32_t entry)
{
	return entry < PAY_ENTRIES && pay->parting_at[entry];
}
/* Is it worth to make one at an entry that is known, if that saves so much to each run that begins there? */
bool pay_wants_at(const struct pay *pay, uint32_t entry, uint64_t ticks);
/* A run has gone on for so long since it began or a checkpoint was made: is it time for one? */
bool pay_wants(const struct pay *pay, uint64_t ticks);

static inline uint64_t pay_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

#endif
