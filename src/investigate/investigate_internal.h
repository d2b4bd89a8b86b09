/* Functions that the files of an investigation share. */
#ifndef RADDLE_INVESTIGATE_INVESTIGATE_INTERNAL_H
#define RADDLE_INVESTIGATE_INVESTIGATE_INTERNAL_H

#include "investigate/investigate.h"

/* Does what investigate() does, but only in the memory layout of the probe's settings. */
int investigate_schedule(struct investigation *investigation, struct failure *failure,
	struct finding *finding, struct error *err);

#endif
