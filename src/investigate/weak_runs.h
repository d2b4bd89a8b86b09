/* Runs under a memory model, made for a finding of sequentially consistent runs (OUTCOME_WEAK). */
#pragma once

#include "investigate/investigate.h"

/*
 * Explores runs under the model that permits the finding's access. Adds to the cause whether a run
 * that makes this access before the store fails. `limit_ns`: most time; 0: no further limit.
 */
int weak_runs_explore(const struct investigation *investigation, const struct failure *failure,
	uint64_t limit_ns, struct finding *finding, struct error *err);
