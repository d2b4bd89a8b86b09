#include "investigate/probe/failure.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "exchange/contract_block.h"

/* Steps beyond those of the longest run that counts: the last steps before the limit are costlier. */
#define LIMIT_MARGIN_PART 8
#define LIMIT_MARGIN_LEAST 64

static void *failure_copy_array(const void *from, size_t count, size_t size)
{
	void *copy = array_new(count ? count * size : 1, 1);

	memcpy(copy, from, count * size);
	return copy;
}

static void failure_take_names(struct failure *failure, struct contract *contract)
{
	const struct thread_record *threads = contract_threads(contract);

	failure->thread_count = contract->thread_count;
	failure->names = array_new(failure->thread_count + 1, sizeof *failure->names);
	for (uint32_t i = 0; i < failure->thread_count; i++)
		failure->names[i] = threads[i].name;
}

/* Sums the steps that others make between a preemption and the next step of the preempted thread. */
static uint64_t failure_count_window_steps(const struct failure *failure)
{
	/* By thread: 1 + step; 0: not preempted. */
	uint64_t *const waiting_since = array_new(THREAD_CAPACITY, sizeof *waiting_since);
	uint64_t step = 0, sum = 0;
	uint16_t last = THREAD_CAPACITY;

	for (uint32_t i = 0; i < failure->segment_count; i++) {
		const struct schedule_segment *segment = &failure->segments[i];

		/* A wild write of the target may leave an index beyond the table. */
		if (segment->flags & SEGMENT_VALUE || segment->thread >= THREAD_CAPACITY)
			continue;
		if (segment->flags & SEGMENT_PREEMPTS && last < THREAD_CAPACITY)
			waiting_since[last] = step + 1;
		if (waiting_since[segment->thread])
			sum += step + 1 - waiting_since[segment->thread];
		waiting_since[segment->thread] = 0;
		last = segment->thread;
		step += segment->count;
	}
	for (uint32_t thread = 0; thread < THREAD_CAPACITY; thread++)
		if (waiting_since[thread])
			sum += step + 1 - waiting_since[thread];
	free(waiting_since);
	return sum;
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
	failure->interruption_points = (enum interruption_points)contract->interruption_points;
	failure->is_truncated = schedule->is_truncated;
	failure->switches = schedule_switch_count(schedule, &failure->preemptions);
	failure->window_steps = failure_count_window_steps(failure);
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

bool failure_has_weak_access(const struct failure *failure, const struct delayed_stores *stores)
{
	for (uint32_t i = 0; failure->weak_site && i < delayed_stores_recorded(stores); i++) {
		const struct delayed_store *store = &stores->items[i];

		if (store->site == failure->unseen_site &&
			store->observer_site == failure->weak_site)
			return true;
		/* tso: the access passed a store, which another thread has not seen */
		if (store->passing_site == failure->weak_site)
			return true;
	}
	return !failure->weak_site;
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

uint64_t failure_step_limit(const struct failure *failure, uint64_t steps_most)
{
	const enum outcome_kind kind = (enum outcome_kind)failure->outcome.kind;

	if (failure->stall_count || failure->delayed_count || kind == OUTCOME_HANG ||
		kind == OUTCOME_LIVELOCK)
		return 0;
	return steps_most + steps_most / LIMIT_MARGIN_PART + LIMIT_MARGIN_LEAST;
}

uint64_t failure_loop_start(const struct schedule_segment *segments, uint32_t count)
{
	uint64_t steps = 0, slice_start = 0;
	const struct schedule_segment *last = NULL;

	for (uint32_t i = 0; i < count; i++) {
		const struct schedule_segment *segment = &segments[i];

		if (segment->flags & SEGMENT_VALUE)
			continue;
		if (!last || last->thread != segment->thread)
			slice_start = steps;
		steps += segment->count;
		last = segment;
	}
	return slice_start;
}

void failure_release(struct failure *failure)
{
	free(failure->segments);
	free(failure->names);
	*failure = (struct failure){0};
}
