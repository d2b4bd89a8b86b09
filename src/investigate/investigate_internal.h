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
