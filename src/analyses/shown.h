/* Functions that find the candidates shown by one run. `--method monitor` watches random runs with
 * them; directed runs are checked by them. */
#pragma once

#include <stdbool.h>

#include "analyses/analysis.h"
#include "analyses/units/atomic_sets.h"
#include "trace/trace_reader.h"

/* Returns whether two threads were at the candidate's accesses to the same memory at the same
 * time. */
int races_shown(struct trace_reader *trace, const struct candidate *candidate, bool *is_shown,
	struct error *err);
/* Adds the violations that the run itself shows; `only_key`: only this one, 0: all. */
int atomicity_shown(void *state, struct trace_reader *trace, const struct analysis_run *run,
	uint64_t only_key, struct candidates *out, struct error *err);
/* Does for lock windows what atomicity_shown() does for violations. */
int lock_windows_shown(struct trace_reader *trace, const struct analysis_run *run,
	uint64_t only_key, struct candidates *out, struct error *err);

/* Returns the inferred sets. `state`: that of analysis `atomicity`, with all runs added so far. */
const struct atomic_sets *atomicity_sets(const void *state);
