/*
 * A run that passes, to be shown beside one that fails: it begins likewise, and goes on without preemptions from
 * the last one of the failing run on; where that fails, too, from the start.
 */
#ifndef RADDLE_INVESTIGATE_PASSING_H
#define RADDLE_INVESTIGATE_PASSING_H

#include "investigate/failure.h"
#include "investigate/probe.h"
#include "findings/finding.h"

/* So many runs at most. */
#define PASSING_RUNS 2

/* Fills finding->passing_..., or leaves it as it is: not every program passes by such a schedule. */
void passing_find(
	const struct probe_params *params, const struct failure *failure, struct finding *finding);

#endif
