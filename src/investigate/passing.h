/*
 * A passing run to show beside a failing one: the failing schedule up to its last preemption, then
 * without preemptions; if that fails, too, without any from the start.
 *
 * A failure of a campaign's first run may not depend on the order of the threads. If no passing run
 * is found for such a failure, passing_try_others() executes other schedules.
 */
#pragma once

#include "investigate/probe/failure.h"
#include "investigate/probe/probe.h"
#include "findings/finding.h"

#define PASSING_RUNS 2
#define PASSING_OTHER_SCHEDULES 16

/* Fills finding->passing_...; leaves these fields unchanged where neither run passes. */
void passing_find(
	const struct probe_params *params, const struct failure *failure, struct finding *finding);

/* Executes schedules of random orders up to the first one that does not fail in the same way. If all
 * fail, fills finding->other_schedules_failed. */
void passing_try_others(
	const struct probe_params *params, const struct failure *failure, struct finding *finding);
