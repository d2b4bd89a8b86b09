/*
 * Predicts races: accesses of two threads to the same memory, of which at least one is a write. The
 * accesses have no common lock and no happens-before order by waits. Two atomic accesses are no
 * race.
 *
 * O'Callahan, Choi, "Hybrid Dynamic Data Race Detection", PPoPP 2003, and Sen, "Race Directed
 * Random Testing of Concurrent Programs", PLDI 2008 (phase 1).
 */
#include "analyses/shown.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/analysis.h"
#include "analyses/units/atomic_sets.h"
#include "analyses/units/unit_trace.h"
#include "base/array.h"
#include "base/hash.h"

/* Limits: accesses per thread, site and set of locks at one location; accesses per location; and
 * candidates. */
#define EQUAL_MOST 2
#define ACCESSES_AT_LOCATION 64
#define CANDIDATES_MOST 5000

struct races {
	struct symbols *symbols; /* NULL if not available */
	struct candidates found;
};

struct race_search {
	const struct unit_trace *trace;
	struct symbols *symbols;
	const struct symbols_memory *memory; /* NULL if unknown */
	uint32_t run;
	struct candidates *out;
};

static const struct atomic_rules no_rules;

static void *races_begin(const struct analysis_setting *setting)
{
	struct races *races = array_new(1, sizeof *races);

	races->symbols = setting->symbols;
	return races;
}

static const struct trace_event *races_event_of(
	const struct race_search *search, const struct unit_access *access)
{
	return &search->trace->events[access->event];
}

static bool races_is_atomic(const struct trace_event *event)
{
	return event->kind != OP_LOAD && event->kind != OP_STORE;
}

static bool races_have_common_lock(
	const struct race_search *search, const struct unit_access *a, const struct unit_access *b)
{
	const struct unit_trace *trace = search->trace;
	const struct lockset *held = &trace->locksets[a->lockset];

	for (uint32_t i = 0; i < held->count; i++) {
		const struct unit_lock *lock = &trace->locks[held->first + i];
		const struct unit_lock *other = unit_trace_lock(trace, b->lockset, lock->address);

		if (other && !(lock->is_shared && other->is_shared))
			return true;
	}
	return false;
}

/* Memory that is freed and allocated again is other memory: no run has both accesses at once. */
static bool races_are_in_one_block(const struct race_search *search,
	const struct trace_event *first, const struct trace_event *second)
{
	return !search->symbols || !search->memory ||
	       symbols_block_number(search->symbols, search->memory, first->address, first->step) ==
		       symbols_block_number(
			       search->symbols, search->memory, second->address, second->step);
}

static bool races_can_race(
	const struct race_search *search, const struct unit_access *a, const struct unit_access *b)
{
	const struct trace_event *first = races_event_of(search, a),
				 *second = races_event_of(search, b);

	return first->thread != second->thread && (a->is_write || b->is_write) &&
	       !(races_is_atomic(first) && races_is_atomic(second)) &&
	       !races_have_common_lock(search, a, b) && !epoch_is_before(a->epoch, b->epoch) &&
	       !epoch_is_before(b->epoch, a->epoch) &&
	       races_are_in_one_block(search, first, second);
}

static void races_add_race(
	const struct race_search *search, const struct unit_access *a, const struct unit_access *b)
{
	const struct unit_access *const accesses[] = {a, b};
	const uint64_t sites[] = {races_event_of(search, a)->site, races_event_of(search, b)->site};
	struct candidate candidate = {.kind = CANDIDATE_RACE, .location_count = 2};

	for (unsigned i = 0; i < 2; i++) {
		const struct trace_event *event = races_event_of(search, accesses[i]);

		candidate.locations[i] = (struct candidate_location){
			.thread = thread_order_name(search->trace->order, event->thread),
			.run = search->run,
			.op = *event,
			.context = search->trace->contexts[accesses[i]->event],
		};
	}
	candidate.key = hash_pair(sites[0] < sites[1] ? sites[0] : sites[1],
		sites[0] < sites[1] ? sites[1] : sites[0]);
	if (search->out->count >= CANDIDATES_MOST)
		search->out->is_cut = true;
	else
		candidates_add(search->out, &candidate);
}

static int races_compare_locations(const void *first, const void *second, void *argument)
{
	const struct unit_trace *trace = argument;
	const struct unit_access *a = &trace->accesses[*(const uint32_t *)first];
	const struct unit_access *b = &trace->accesses[*(const uint32_t *)second];

	if (a->location != b->location)
		return a->location < b->location ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

/* Returns whether two accesses have the same locks, from any acquisitions. */
static bool races_have_same_locks(
	const struct unit_trace *trace, const struct unit_access *a, const struct unit_access *b)
{
	const struct lockset *held = &trace->locksets[a->lockset];

	if (held->count != trace->locksets[b->lockset].count)
		return false;
	for (uint32_t i = 0; i < held->count; i++) {
		const struct unit_lock *lock = &trace->locks[held->first + i];
		const struct unit_lock *other = unit_trace_lock(trace, b->lockset, lock->address);

		if (!other || other->is_shared != lock->is_shared)
			return false;
	}
	return true;
}

static bool races_adds_access(const struct race_search *search, const uint32_t *kept,
	uint32_t count, const struct unit_access *access)
{
	const struct trace_event *event = races_event_of(search, access);
	uint32_t equal = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct unit_access *other = &search->trace->accesses[kept[i]];

		equal += races_event_of(search, other)->site == event->site &&
			 races_event_of(search, other)->thread == event->thread &&
			 races_have_same_locks(search->trace, other, access);
	}
	return equal < EQUAL_MOST && count < ACCESSES_AT_LOCATION;
}

