/*
 * Sampling in profiling runs, which have all sites on. In a run of many accesses, a site that has
 * executed often without an access to a point *rests*: its instruction is a no-op again. All
 * resting sites are on again for a few accesses each when another thread makes its first access,
 * and at steps whose numbers double. Some profiling runs of a campaign are not sampled, so that
 * each site is seen to touch each point in the end.
 *
 * The accesses of a site that has rested are no scheduling points for the rest of the run, and
 * SITE_ON is clear. A replay, which leaves the site off from the beginning, has the same points:
 * the site had touched none before. The decisions depend on the run alone.
 */
#pragma once

#include "abi/contract_memory.h"

void sampling_begin_run(void);
/* Called for accesses that the thunk does not pass; `state`: site_state(). General registers only. */
void sampling_note(const struct site_record *record, uint8_t *state);
/* The site has accessed a point: it does not rest in this run. */
void sampling_keep(struct contract_memory *memory, const uint8_t *state);
