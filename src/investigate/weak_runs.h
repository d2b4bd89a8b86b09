/* Runs under a memory model, made for a finding of sequentially consistent runs (OUTCOME_WEAK). */
#pragma once

#include "investigate/investigate.h"
#include "plan/memory/memory_view.h"

struct weak_runs {
	struct settings settings; /* of these runs: the model that permits the finding's access */
	uint64_t made;
	uint64_t weak; /* runs that made the access before the store */
	/* such a run that failed, with its view of memory; outcome.kind OUTCOME_NONE: none did */
	struct failure shown;
	struct memory_view memory;
};

/*
 * Explores runs under the model that permits the access of this failure, up to the first run that makes
 * the access before the store and fails. An error leaves nothing to release.
 */
int weak_runs_explore(struct weak_runs *runs, const struct investigation *investigation,
	const struct failure *failure, struct error *err);
void weak_runs_release(struct weak_runs *runs);
static inline bool weak_runs_failed(const struct weak_runs *runs)
{
	return runs->shown.outcome.kind != OUTCOME_NONE;
}
/* Adds to the cause whether a run that makes the access before the store fails. */
void weak_runs_describe(const struct weak_runs *runs, struct finding *finding);
