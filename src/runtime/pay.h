/*
 * Do checkpoints pay? Measured in ticks of the processor's clock while the campaign goes on: stretches of
 * runs with them and without are compared, and the better way is kept for a while. Changes how long
 * runs take, and nothing else. Plain values, in memory that survives the run.
 */
#ifndef RADDLE_RUNTIME_PAY_H
#define RADDLE_RUNTIME_PAY_H

#include <stdbool.h>
#include <stdint.h>

enum pay_way { PAY_WITHOUT, PAY_WITH, PAY_WAY_COUNT };

#define PAY_HEIGHTS 64
/* From here on: of checkpoints that were made ahead, where runs have parted before. */
#define PAY_AHEAD 32

/*
 * Checkpoints that were made where a run left the last one, or may be left, by their *height*: how much of the run
 * that was, as a logarithm. The higher, the more runs of a depth-first search pass through.
 */
struct pay_height {
	uint64_t asked, dropped;
	uint64_t saved; /* ticks by each in the mean, beyond what the checkpoint below saves */
};

struct pay {
	bool is_warm;		      /* the first run is over */
	enum pay_way way;	      /* of the runs at hand */
	uint64_t mean[PAY_WAY_COUNT]; /* ticks of a run at best; 0: not measured yet */
	uint64_t runs, ticks;	      /* of this stretch */
	uint32_t stretches;	      /* of this trial that are over */
	uint64_t stay;		      /* runs before the next trial; 0: this is one */
	uint64_t stay_next;
	uint64_t taking; /* ticks that it takes to make a checkpoint; 0: not known */
	uint64_t factor; /* a checkpoint is made when a run has gone on so many times longer */
	uint64_t spent, saved; /* ticks: on making checkpoints, by going on from them */
	struct pay_height heights[PAY_HEIGHTS]; /* 0: those that were made because of the time */
};

void pay_begin(struct pay *pay);
/* A run is over, with all that had to be done for it. */
void pay_run_ended(struct pay *pay, uint64_t ticks);
/* A checkpoint of that height was made, and how long that took. */
void pay_taken(struct pay *pay, uint32_t height, uint64_t ticks);
/* A checkpoint of that height is gone; by the runs that began there it has saved so much. */
void pay_dropped(struct pay *pay, uint32_t height, uint64_t ticks);
/* Where so many decisions of the last run are not made again. */
uint32_t pay_height(uint32_t decisions);
/* Is it worth to make one of that height? */
bool pay_wants_here(struct pay *pay, uint32_t height);
/* A run has gone on for so long since it began or a checkpoint was made: is it time for one? */
bool pay_wants(const struct pay *pay, uint64_t ticks);

static inline uint64_t pay_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

#endif
