/*
 * A failing run, copied from the contract: outcome, schedule and thread names. The command owns all
 * of its memory; nothing refers to the target.
 */
#ifndef RADDLE_INVESTIGATE_FAILURE_H
#define RADDLE_INVESTIGATE_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/outcome.h"
#include "model/schedule.h"
#include "abi/contract.h"

/* All zero: empty. */
struct failure {
	struct outcome outcome;
	uint64_t run_number;
	struct schedule_segment *segments; /* thread: index in that run */
	uint32_t segment_count;
	uint64_t step_count;
	uint32_t layout;    /* memory layout of the run (model/layout.h) */
	bool is_truncated;  /* the schedule is only the beginning of the run */
	thread_name *names; /* of the threads, by index */
	uint32_t thread_count;
	uint32_t switches, preemptions;
};

/* Copies the last run from the contract; releases the previous content of `failure` first. */
void failure_take(struct failure *failure, struct contract *contract);
/* Overwrites `to` without releasing it. */
void failure_copy(struct failure *to, const struct failure *from);
void failure_release(struct failure *failure);

/*
 * Key under which equal failures are equal: outcome kind, code and place. For a deadlock: the set
 * of waits and their places. For a lost wake-up: the object that the first waiting thread depends
 * on. Cheap, and stable only while the target keeps its addresses.
 */
uint64_t failure_key(const struct outcome *outcome);

#endif
