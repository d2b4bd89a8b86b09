/*
 * Decides which steps of a repeated run are traced: all of them, as far as memory allows. For an
 * endless loop a *window* of some hundred thousand steps around the beginning of the loop is
 * enough. Later iterations are equal, and tracing millions of them costs seconds and hundreds of
 * megabytes.
 */
#ifndef RADDLE_INVESTIGATE_TRACE_WINDOW_H
#define RADDLE_INVESTIGATE_TRACE_WINDOW_H

#include "investigate/failure.h"
#include "investigate/probe.h"
#include "findings/finding.h"

/* Trace events to reserve for a replay of that many steps. */
uint64_t trace_window_events(uint64_t step_count);
/* Sets the trace fields of `params` for a replay of this failure. */
void trace_window_apply(struct probe_params *params, const struct failure *failure);
/* Sets the trace fields of `params` for a run that begins like the failure and may be longer. */
void trace_window_apply_passing(struct probe_params *params, const struct failure *failure);
/*
 * Number of steps, at most `limit`, after which a run counts as an endless loop. Use it for runs
 * that are compared with the finding's run: hundreds of runs to the full limit would take hours.
 * The result is a fraction of `limit` beyond the step where the loop begins. It is also a large
 * multiple of the length of the finding's passing run.
 */
uint64_t trace_window_loop_limit(const struct finding *finding, uint64_t limit);

#endif
