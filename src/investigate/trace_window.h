/*
 * Which steps of a run that is repeated are traced: all, as far as memory allows. Of an endless loop a *window* of some
 * hundred thousand steps, around what led to it: the rounds behind are all alike, and millions of them cost seconds and hundreds
 * of megabytes.
 */
#ifndef RADDLE_INVESTIGATE_TRACE_WINDOW_H
#define RADDLE_INVESTIGATE_TRACE_WINDOW_H

#include "investigate/failure.h"
#include "investigate/probe.h"
#include "findings/finding.h"

/* Room for the trace of a replay of so many steps. */
uint64_t trace_window_events(uint64_t step_count);
/* Has the replay of this failure trace what is worth it. */
void trace_window_apply(struct probe_params *params, const struct failure *failure);
/* Has a run that begins likewise, but may go on for longer, trace what is worth it. */
void trace_window_apply_passing(struct probe_params *params, const struct failure *failure);
/*
 * A run that is compared with others goes round in circles when it has more steps than this, which is at most `limit`:
 * hundreds of runs, each to the limit that makes sure of it, would take hours. It is a part of that limit more than what led to the loop,
 * and very much more than the finding's run that passed.
 */
uint64_t trace_window_loop_limit(const struct finding *finding, uint64_t limit);

#endif
