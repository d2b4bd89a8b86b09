/* Queries on the state of analysis `atomicity`. */
#ifndef RADDLE_ANALYSES_ATOMICITY_H
#define RADDLE_ANALYSES_ATOMICITY_H

#include "analyses/analysis.h"
#include "analyses/atomic_sets.h"

/* The inferred sets. `state`: the result of begin(), with all runs added so far. */
const struct atomic_sets *atomicity_sets(const void *state);

/* Adds the violations that the run itself shows; `only_key`: only this one, 0: all. */
int atomicity_shown(void *state, struct trace_reader *trace, const struct analysis_run *run,
	uint64_t only_key, struct candidates *out, struct error *err);

#endif
