/* What the files of an investigation share. */
#ifndef RADDLE_CAMPAIGN_INVESTIGATE_INTERNAL_H
#define RADDLE_CAMPAIGN_INVESTIGATE_INTERNAL_H

#include "campaign/investigate.h"

/* As investigate(), in the layout of memory that the probe's settings have. */
int investigate_schedule(struct investigation *investigation, struct failure *failure,
	struct finding *finding, struct error *err);

#endif
