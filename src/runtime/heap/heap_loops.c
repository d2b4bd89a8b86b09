/*
 * Loop numbers: the how-many-th block it is that its call stack allocated (Bindal, Bansal, Lal 2012,
 * figure 5). Counted only for strategies that ask for places, as each allocation then costs a walk up
 * the stack. The counts are private memory at the heap's fixed place, put back before each run.
 */
#include "base/hash.h"
#include "engine/engine.h"
#include "runtime/heap/heap_internal.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "strategies/strategy.h"

#define CALLERS 12 /* deeper recursion is taken for one loop */

/* Set once; slots of stacks whose hashes collide count as one. */
static uint8_t *loop_counts;

void heap_loops_set_up(uint8_t *counts)
{
	loop_counts = counts;
}

uint8_t heap_loop_number(uint64_t stream, uint64_t site)
{
	const struct contract *contract = runtime.contract;
	uint64_t callers[CALLERS] = {0};
	uint64_t hash = stream;
	uint8_t *count;

	if (!contract || !strategies[contract->plan.strategy]->wants_places || !loop_counts)
		return 0;
	runtime_note_callers(engine_current(), site, false, callers, CALLERS);
	for (unsigned i = 0; i < CALLERS && callers[i]; i++)
		hash = hash_pair(hash, callers[i]);
	count = &loop_counts[hash % HEAP_LOOPS];
	if (*count < UINT8_MAX)
		++*count;
	return *count;
}
