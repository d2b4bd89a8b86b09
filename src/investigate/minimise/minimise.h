/*
 * Minimises a failing schedule. The result shows the same failure with as few and as short stalls,
 * then as few preemptions, then as few context switches, as the search finds. A run becomes longer
 * only if it needs fewer or shorter stalls. The method is delta debugging (Zeller and Hildebrandt,
 * "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 2002) over blocks of segments
 * (coalesce.h). The result is the recorded schedule of the best run, and replays exactly.
 *
 * Deviations from ddmin:
 * - A block is not removed. The steps of each thread in it are joined.
 * - A change is accepted only if the run has fewer preemptions or switches than the best run.
 * - Of runs with equal numbers of both, the one with fewer steps of other threads inside its
 *   preemptions is better. The report names what happens there.
 * - The schedule is first cut at one point, because most failures need only a prefix.
 * - A run with stalls is replaced by one without, if random runs show the same failure.
 * - At the end single segments are moved and dropped (moves.h).
 */
#pragma once

#include "plan/budget.h"
#include "investigate/probe/failure.h"
#include "investigate/probe/probe.h"

struct minimise_progress {
	uint64_t runs;
	uint32_t preemptions, switches; /* counts of the best run so far */
};

/* Candidates to try until one is accepted. Candidate 0, with run number `number`, is tried now. */
struct minimise_sequence {
	uint64_t number;
	void *context;
	/* Makes the plan of candidate `ahead`, valid until the next call. Returns false if there is
	 * no candidate. */
	bool (*plan)(void *context, uint32_t ahead, struct probe_plan *plan);
};

/* Speculative runs of later candidates (tries.h); results do not depend on the probe. */
struct minimise_ahead {
	void *context;
	/* Does what probe_run() does for candidate 0, with `own` or another probe; *made receives
	 * the probe. */
	int (*run)(void *context, struct probe *own, const struct minimise_sequence *sequence,
		struct probe **made, struct error *err);
	/* A candidate was accepted: the later ones have changed. */
	void (*turn)(void *context);
	/* Called before `own` is closed: ends the runs of all probes. A later run() starts anew. */
	void (*end)(void *context);
};

struct minimise_params {
	const struct minimise_ahead *ahead; /* NULL if there are no speculative runs */
	/* restart: the fastest one that works for the target */
	struct probe_params probe;
	struct budget budget;
	/* Decides whether the last run counts as the failure. NULL means probe_shows(). */
	bool (*shows)(void *shows_context, const struct probe *probe);
	void *shows_context;
	void (*progress)(void *context, const struct minimise_progress *progress); /* may be NULL */
	void *context;
};

/*
 * A few seconds suffice where the restart is fast. Hundreds of preemptions need some hundred runs
 * to become readable: a minute of slow runs.
 */
#define MINIMISE_BUDGET                                                                            \
	((struct budget){.runs = 5000,                                                             \
		.time_ns = UINT64_C(10000000000),                                                  \
		.slow_runs = 300,                                                                  \
		.slow_time_ns = UINT64_C(60000000000)})

/*
 * `failure` becomes the best run so far. *incomplete: NULL if no single context switch can be
 * removed, otherwise the reason why that is unknown (a constant).
 * Errors: runs cannot be made, or were interrupted.
 */
int minimise(struct failure *failure, const struct minimise_params *params, const char **incomplete,
	struct error *err);
