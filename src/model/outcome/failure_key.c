#include "model/outcome/failure_key.h"

#include <stddef.h>

#include "base/hash.h"

/* Waits on a cycle, or all. A thread blocked outside of the cycle makes no other failure. */
static uint64_t failure_key_of_waits(const struct outcome *outcome)
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
static const struct wait_edge *failure_key_last_wait(const struct outcome *outcome)
{
	const struct wait_edge *edge = NULL, *next = outcome->wait_count ? outcome->waits : NULL;

	for (uint32_t hops = 0; next && hops <= outcome->wait_count; hops++) {
		edge = next;
		next = outcome_wait_of(outcome, edge->holder);
	}
	return edge;
}

/* The object that the first waiting thread depends on: other waits differ between runs. */
static uint64_t failure_key_of_lost_wakeup(const struct outcome *outcome)
{
	const struct wait_edge *edge = failure_key_last_wait(outcome);

	if (!edge)
		return 0;
	return edge->object_group ? hash_pair(edge->op, edge->object_group)
				  : failure_key_of_waits(outcome);
}

uint64_t failure_key(const struct outcome *outcome)
{
	uint64_t key = hash_pair(outcome->kind, (uint32_t)outcome->code);

	switch (outcome->kind) {
	case OUTCOME_RACE:
	case OUTCOME_WEAK:
		/* A sum: the order of the accesses is arbitrary. */
		return hash_pair(key, hash_mix(outcome->site) + hash_mix(outcome->other_site));
	case OUTCOME_DEADLOCK:
		return hash_pair(key, failure_key_of_waits(outcome));
	case OUTCOME_LOST_WAKEUP:
		return hash_pair(key, failure_key_of_lost_wakeup(outcome));
	case OUTCOME_HANG:
	case OUTCOME_LIVELOCK:
		/* A hang or livelock is cut off at an arbitrary location. */
		return key;
	case OUTCOME_ABORT:
		/* All aborts have the same site in glibc: the calling site distinguishes them. */
		return hash_pair(hash_pair(key, outcome->site), outcome->other_site);
	default:
		return hash_pair(key, outcome->site);
	}
}

static bool failure_key_has_earlier_wait(const struct outcome *outcome, uint32_t index)
{
	for (uint32_t i = 0; i < index; i++)
		if (outcome->waits[i].object_group == outcome->waits[index].object_group &&
			outcome->waits[i].site == outcome->waits[index].site)
			return true;
	return false;
}

/*
 * Same as failure_key(), with the locations that wait for the object of a lost wake-up: an object may
 * lose several. Equal findings may have different keys.
 */
static uint64_t failure_location_key(const struct outcome *outcome)
{
	const struct wait_edge *last = failure_key_last_wait(outcome);
	uint64_t locations = 0;

	/* A sum over the locations: neither the order nor the number of the threads matters. */
	for (uint32_t i = 0; outcome->kind == OUTCOME_LOST_WAKEUP && i < outcome->wait_count; i++)
		if (outcome->waits[i].object_group == last->object_group &&
			!failure_key_has_earlier_wait(outcome, i))
			locations += hash_mix(outcome->waits[i].site);
	return locations ? hash_pair(failure_key(outcome), locations) : failure_key(outcome);
}

static bool failure_key_has_wait(const struct outcome *outcome, const struct wait_edge *wait)
{
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		if (outcome->waits[i].object_group == wait->object_group &&
			outcome->waits[i].site == wait->site)
			return true;
	return false;
}

bool failure_is_within(const struct outcome *outcome, const struct outcome *other)
{
	const struct wait_edge *last = failure_key_last_wait(outcome);

	if (failure_key(outcome) != failure_key(other))
		return false;
	for (uint32_t i = 0; outcome->kind == OUTCOME_LOST_WAKEUP && i < outcome->wait_count; i++)
		if (outcome->waits[i].object_group == last->object_group &&
			!failure_key_has_wait(other, &outcome->waits[i]))
			return false;
	return true;
}

uint64_t failure_run_key(const struct outcome *outcome, bool is_delayed)
{
	const uint64_t key = failure_location_key(outcome);

	return is_delayed ? hash_pair(key, 1) : key;
}
