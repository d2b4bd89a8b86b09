/* A failing run, copied from the contract. Owns its memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/outcome/failure_key.h"
#include "model/outcome/outcome.h"
#include "model/schedule.h"
#include "abi/contract.h"

/* All zero: empty. */
struct failure {
	struct outcome outcome;
	uint64_t run_number;
	struct schedule_segment *segments; /* thread: index in that run */
	uint32_t segment_count;
	uint64_t step_count;
	uint32_t layout; /* memory layout of the run (model/memory/layout.h) */
	enum interruption_points interruption_points; /* of the run */
	bool is_truncated;  /* the schedule is only the beginning of the run */
	thread_name *names; /* names of the threads, by index */
	uint32_t thread_count;
	uint32_t switches, preemptions;
	uint64_t window_steps;	/* of others between preemptions and the next step of the thread */
	uint32_t delayed_count; /* model/memory_model.h */
	uint32_t stall_count;	/* model/stall.h */
	uint64_t stalled_ns;	/* sum of the stalls */
	uint32_t stalled_threads; /* sum of the threads of each stall */
	/* Sites of a weak access that a simpler run must make, too, and of the store that it does not
	 * see; 0: none (investigate/weak_runs.h). */
	uint64_t weak_site, unseen_site;
};

/* Releases the previous content of `failure` first. */
void failure_take(struct failure *failure, struct contract *contract);
/* Overwrites `to` without releasing it. */
void failure_copy(struct failure *to, const struct failure *from);
void failure_release(struct failure *failure);

/* Returns whether the run made the failure's weak access, if the failure names one. */
bool failure_has_weak_access(const struct failure *failure, const struct delayed_stores *stores);

/* A negative result means that `a` is simpler. Compares by the number of delayed stores, then of
 * stalls, their duration, then the stalled threads. */
int failure_compare_delays(const struct failure *a, const struct failure *b);
/* Does the same; without a difference, compares preemptions, then context switches. */
int failure_compare_cost(const struct failure *a, const struct failure *b);
/* Returns the step at which a run may end that shows the failure in at most `steps_most` steps; 0: a
 * longer run counts as well. */
uint64_t failure_step_limit(const struct failure *failure, uint64_t steps_most);
/* Returns the number of steps that a schedule has before its last time slice (uninterrupted steps of one thread). If a run
 * ends at the limit of steps because one thread repeats a loop, the loop lies in that slice. */
uint64_t failure_loop_start(const struct schedule_segment *segments, uint32_t count);
