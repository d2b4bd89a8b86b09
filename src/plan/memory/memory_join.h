/*
 * Merges the knowledge of several workers about shared memory between rounds. This is, for each
 * variable, the threads that touched it and how; for each site, the kinds of memory that it
 * touched. The result depends neither on the order of workers nor on which worker has learnt a
 * fact. Guests do not run during the merge.
 */
#pragma once

#include <stdbool.h>

#include "abi/memory_settle.h"

/*
 * Settles the merged facts as the next version of each block (abi/memory_settle.h). Returns true if
 * the version has new memory points.
 *
 * If the round has found more variables than the table holds, which of them found room depends on
 * the order of the runs in each worker. All of them are then dropped, and the table is closed. The
 * variables of a round of one run (`is_one_run`) are kept as far as there is room.
 */
bool memory_join(struct contract_memory *const *blocks, unsigned count, bool is_one_run);
