/*
 * Speculative runs of minimising. While one probe tries the current candidate, others try the
 * candidates that follow if the current one is rejected. Each has the run number that it would have
 * had. The minimised schedule is that of a single probe.
 *
 * One probe makes all runs that take less than PARALLEL_FROM_NS, because the transfer costs more than
 * the run. The probes' memory views are frozen.
 *
 * Processes that run side by side may disturb each other, for example by a file or port: the caller
 * confirms the result without concurrent probes.
 */
#pragma once

#include "investigate/minimise/minimise.h"

#define TRIES_MOST 16u /* probes; candidates are accepted too often for more to be useful */

enum try_state { TRY_FREE, TRY_BUSY, TRY_DONE, TRY_SPOILT };

struct try_slot {
	struct probe opened;
	struct probe *probe; /* `opened`, or the minimiser's own probe */
	enum try_state state;
	bool is_stale;		 /* the candidate it runs is no longer needed */
	uint64_t number, digest; /* number of its run, digest of its plan */
	uint64_t begun_ns;
};

struct tries {
	const struct probe_params *params;
	/* Additional probes are opened once the runs are known to be long enough. */
	uint32_t wanted, count;
	uint64_t parallel_from_ns; /* least duration of a run that justifies side-by-side probes */
	bool is_on, has_failed;
	uint64_t runs, runs_ns; /* made by the single probe before */
	uint64_t ahead_runs;	/* speculative runs whose result was used */
	struct try_slot slots[TRIES_MOST];
	struct minimise_ahead ahead; /* argument of minimise_params */
};

/* `params` must outlive `tries`. Starts no process. */
void tries_init(struct tries *tries, const struct probe_params *params, uint32_t slots);
void tries_release(struct tries *tries);
