/*
 * The traced steps of a repeated run. The trace has all steps that memory allows. For an endless
 * loop, it has a *window* of some hundred thousand steps around the loop's beginning.
 */
#pragma once

#include "investigate/probe/failure.h"
#include "investigate/probe/probe.h"
#include "findings/finding.h"

/* Trace events to reserve for a replay of that many steps. */
uint64_t trace_window_events(uint64_t step_count);
void trace_window_apply(struct probe_params *params, const struct failure *failure);
/* Sets the trace fields of `params` for a run that begins like the failure and may be longer. */
void trace_window_apply_passing(struct probe_params *params, const struct failure *failure);
/*
 * Returns the number of steps, at most `limit`, after which a run counts as an endless loop. The
 * number is beyond the finding's loop, and a large multiple of the passing run's length.
 */
uint64_t trace_window_loop_limit(const struct finding *finding, uint64_t limit);
