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
};

void pay_begin(struct pay *pay);
/* A run is over, with all that had to be done for it. */
void pay_run_ended(struct pay *pay, uint64_t ticks);
/* A checkpoint was made, and how long that took. */
void pay_taken(struct pay *pay, uint64_t ticks);
/* A run has begun at a checkpoint and has not repeated what took so long. */
void pay_resumed(struct pay *pay, uint64_t ticks);
/* A run has gone on for so long since it began or a checkpoint was made: is it time for one? */
bool pay_wants(const struct pay *pay, uint64_t ticks);

static inline uint64_t pay_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

#endif