static void races_search_location(
	const struct race_search *search, const uint32_t *order, uint32_t count)
{
	uint32_t kept[ACCESSES_AT_LOCATION], kept_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct unit_access *access = &search->trace->accesses[order[i]];

		if (!races_adds_access(search, kept, kept_count, access))
			continue;
		for (uint32_t other = 0; other < kept_count; other++)
			if (races_can_race(search, &search->trace->accesses[kept[other]], access))
				races_add_race(
					search, &search->trace->accesses[kept[other]], access);
		kept[kept_count++] = order[i];
	}
}

static void races_search_locations(const struct race_search *search)
{
	const struct unit_trace *trace = search->trace;
	FREE_SCOPED uint32_t *order = array_new(trace->access_count + 1u, sizeof *order);
	uint32_t first = 0;

	for (uint32_t i = 0; i < trace->access_count; i++)
		order[i] = i;
	if (trace->access_count)
		qsort_r(order, trace->access_count, sizeof *order, races_compare_locations,
			(void *)(uintptr_t)trace);
	for (uint32_t i = 1; i <= trace->access_count; i++) {
		if (i < trace->access_count && trace->accesses[order[i]].location ==
						       trace->accesses[order[first]].location)
			continue;
		races_search_location(search, order + first, i - first);
		first = i;
	}
}

static int races_add_run(
	void *state, struct trace_reader *trace, const struct analysis_run *run, struct error *err)
{
	static const struct symbols_memory no_memory;
	struct races *races = state;
	struct race_search search = {.run = run->number,
		.symbols = races->symbols,
		.memory = run->memory,
		.out = &races->found};
	uint32_t count;
	FREE_SCOPED struct trace_event *events = analysis_read_events(trace, &count, err);
	struct atomic_sets *sets;
	struct unit_trace *units;

	if (!events)
		return ERROR_FORMAT;
	/* Races need no atomic sets. */
	sets = atomic_sets_new(NULL, &no_rules);
	atomic_sets_begin_run(sets, &no_memory, events, count);
	units = unit_trace_new(sets, trace_reader_run(trace), events, count);
	search.trace = units;
	races_search_locations(&search);
	races->found.is_cut |= units->is_cut;
	unit_trace_free(units);
	atomic_sets_free(sets);
	return 0;
}

static void races_find(void *state, struct candidates *out)
{
	struct races *races = state;

	candidates_move(&races->found, out);
}

static void races_end(void *state)
{
	struct races *races = state;

	candidates_release(&races->found);
	free(races);
}

static bool races_is_at(const struct candidate_location *location, const struct trace_event *event)
{
	return event->site == location->op.site && event->kind == location->op.kind;
}

static bool races_is_together(const struct candidate *candidate, const struct trace_event *first,
	const struct trace_event *second)
{
	const struct candidate_location *locations = candidate->locations;

	return first->thread != second->thread &&
	       ((races_is_at(&locations[0], first) && races_is_at(&locations[1], second)) ||
		       (races_is_at(&locations[1], first) && races_is_at(&locations[0], second))) &&
	       first->address < second->address + second->bytes &&
	       second->address < first->address + first->bytes;
}

int races_shown(struct trace_reader *trace, const struct candidate *candidate, bool *is_shown,
	struct error *err)
{
	uint32_t count;
	FREE_SCOPED struct trace_event *events = analysis_read_events(trace, &count, err);

	*is_shown = false;
	if (!events)
		return ERROR_FORMAT;
	for (uint32_t later = 0; later < count && !*is_shown; later++) {
		if (!races_is_at(&candidate->locations[0], &events[later]) &&
			!races_is_at(&candidate->locations[1], &events[later]))
			continue;
		/* Goes back to the thread's previous event, skipping function entries. */
		for (uint32_t i = later;
			i-- && !*is_shown &&
			(events[i].thread != events[later].thread || events[i].kind == OP_ENTER ||
				events[i].kind == OP_LEAVE);)
			*is_shown = races_is_together(candidate, &events[i], &events[later]);
	}
	return 0;
}

const struct analysis analysis_races = {
	.name = "races",
	.summary = "accesses to the same memory that neither locks nor waits order",
	.begin = races_begin,
	.add_run = races_add_run,
	.find = races_find,
	.end = races_end,
};
