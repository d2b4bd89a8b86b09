/*
 * Minimising a failing schedule: the same failure with as few preemptions, then as few context
 * switches, as can be found. Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating
 * Failure-Inducing Input", IEEE TSE 2002) over *directives*: switches that stay meaningful when
 * others are taken away, see strategies/replay.h. What is kept in the end is the schedule that the
 * best run really had, so it replays exactly.
 *
 * Deviations from ddmin: a smaller set is taken only if the run it gives is no worse in preemptions
 * and switches (a set can shrink while the run gets longer); the schedule is cut off at one point
 * first, because most failures need only a prefix; and between rounds whole segments are moved and
 * dropped, because directives can only be taken away.
 */
#ifndef RADDLE_INVESTIGATE_MINIMISE_H
#define RADDLE_INVESTIGATE_MINIMISE_H

#include "plan/budget.h"
#include "investigate/failure.h"
#include "investigate/probe.h"

struct minimise_progress {
	uint64_t runs;
	uint32_t preemptions, switches; /* of the best run so far */
};

/*
 * The candidates that are tried one after the other for as long as none of them is taken, from the one whose turn it is
 * (0), which is the run of that number.
 */
struct minimise_course {
	uint64_t number;
	void *context;
	/* False: there are not so many. The plan is good until the next call. */
	bool (*plan)(void *context, uint32_t ahead, struct probe_plan *plan);
};

/* Makes runs before their turn has come (tries.h). What comes of a candidate does not depend on who makes its run. */
struct minimise_ahead {
	void *context;
	/* As probe_run() of candidate 0, by `own` or another probe: *made. */
	int (*run)(void *context, struct probe *own, const struct minimise_course *course,
		struct probe **made, struct error *err);
	/* Candidates behind the last one are others now. */
	void (*turn)(void *context);
};

struct minimise_params {
	const struct minimise_ahead *ahead; /* NULL: each run is made when its turn has come */
	struct probe_params probe;	    /* with the fastest restart that works for the target */
	struct budget budget;
	/* What the last run must have shown to be taken; NULL: the failure again. */
	bool (*shows)(void *shows_context, const struct probe *probe);
	void *shows_context;
	void (*progress)(void *context, const struct minimise_progress *progress); /* or NULL */
	void *context;
};

/*
 * People wait for it: a few seconds, and on a fast restart all the runs that are of use. A schedule of
 * hundreds of preemptions, on the other hand, takes some hundred runs to become one that can be read:
 * that is worth a minute.
 */
#define MINIMISE_BUDGET                                                                            \
	((struct budget){.runs = 5000,                                                             \
		.time_ns = UINT64_C(10000000000),                                                  \
		.slow_runs = 300,                                                                  \
		.slow_time_ns = UINT64_C(60000000000)})

/*
 * Replaces `failure` by the best one found, which may be itself. *is_minimal: no single switch can
 * be taken away; false where the budget ended first. Fails only where runs cannot be made at all
 * (or are interrupted); then `failure` is the best one so far all the same.
 */
int minimise(struct failure *failure, const struct minimise_params *params, bool *is_minimal,
	struct error *err);

#endif
