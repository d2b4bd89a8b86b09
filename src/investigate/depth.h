/*
 * How deep and how wide a failure really is, in the terms of the strategies that promise something:
 * its *depth* is one more than the falls of a priority that it needs (Burckhardt et al., ASPLOS
 * 2010), its *radius* how many acquisitions of locks lie between the first and the last of them (Cai
 * and Yang, ASE 2016). Measured on a failing schedule: it is run again by priorities, with all the
 * falls that make it the same run, and then with fewer and fewer of them.
 *
 * No search is complete: both numbers are those of the least set of falls that was found, and no
 * single one of that set can be taken away. So the depth is an upper bound.
 */
#ifndef RADDLE_INVESTIGATE_DEPTH_H
#define RADDLE_INVESTIGATE_DEPTH_H

#include "plan/budget.h"
#include "investigate/failure.h"
#include "investigate/probe.h"

struct depth_params {
	struct probe_params probe; /* with the fastest restart that works for the target */
	struct budget budget;
};

struct depth {
	uint32_t depth;	 /* 0: not known, the failure does not show by priorities */
	uint32_t radius; /* 0 where depth is below 3 */
};

/*
 * Where the budget ends first, *depth stays as it was: a number that was not worked out says nothing.
 * *depth, which may be known already, becomes what is found where that is less. `failure` becomes the run that those falls give, where that has fewer preemptions. Fails only where
 * runs cannot be made at all, or are interrupted.
 */
int depth_measure(struct depth *depth, struct failure *failure, const struct depth_params *params,
	struct error *err);

#endif
