/*
 * The step from noted facts about memory to the next version of the knowledge (contract_memory.h).
 *
 * Where workers make runs in rounds, the command joins the facts of all processes and settles them
 * between two rounds (plan/memory_join.h); the numbers of versions then agree in all processes.
 * Elsewhere runs follow one another in one process, and memory_prepare_run() settles what the last
 * run has noted. No run is in progress in this process meanwhile.
 */
#pragma once

#include "abi/contract_memory.h"

/* Makes variables that threads share points, and variables that have raced racy. Returns whether any
 * variable has changed in this way. */
bool memory_settle(struct contract_memory *memory);

/* Called when the next runs examine the new points: a site without a point may have touched one of
 * them before, and stays on until it has executed again. */
void memory_forget_seen_sites(struct contract_memory *memory);
