/* What the files of an investigation share. */
#ifndef RADDLE_CAMPAIGN_INVESTIGATE_INTERNAL_H
#define RADDLE_CAMPAIGN_INVESTIGATE_INTERNAL_H

#include "campaign/investigate.h"

/*
 * Of a failure in another layout than the plain one: where its schedule fails in the plain layout, too, the failure and the
 * probe have the plain layout from here on. `plain` is the caller's and must live as long as the probe is used.
 */
int investigate_plain_layout(struct investigation *investigation, struct failure *failure,
	struct settings *plain, struct error *err);
/* Adds to the finding's detail that it needs its layout; nothing where the layout is the plain one. */
void investigate_describe_layout(struct finding *finding);

#endif
