/* Functions that the files of an investigation share. */
#pragma once

#include "investigate/investigate.h"

/* Does what investigate() does, but only in the memory layout of the probe's settings. */
int investigate_schedule(struct investigation *investigation, struct failure *failure,
	struct finding *finding, struct error *err);
