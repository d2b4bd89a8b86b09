/* The state of analysis `atomicity`, for who shows what was inferred. */
#ifndef RADDLE_ANALYSES_ATOMICITY_H
#define RADDLE_ANALYSES_ATOMICITY_H

#include "analyses/analysis.h"
#include "analyses/atomic_sets.h"

/* Of the state that begin() gave; with what the runs so far have shown. */
const struct atomic_sets *atomicity_sets(const void *state);

/*
 * The violations that a run itself shows, added to `out`; `only_key`: this one only, 0: all. For who
 * watches runs instead of predicting, and for who drove one towards a candidate.
 */
int atomicity_shown(void *state, struct trace_reader *trace, const struct analysis_run *run,
	uint64_t only_key, struct candidates *out, struct error *err);

#endif
