/* What chosen.c (sites of variables that the user names) and chosen_groups.c (of any) share. */
#ifndef RADDLE_CAMPAIGN_CHOSEN_INTERNAL_H
#define RADDLE_CAMPAIGN_CHOSEN_INTERNAL_H

#include "bitcode/bitcode.h"
#include "campaign/chosen.h"

/* `chosen` holds the modules of the files that were analysed. */
void chosen_write_groups(const struct chosen *chosen, const struct points_to *result,
	struct contract_memory *memory);

#endif
