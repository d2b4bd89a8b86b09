#include "investigate/probe/failure.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "exchange/contract_block.h"

static void *failure_copy_array(const void *from, size_t count, size_t size)
{
	void *copy = array_new(count ? count * size : 1, 1);

	memcpy(copy, from, count * size);
	return copy;
}

static void failure_take_names(struct failure *failure, struct contract *contract)
{
	const struct contract_thread *threads = contract_threads(contract);

	failure->thread_count = contract->thread_count;
	failure->names = array_new(failure->thread_count + 1, sizeof *failure->names);
	for (uint32_t i = 0; i < failure->thread_count; i++)
		failure->names[i] = threads[i].name;
}

void failure_take(struct failure *failure, struct contract *contract)
{
	const struct schedule *schedule = contract_schedule(contract);
	uint32_t count = schedule->count;

	failure_release(failure);
	failure->outcome = contract->outcome;
	failure->run_number = contract->run_number;
	failure->segments =
		failure_copy_array(schedule->segments, count, sizeof *failure->segments);
	failure->segment_count = count;
	failure->step_count = schedule->step_count;
	failure->layout = contract->plan.layout;
	failure->is_truncated = schedule->is_truncated;
	failure->switches = schedule_switch_count(schedule, &failure->preemptions);
	failure->delayed_count = contract->delayed.count;
	failure->stall_count = contract->stalls.count;
	failure->stalled_ns = contract->stalls.total_ns;
	failure->stalled_threads = contract->stalls.thread_count;
	failure_take_names(failure, contract);
}

void failure_copy(struct failure *to, const struct failure *from)
{
	*to = *from;
	to->segments =
		failure_copy_array(from->segments, from->segment_count, sizeof *to->segments);
	to->names = failure_copy_array(from->names, from->thread_count, sizeof *to->names);
}

int failure_compare_delays(const struct failure *a, const struct failure *b)
{
	if (a->delayed_count != b->delayed_count)
		return a->delayed_count < b->delayed_count ? -1 : 1;
	if (a->stall_count != b->stall_count)
		return a->stall_count < b->stall_count ? -1 : 1;
	if (a->stalled_ns != b->stalled_ns)
		return a->stalled_ns < b->stalled_ns ? -1 : 1;
	if (a->stalled_threads != b->stalled_threads)
		return a->stalled_threads < b->stalled_threads ? -1 : 1;
	return 0;
}

int failure_compare_cost(const struct failure *a, const struct failure *b)
{
	const int delays = failure_compare_delays(a, b);

	if (delays)
		return delays;
	if (a->preemptions != b->preemptions)
		return a->preemptions < b->preemptions ? -1 : 1;
	if (a->switches != b->switches)
		return a->switches < b->switches ? -1 : 1;
	return 0;
}

void failure_release(struct failure *failure)
{
	free(failure->segments);
	free(failure->names);
	*failure = (struct failure){0};
}

/* Waits on a cycle, or all. A thread blocked outside of the cycle makes no other failure. */
static uint64_t waits_key(const struct outcome *outcome)
{
	uint64_t key = 0;
	bool has_cycle = false;

	for (uint32_t i = 0; i < outcome->wait_count; i++)
		has_cycle |= outcome->waits[i].is_on_cycle;
	/* A sum: the order of the threads in the list is arbitrary. */
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		if (outcome->waits[i].is_on_cycle || !has_cycle)
			key += hash_pair(outcome->waits[i].op, outcome->waits[i].site);
	return key;
}

/* The wait that the first waiting thread depends on; NULL: no thread waits. */
static const struct wait_edge *failure_last_wait(const struct outcome *outcome)
{
	const struct wait_edge *edge = NULL, *next = outcome->wait_count ? outcome->waits : NULL;

	for (uint32_t hops = 0; next && hops <= outcome->wait_count; hops++) {
		edge = next;
		next = outcome_wait_of(outcome, edge->holder);
	}
	return edge;
}

/* The object that the first waiting thread depends on: other waits differ between runs. */
static uint64_t lost_wakeup_key(const struct outcome *outcome)
{
	const struct wait_edge *edge = failure_last_wait(outcome);

	if (!edge)
		return 0;
	return edge->object_group ? hash_pair(edge->op, edge->object_group) : waits_key(outcome);
}

uint64_t failure_key(const struct outcome *outcome)
{
	uint64_t key = hash_pair(outcome->kind, (uint32_t)outcome->code);

	switch (outcome->kind) {
	case OUTCOME_RACE:
		/* A sum: the order of the accesses is arbitrary. */
		return hash_pair(key, hash_mix(outcome->site) + hash_mix(outcome->other_site));
	case OUTCOME_DEADLOCK:
		return hash_pair(key, waits_key(outcome));
	case OUTCOME_LOST_WAKEUP:
		return hash_pair(key, lost_wakeup_key(outcome));
	case OUTCOME_HANG:
	case OUTCOME_LIVELOCK:
		/* A hang or livelock is cut off at an arbitrary place. */
		return key;
	case OUTCOME_ABORT:
		/* All aborts have the same site in glibc: the calling site distinguishes them. */
		return hash_pair(hash_pair(key, outcome->site), outcome->other_site);
	default:
		return hash_pair(key, outcome->site);
	}
}

static bool failure_has_earlier_wait(const struct outcome *outcome, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (outcome->waits[i].object_group == outcome->waits[index].object_group &&
			outcome->waits[i].site == outcome->waits[index].site)
			return true;
	return false;
}

uint64_t failure_place_key(const struct outcome *outcome)
{
	const struct wait_edge *last = failure_last_wait(outcome);
	uint64_t places = 0;

	/* A sum over the places: neither the order nor the number of the threads matters. */
	for (uint32_t i = 0; outcome->kind == OUTCOME_LOST_WAKEUP && i < outcome->wait_count; i++)
		if (outcome->waits[i].object_group == last->object_group &&
			!failure_has_earlier_wait(outcome, i))
			places += hash_mix(outcome->waits[i].site);
	return places ? hash_pair(failure_key(outcome), places) : failure_key(outcome);
}
