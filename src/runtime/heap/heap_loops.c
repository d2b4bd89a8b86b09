/* Loop numbers: the ordinal of a block among the blocks of its call stack (Bindal, Bansal, Lal
 * 2012, figure 5). Loop numbers are counted only for strategies that ask for locations, because each
 * allocation then costs a stack walk. The counts are restored before each run. */
#include "base/hash.h"
#include "engine/engine.h"
#include "runtime/heap/heap_internal.h"
#include "runtime/callers.h"
#include "runtime/runtime.h"
#include "strategies/strategy.h"

#define CALLERS 12 /* deeper recursion is one loop */

/* Call stacks whose hashes collide share a count. */
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

	if (!contract || !strategies[contract->plan.strategy]->wants_heap_positions || !loop_counts)
		return 0;
	runtime_note_callers(engine_current(), site, callers, CALLERS);
	for (unsigned i = 0; i < CALLERS && callers[i]; i++)
		hash = hash_pair(hash, callers[i]);
	count = &loop_counts[hash % HEAP_LOOPS];
	if (*count < UINT8_MAX)
		++*count;
	return *count;
}
