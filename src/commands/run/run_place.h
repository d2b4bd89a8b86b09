/* `raddle run --directory`: where the program is run. */
#ifndef RADDLE_COMMANDS_RUN_RUN_PLACE_H
#define RADDLE_COMMANDS_RUN_RUN_PLACE_H

#include "base/error.h"
#include "explore/campaign.h"

struct run_place {
	const char *directory; /* NULL: here */
	char *store;	       /* owned: of the options */
};

/* Goes there; what the options name relative to where we were is meant as before. */
int run_place_enter(struct run_place *place, struct campaign_options *options, struct error *err);
void run_place_release(struct run_place *place);

#endif
