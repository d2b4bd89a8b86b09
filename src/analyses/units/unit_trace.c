#include "analyses/units/unit_trace.h"

#include <stdlib.h>
#include <string.h>

#include "analyses/order/held_locks.h"
#include "base/array.h"
#include "base/hash_table.h"
#include "base/search.h"

/* Limits: words of a wide access, and accesses of a run. */
#define WORDS_MOST 16
#define WORD_BYTES 8u
#define ACCESSES_MOST (1u << 20)

struct unit_entry {
	struct {
		uint64_t activation;
		uint64_t instance;
	} key;
	uint32_t unit;
	UT_hash_handle hh;
};

struct instance_entry {
	struct {
		uint64_t kind;
		uint64_t address;
		uint64_t block;
	} key;
	uint32_t instance;
	UT_hash_handle hh;
};

struct reading {
	struct unit_trace *trace;
	struct atomic_sets *sets;
	struct held_locks *held;
	struct unit_calls *calls;
	/* index + 1 of each thread's current lockset; 0: not computed */
	uint32_t *locksets_now;
	struct unit_entry *units;
	struct instance_entry *instances;
	uint32_t activations;
	uint8_t *
		endings; /* enum unit_ending of each known activation; UNIT_RETURNED for later activations */
	uint32_t ending_count;
};

static uint32_t unit_trace_find_event(
	const struct unit_trace *trace, const struct trace_event *event)
{
	uint32_t low;

	SEARCH(low, 0, trace->count, trace->events[low].step < event->step);
	while (low + 1 < trace->count && (trace->events[low].kind != event->kind ||
						 trace->events[low].thread != event->thread))
		low++;
	return low;
}

static uint32_t unit_trace_lockset_of(struct reading *reading, uint32_t thread)
{
	struct unit_trace *trace = reading->trace;
	struct lockset set = {.first = trace->lock_count};
	const struct held_lock *held;

	if (reading->locksets_now[thread])
		return reading->locksets_now[thread] - 1;
	held = held_locks_of(reading->held, thread, &set.count);
	for (uint32_t i = 0; i < set.count; i++)
		ARRAY_APPEND(trace->locks, trace->lock_count,
			(struct unit_lock){.address = held[i].address,
				.taken = unit_trace_find_event(trace, &held[i].taken),
				.is_shared = held[i].is_shared});
	ARRAY_APPEND(trace->locksets, trace->lockset_count, set);
	reading->locksets_now[thread] = trace->lockset_count;
	return trace->lockset_count - 1;
}

const struct unit_lock *unit_trace_lock(
	const struct unit_trace *trace, uint32_t lockset, uint64_t address)
{
	const struct lockset *set = &trace->locksets[lockset];

	for (uint32_t i = 0; i < set->count; i++)
		if (trace->locks[set->first + i].address == address)
			return &trace->locks[set->first + i];
	return NULL;
}

static uint32_t unit_trace_find_instance(
	struct reading *reading, const struct atomic_member *member)
{
	struct unit_trace *trace = reading->trace;
	struct instance_entry *entry, key = {.key = {.kind = UNIT_NO_SET}};

	if (member) {
		key.key.kind = member->kind;
		key.key.address = member->instance;
		key.key.block = member->block;
	}
	HASH_FIND(hh, reading->instances, &key.key, sizeof key.key, entry);
	if (entry)
		return entry->instance;
	entry = array_new(1, sizeof *entry);
	entry->key = key.key;
	entry->instance = trace->instance_count;
	ARRAY_APPEND(trace->instances, trace->instance_count,
		(struct unit_instance){.kind = (uint32_t)key.key.kind,
			.address = key.key.address,
			.block = key.key.block,
			.is_lasting = member && member->part.is_lasting});
	HASH_ADD(hh, reading->instances, key, sizeof entry->key, entry);
	return entry->instance;
}

static uint32_t unit_trace_add_unit(struct reading *reading, const struct unit *unit)
{
	struct unit_trace *trace = reading->trace;
	struct unit_instance *instance = &trace->instances[unit->instance];

	trace->units = array_room(trace->units, trace->unit_count, sizeof *trace->units);
	trace->units[trace->unit_count] = *unit;
	ARRAY_APPEND(instance->units, instance->unit_count, trace->unit_count);
	return trace->unit_count++;
}

static uint32_t unit_trace_find_unit(struct reading *reading, const struct trace_event *event,
	const struct atomic_member *member)
{
	struct atomic_call calls[UNIT_CALLS_MOST];
	const uint32_t count = unit_calls_list(reading->calls, event->thread, calls);
	const uint32_t owner =
		member ? atomic_sets_owner(reading->sets, member, calls, count) : count;
	struct unit unit = {
		.thread = event->thread, .instance = unit_trace_find_instance(reading, member)};
	struct unit_entry *entry, key;

	if (owner == count)
		return unit_trace_add_unit(reading, &unit);
	unit.activation = calls[owner].activation;
	unit.routine = calls[owner].routine;
	memset(&key, 0, sizeof key);
	key.key.activation = unit.activation;
	key.key.instance = unit.instance;
	HASH_FIND(hh, reading->units, &key.key, sizeof key.key, entry);
	if (entry)
		return entry->unit;
	entry = array_new(1, sizeof *entry);
	entry->key = key.key;
	entry->unit = unit_trace_add_unit(reading, &unit);
	HASH_ADD(hh, reading->units, key, sizeof entry->key, entry);
	return entry->unit;
}

