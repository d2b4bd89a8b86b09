/* `raddle run --directory`: the working folder of the program. */
#pragma once

#include "base/error.h"
#include "explore/campaign.h"

struct run_folder {
	const char *directory; /* NULL means the current one */
	char *store;	       /* path of the store, in use by the options; owned */
	char *origin;	       /* the user's folder, where `directory` was entered; owned */
};

/* Changes to the program's folder. Relative paths in the options keep their meaning. */
int run_folder_enter(
	struct run_folder *folder, struct campaign_options *options, struct error *err);
void run_folder_release(struct run_folder *folder);
