/*
 * A thread may wait in a loop for a variable not yet known to be shared, so that none of its
 * accesses is a point. memory_waits() makes a read a scheduling point after WAITING_VISITS
 * repetitions at the same site and address, without a step or write in between. The second limit
 * separates waiting loops, which make few other reads, from loops over data. The state is restored
 * with the run.
 */
#include "base/hot_state.h"
#include "runtime/memory.h"
#include "runtime/memory/memory_internal.h"

#define WAITING_READS_BETWEEN 64

static HOT_STATE struct {
	uint64_t step; /* step number at the last visit */
	uint64_t site;
	const void *address;
	uint32_t visits;
	uint32_t reads_between;
} waiting;

bool memory_waits(const struct memory_access *access)
{
	const bool is_anchor = access->site == waiting.site && access->address == waiting.address;

	if (access->kind == SITE_STORE || access->kind == SITE_ATOMIC_STORE) {
		waiting.visits = 0;
		return false;
	}
	if (is_anchor && engine_step() == waiting.step) {
		waiting.reads_between = 0;
		if (++waiting.visits < WAITING_VISITS)
			return false;
		waiting.visits = 0;
		return true;
	}
	if (engine_step() == waiting.step && ++waiting.reads_between < WAITING_READS_BETWEEN)
		return false;
	waiting.step = engine_step();
	waiting.site = access->site;
	waiting.address = access->address;
	waiting.visits = waiting.reads_between = 0;
	return false;
}

void memory_begin_run(void)
{
	waiting.step = waiting.site = 0;
	waiting.address = NULL;
	waiting.visits = waiting.reads_between = 0;
}
