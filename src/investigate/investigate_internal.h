/* Functions that the files of an investigation share. */
#pragma once

#include "investigate/investigate.h"

/* Does what investigate() does, but only in the memory layout of the probe's settings. */
int investigate_schedule(struct investigation *investigation, struct failure *failure,
	struct finding *finding, struct error *err);

/*
 * If the failing run knew no shared memory, repeats it with that knowledge: `failure` becomes the run
 * with accesses, and the probe's memory `learnt`, which the caller releases after the investigation.
 * Otherwise, and if the failure differs, nothing changes.
 */
int investigate_with_accesses(struct investigation *investigation, struct failure *failure,
	struct memory_view *learnt, struct error *err);

/* Sets settings->interruption_points for the investigation. If the same order of operations fails without wake
 * points, `failure` becomes that run. */
int investigate_interruption_points(const struct investigation *investigation,
	struct failure *failure, struct settings *settings, struct error *err);

bool investigate_has_time_for(const struct investigation *investigation, uint32_t runs);

/* Returns the time limit in ns of one run that is made to investigate a failure. The limit is several times the duration
 * of a replay and at least `least_ns`, but never above the limit that holds for all runs of the investigation. */
uint64_t investigate_run_limit(const struct investigation *investigation, uint64_t least_ns);
/* If the minimised schedule does not repeat, the one that was found is kept. */
int investigate_minimise_and_confirm(
	struct investigation *investigation, struct failure *failure, struct error *err);