static void unit_trace_add_access(struct reading *reading, uint32_t index,
	const struct atomic_member *member, uint64_t location)
{
	struct unit_trace *trace = reading->trace;
	const struct trace_event *event = &trace->events[index];
	struct unit *unit;
	uint32_t number;

	if (trace->access_count == ACCESSES_MOST) {
		trace->is_cut = true;
		return;
	}
	number = unit_trace_find_unit(reading, event, member);
	unit = &trace->units[number];
	if (!unit->count++)
		unit->begins = index;
	unit->ends = index;
	ARRAY_APPEND(trace->accesses, trace->access_count,
		(struct unit_access){
			.event = index,
			.unit = number,
			.location = location,
			.lockset = unit_trace_lockset_of(reading, event->thread),
			.epoch = thread_order_epoch(trace->order, event->thread),
			.is_write = !(op_descriptions[event->kind].flags & OP_READ),
		});
}

static void unit_trace_read_access(struct reading *reading, uint32_t index)
{
	const struct trace_event *event = &reading->trace->events[index];
	const uint64_t end = event->address + (event->bytes ? event->bytes : 1);
	const struct atomic_member *member;
	uint64_t at = event->address;

	for (uint32_t word = 0; at < end && word < WORDS_MOST; word++) {
		member = atomic_sets_member(reading->sets, event, at);
		unit_trace_add_access(reading, index, member, at);
		at = event->bytes <= WORD_BYTES ? end : (at | (WORD_BYTES - 1)) + 1;
	}
}

static void unit_trace_read_event(struct reading *reading, const uint32_t *next, uint32_t index)
{
	struct unit_trace *trace = reading->trace;
	const struct trace_event *event = &trace->events[index];

	if (unit_calls_add(reading->calls, event))
		return;
	trace->contexts[index] = unit_calls_context(reading->calls, event->thread);
	if (op_descriptions[event->kind].object == OBJECT_MEMORY) {
		unit_trace_read_access(reading, index);
		return;
	}
	thread_order_add_waits(trace->order, event);
	held_locks_add(reading->held, event,
		event->kind == OP_COND_WAIT ? waited_mutex(trace->events, next, trace->count, index)
					    : 0);
	reading->locksets_now[event->thread] = 0;
}

static uint32_t *unit_trace_index_next(const struct unit_trace *trace, uint32_t thread_count)
{
	uint32_t *next = array_new(trace->count, sizeof *next);
	FREE_SCOPED uint32_t *last = array_new(thread_count, sizeof *last);

	for (uint32_t i = 0; i < thread_count; i++)
		last[i] = trace->count;
	for (uint32_t i = trace->count; i--;) {
		next[i] = last[trace->events[i].thread];
		if (trace->events[i].kind != OP_ENTER && trace->events[i].kind != OP_LEAVE)
			last[trace->events[i].thread] = i;
	}
	return next;
}

static void unit_trace_index_units(struct unit_trace *trace)
{
	uint32_t first = 0;

	trace->unit_accesses = array_new(trace->access_count, sizeof *trace->unit_accesses);
	for (uint32_t i = 0; i < trace->unit_count; i++) {
		trace->units[i].first = first;
		first += trace->units[i].count;
		trace->units[i].count = 0;
	}
	for (uint32_t i = 0; i < trace->access_count; i++) {
		struct unit *unit = &trace->units[trace->accesses[i].unit];

		trace->unit_accesses[unit->first + unit->count++] = i;
	}
}

static void unit_trace_end_units(struct reading *reading)
{
	unit_calls_end(reading->calls);
	for (uint32_t i = 0; i < reading->trace->unit_count; i++) {
		struct unit *unit = &reading->trace->units[i];

		unit->ending = unit_calls_ending(reading->calls, unit->activation);
	}
}

static void unit_trace_reading_release(struct reading *reading)
{
	HASH_FREE(reading->units);
	HASH_FREE(reading->instances);
	held_locks_free(reading->held);
	unit_calls_free(reading->calls);
	free(reading->locksets_now);
}

struct unit_trace *unit_trace_new(struct atomic_sets *sets, const struct trace_run *run,
	const struct trace_event *events, uint32_t count)
{
	struct unit_trace *trace = array_new(1, sizeof *trace);
	struct reading reading = {.trace = trace, .sets = sets};
	FREE_SCOPED uint32_t *next = NULL;

	trace->events = events;
	trace->count = count;
	trace->contexts = array_new(count, sizeof *trace->contexts);
	trace->order = thread_order_new(run);
	reading.held = held_locks_new(run->thread_count);
	reading.calls = unit_calls_new(sets, run->thread_count);
	reading.locksets_now = array_new(run->thread_count, sizeof *reading.locksets_now);
	next = unit_trace_index_next(trace, run->thread_count);
	for (uint32_t i = 0; i < count; i++)
		unit_trace_read_event(&reading, next, i);
	unit_trace_end_units(&reading);
	unit_trace_index_units(trace);
	unit_trace_reading_release(&reading);
	return trace;
}

void unit_trace_free(struct unit_trace *trace)
{
	if (!trace)
		return;
	for (uint32_t i = 0; i < trace->instance_count; i++)
		free(trace->instances[i].units);
	thread_order_free(trace->order);
	free(trace->instances);
	free(trace->contexts);
	free(trace->accesses);
	free(trace->unit_accesses);
	free(trace->units);
	free(trace->locks);
	free(trace->locksets);
	free(trace);
}
