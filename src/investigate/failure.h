/*
 * A failing run as it was taken out of the contract: outcome, schedule and the names of its
 * threads. Plain memory of the command's; nothing refers to the guest any more.
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
	struct schedule_segment *segments; /* thread: its index in that run */
	uint32_t segment_count;
	uint64_t step_count;
	uint32_t layout;    /* memory layout of the run (model/layout.h) */
	bool is_truncated;  /* the schedule is only the beginning of the run */
	thread_name *names; /* of the threads, by index */
	uint32_t thread_count;
	uint32_t switches, preemptions;
};

/* Copies the last run out of the contract; `failure` is released first. */
void failure_take(struct failure *failure, struct contract *contract);
/* `to` is overwritten without being released. */
void failure_copy(struct failure *to, const struct failure *from);
void failure_release(struct failure *failure);

/*
 * Equal failures have equal keys: kind, code, where it happened. For a deadlock: the set of waits and their places. For a
 * lost wake-up: the object that the first waiting thread depends on. Cheap, and stable only while the target is laid out alike.
 */
uint64_t failure_key(const struct outcome *outcome);

#endif
