/*
 * The step from noted facts about memory to the next version of the knowledge (contract_memory.h).
 *
 * With rounds (docs/decisions/0009-rounds.md), the command joins the facts that all worker processes
 * have noted, and settles them between two rounds (plan/memory/memory_join.h). All processes then have the
 * same versions. Without rounds, each process settles its own facts before its next run
 * (memory_prepare_run()). No run is in progress in the process during the call.
 */
#pragma once

#include "abi/contract_memory.h"

/* Makes variables that threads share points, and variables that have raced racy. Returns whether any
 * variable has changed in this way. */
bool memory_settle(struct contract_memory *memory);

/* Called when the next runs examine the new points: a site without a point may have touched one of
 * them before, and stays on until it has executed again. */
void memory_forget_seen_sites(struct contract_memory *memory);
