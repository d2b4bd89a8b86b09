/*
 * A passing run to show beside a failing one: the failing schedule up to its last preemption, then
 * without preemptions; if that fails, too, without any from the start.
 */
#pragma once

#include "investigate/probe/failure.h"
#include "investigate/probe/probe.h"
#include "findings/finding.h"

#define PASSING_RUNS 2

/* Fills finding->passing_...; leaves these fields unchanged where neither run passes. */
void passing_find(
	const struct probe_params *params, const struct failure *failure, struct finding *finding);
