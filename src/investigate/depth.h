/*
 * Measures bug depth and radius of a failing schedule. The depth is the number of priority changes
 * that the failure needs, plus one (Burckhardt et al., ASPLOS 2010). The radius is the number of
 * lock acquisitions between the first and the last one (Cai and Yang, ASE 2016).
 *
 * The measurement re-executes the schedule with all the priority changes (identifier `fall`) that
 * reproduce it, and removes them as long as the failure still shows. A smaller set may exist: the
 * depth is an upper bound.
 */
#pragma once

#include "plan/budget.h"
#include "investigate/probe/failure.h"
#include "investigate/probe/probe.h"

struct depth_params {
	struct probe_params probe; /* restart: the fastest one that works for the target */
	struct budget budget;
};

struct depth {
	uint32_t depth;	 /* 0: unknown, no priority schedule shows the failure */
	uint32_t radius; /* 0 where depth is below 3 */
};

/*
 * Lowers *depth (0: unknown), as far as the budget allows. The run of the smallest set replaces
 * `failure` if it has fewer preemptions, then context switches. Errors: runs cannot be made, or
 * were interrupted.
 */
int depth_measure(struct depth *depth, struct failure *failure, const struct depth_params *params,
	struct error *err);

/*
 * Discards a depth above one more than the failure's preemptions. Each preemption needs one priority
 * change at most; a larger set of changes is no bound that helps beside the schedule.
 */
void depth_fit_to_schedule(struct depth *depth, const struct failure *failure);
