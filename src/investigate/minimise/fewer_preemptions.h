/*
 * Searches a schedule with fewer preemptions than a minimised one. Minimising only removes and moves
 * the switches of the schedule that was found, so a simpler schedule that looks different stays
 * unseen. Strategy `icb` (iterative context bounding, strategies/search/icb.c) makes all schedules
 * without preemptions, then those with one, and so on, up to one less than the schedule has. If the
 * schedule has many other switches, those with as many preemptions follow: one may have fewer
 * switches. The schedules have no stalls.
 */
#pragma once

#include "plan/budget.h"
#include "investigate/probe/failure.h"
#include "investigate/probe/probe.h"

/* These runs suffice to try all schedules with two preemptions of a program of a hundred steps. Fast programs
 * make them in two seconds. */
#define FEWER_PREEMPTIONS_BUDGET ((struct budget){.runs = 20000, .time_ns = UINT64_C(3000000000)})
/* The search is left out if a replay takes longer, as that of a hang does: the budget would then end
 * before the search could exclude a number of preemptions. */
#define FEWER_PREEMPTIONS_REPLAY_NS UINT64_C(500000000)

struct fewer_preemptions {
	struct probe_params probe;
	struct budget budget;
	uint64_t steps_most; /* longer runs are accepted only if they delay less */
	/* Results. */
	bool is_found; /* `failure` was replaced */
	/* the budget ended the search before all schedules with fewer preemptions were made */
	bool is_cut_off;
};

/* Has the failure more switches than its preemptions and threads explain? Each preemption needs a
 * switch away and one back, and each thread that moves one more. */
bool fewer_preemptions_has_many_switches(const struct failure *failure);

/* If the last run of `probe`, which shows the failure, has fewer preemptions, or switches, it becomes
 * `failure`. */
bool fewer_preemptions_take(
	struct fewer_preemptions *search, const struct probe *probe, struct failure *failure);

/* Errors: runs cannot be made, or were interrupted. */
int fewer_preemptions_search(
	struct fewer_preemptions *search, struct failure *failure, struct error *err);
