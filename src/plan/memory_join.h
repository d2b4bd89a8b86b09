/*
 * What several workers have learnt of memory in a round, joined, so that all of them know the same in the
 * next: of each variable who has touched it and how, of each site what it has touched. Which of them has
 * learnt what makes no difference to the result, nor does the order of workers. Between rounds: no guest moves.
 */
#ifndef RADDLE_PLAN_MEMORY_JOIN_H
#define RADDLE_PLAN_MEMORY_JOIN_H

#include <stdbool.h>

#include "abi/contract_memory.h"

/* Are there points then that there were not before? */
bool memory_join(struct contract_memory *const *blocks, unsigned count);

#endif
