/*
 * Values of reads: each read returns the value of the last write before it, or the initial value
 * (TAME, section 4). The reduction by happens-before is the paper's; constraints_sections.c adds a
 * reduction by locks.
 */
#include <stdlib.h>

#include "base/bitset.h"
#include "base/array.h"
#include "branches/constraints/constraints.h"

struct accesses {
	struct place_access *items;
	uint32_t count;
};

static int constraints_memory_compare(const void *left, const void *right)
{
	const struct place_access *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->id.thread != b->id.thread)
		return a->id.thread < b->id.thread ? -1 : 1;
	return a->id.index < b->id.index ? -1 : a->id.index > b->id.index;
}

/* Slots of the filter of the window's words, indexed by a word's low bits. Collisions are
 * harmless. */
#define LINES (UINT64_C(1) << 16)

static bool constraints_memory_is_access(const struct walk_event *event)
{
	return event->kind == EVENT_READ || event->kind == EVENT_WRITE;
}

static void constraints_memory_mark_lines(const struct constraints *constraints, uint64_t *lines)
{
	const struct walk *walk = constraints->walk;

	for (uint32_t thread = 0; thread < walk->record->thread_count; thread++)
		for (uint64_t i = constraints->window->begin[thread];
			i < constraints->window->end[thread]; i++) {
			const struct walk_event *event = &walk->threads[thread].events[i];

			if (!constraints_memory_is_access(event))
				continue;
			bitset_add(lines, event->address >> 3 & (LINES - 1));
			bitset_add(lines, (event->address + event->bytes - 1) >> 3 & (LINES - 1));
		}
}

static bool constraints_memory_has_line(const uint64_t *lines, const struct walk_event *event)
{
	return bitset_has(lines, event->address >> 3 & (LINES - 1)) ||
	       bitset_has(lines, (event->address + event->bytes - 1) >> 3 & (LINES - 1));
}

/* Collects the accesses. Unless addresses are open, those before the window are filtered by the
 * window's words. */
static void constraints_memory_collect(const struct constraints *constraints, struct accesses *list)
{
	const struct walk *walk = constraints->walk;
	uint64_t lines[LINES / 64] = {0};

	constraints_memory_mark_lines(constraints, lines);
	for (uint32_t thread = 0; thread < walk->record->thread_count; thread++) {
		for (uint64_t i = 0; i < constraints->window->end[thread]; i++) {
			const struct walk_event *event = &walk->threads[thread].events[i];

			if (!constraints_memory_is_access(event) ||
				(!constraints->has_open_addresses &&
					!constraints_memory_has_line(lines, event)))
				continue;
			ARRAY_APPEND(list->items, list->count,
				(struct place_access){.address = event->address,
					.position = event->position,
					.id = {(uint16_t)thread, (uint32_t)i},
					.bytes = event->bytes,
					.is_write = event->kind == EVENT_WRITE,
					.is_conditional = walk_event_when(walk, event) != NULL});
		}
	}
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, constraints_memory_compare);
}

static const struct walk_event *constraints_memory_event_of(
	const struct constraints *constraints, struct event_id id)
{
	return &constraints->walk->threads[id.thread].events[id.index];
}

static uint64_t constraints_memory_value_of(
	const struct constraints *constraints, const struct place_access *access)
{
	const uint64_t value =
		constraints_memory_event_of(constraints, access->id)->value >> 8 * access->from;

	return access->bytes < 8 ? value & ((UINT64_C(1) << 8 * access->bytes) - 1) : value;
}

/* Finds the value of the last write before the window, or else the known initial value. */
bool constraints_find_initial(const struct constraints *constraints,
	const struct place_access *items, uint32_t count, uint64_t *value)
{
	const struct place_access *last = NULL;

	for (uint32_t i = 0; i < count; i++)
		if (items[i].is_write && constraints_is_past(constraints, items[i].id) &&
			(!last || items[i].position > last->position ||
				(items[i].position == last->position &&
					items[i].id.index > last->id.index)))
			last = &items[i];
	if (last) {
		*value = constraints_memory_value_of(constraints, last);
		return true;
	}
	return walk_initial(constraints->walk, items->address, items->bytes, value) ||
	       order_first_value(constraints->order, items->address, items->bytes, value);
}

Z3_ast constraints_accessed(struct constraints *constraints, const struct place_access *access)
{
	const struct walk_event *event = constraints_memory_event_of(constraints, access->id);
	Z3_ast whole;

	if (!event->term)
		return constraints_bits(constraints, 8u * access->bytes,
			constraints_memory_value_of(constraints, access));
	whole = constraints_term(constraints, walk_event_term(constraints->walk, event));
	if (access->bytes == event->bytes)
		return whole;
	return Z3_mk_extract(
		constraints->z3, 8u * (access->from + access->bytes) - 1, 8u * access->from, whole);
}

Z3_ast constraints_is_made(struct constraints *constraints, const struct place_access *write)
{
	return Z3_mk_eq(constraints->z3,
		constraints_term(
			constraints, walk_event_when(constraints->walk,
					     constraints_memory_event_of(constraints, write->id))),
		constraints_bits(constraints, 1, 1));
}

struct read_case {
	struct constraints *constraints;
	const struct place_access *items;
	uint32_t count;
	const struct place_access *read;
	uint64_t lock; /* lock that is held at all writes of the place */
	/* section of that lock around the read; NULL if none */
	const struct order_section *section;
	bool *is_candidate; /* by item: write that the read may see */
};

static bool constraints_memory_is_in_section(
	const struct order_section *section, struct event_id event)
{
	return event.thread == section->thread && event.index > section->begin &&
	       event.index < section->end;
}

/* Returns the thread's previous access to the place in the same section; NULL if there is none. */
static const struct place_access *constraints_memory_seen_before(const struct read_case *of)
{
	const struct place_access *last = NULL;

	for (uint32_t i = 0; of->section && i < of->count; i++)
		if (constraints_memory_is_in_section(of->section, of->items[i].id) &&
			of->items[i].id.index < of->read->id.index &&
			(!last || of->items[i].id.index > last->id.index))
			last = &of->items[i];
	return last && last->is_conditional ? NULL : last;
}

/* Returns whether the writer certainly writes again before it releases the lock that the reader
 * needs. */
static bool constraints_memory_is_covered(
	const struct read_case *of, const struct place_access *write)
{
	const struct order_section *section =
		of->section ? constraints_section_of(of->constraints, write->id, of->lock) : NULL;

	if (!section || section == of->section)
		return false;
	for (uint32_t i = 0; i < of->count; i++)
		if (constraints_is_certain(&of->items[i]) &&
			constraints_memory_is_in_section(section, of->items[i].id) &&
			of->items[i].id.index > write->id.index)
			return true;
	return false;
}

static bool constraints_memory_may_be_read(const struct read_case *of, uint32_t number)
{
	const struct order *order = of->constraints->order;
	const struct place_access *write = &of->items[number];

	if (!write->is_write || constraints_is_past(of->constraints, write->id) ||
		order_is_before(order, of->read->id, write->id))
		return false;
	if (write->id.thread == of->read->id.thread && write->id.index > of->read->id.index)
		return false;
	if (constraints_memory_is_covered(of, write))
		return false;
	for (uint32_t i = 0; i < of->count; i++)
		if (i != number && constraints_is_certain(&of->items[i]) &&
			order_is_before(order, write->id, of->items[i].id) &&
			order_is_before(order, of->items[i].id, of->read->id))
			return false;
	return true;
}

static bool constraints_memory_is_initial_hidden(const struct read_case *of)
{
	for (uint32_t i = 0; i < of->count; i++)
		if (constraints_is_certain(&of->items[i]) &&
			!constraints_is_past(of->constraints, of->items[i].id) &&
			order_is_before(of->constraints->order, of->items[i].id, of->read->id))
			return true;
	return false;
}

static Z3_ast constraints_memory_is_unseen(
	const struct read_case *of, uint32_t number, const struct place_access *write)
{
	struct constraints *constraints = of->constraints;
	const struct event_id id = of->items[number].id;
	Z3_ast result = Z3_mk_not(constraints->z3, constraints_happens(constraints, id));

	if (of->items[number].is_conditional)
		result = constraints_or(constraints, result,
			Z3_mk_not(constraints->z3,
				constraints_is_made(constraints, &of->items[number])));
	if (write)
		result = constraints_or(
			constraints, result, constraints_before(constraints, id, write->id));
	return constraints_or(
		constraints, result, constraints_before(constraints, of->read->id, id));
}

/* Returns the condition that the read returns the value of write `number`: no other write lies
 * between both. */
static Z3_ast constraints_memory_reads_from(const struct read_case *of, uint32_t number)
{
	struct constraints *constraints = of->constraints;
	const struct place_access *write = &of->items[number];
	Z3_ast *parts = array_new(of->count + 5u, sizeof *parts);
	unsigned count = 0;
	Z3_ast result;

	parts[count++] = Z3_mk_eq(constraints->z3, constraints_accessed(constraints, of->read),
		constraints_accessed(constraints, write));
	if (write->id.thread != of->read->id.thread)
		parts[count++] = constraints_happens(constraints, write->id);
	if (write->is_conditional)
		parts[count++] = constraints_is_made(constraints, write);
	parts[count++] = constraints_before(constraints, write->id, of->read->id);
	for (uint32_t i = 0; i < of->count; i++)
		if (i != number && of->is_candidate[i])
			parts[count++] = constraints_memory_is_unseen(of, i, write);
	result = Z3_mk_and(constraints->z3, count, parts);
	free(parts);
	return result;
}

static Z3_ast constraints_memory_reads_initial(const struct read_case *of, uint64_t value)
{
	struct constraints *constraints = of->constraints;
	Z3_ast result = Z3_mk_eq(constraints->z3, constraints_accessed(constraints, of->read),
		constraints_bits(constraints, 8u * of->read->bytes, value));

	for (uint32_t i = 0; i < of->count; i++)
		if (of->is_candidate[i])
			result = constraints_and(
				constraints, result, constraints_memory_is_unseen(of, i, NULL));
	return result;
}

/* Adds the constraint that the value that the thread saw or wrote in the same section is
 * unchanged. */
static void constraints_memory_add_seen(const struct read_case *of, const struct place_access *seen)
{
	struct constraints *constraints = of->constraints;

	constraints_add(
		constraints, Z3_mk_eq(constraints->z3, constraints_accessed(constraints, of->read),
				     constraints_accessed(constraints, seen)));
}

static void constraints_memory_add_read(struct read_case *of)
{
	struct constraints *constraints = of->constraints;
	Z3_ast any = Z3_mk_false(constraints->z3);
	const struct place_access *seen = constraints_memory_seen_before(of);
	uint64_t initial;

	if (seen) {
		constraints_memory_add_seen(of, seen);
		return;
	}

	of->is_candidate = array_new(of->count + 1u, sizeof *of->is_candidate);
	for (uint32_t i = 0; i < of->count; i++)
		of->is_candidate[i] = constraints_memory_may_be_read(of, i);
	for (uint32_t i = 0; i < of->count; i++)
		if (of->is_candidate[i])
			any = constraints_or(
				constraints, any, constraints_memory_reads_from(of, i));
	if (!constraints_memory_is_initial_hidden(of) &&
		constraints_find_initial(constraints, of->items, of->count, &initial))
		any = constraints_or(
			constraints, any, constraints_memory_reads_initial(of, initial));
	constraints_add(constraints, constraints_implies(constraints,
					     constraints_happens(constraints, of->read->id), any));
	free(of->is_candidate);
}

void constraints_keep_reads(
	struct constraints *constraints, const struct place_access *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (items[i].is_write || constraints_is_past(constraints, items[i].id))
			continue;
		constraints_add(constraints,
			Z3_mk_eq(constraints->z3, constraints_accessed(constraints, &items[i]),
				constraints_bits(constraints, 8u * items[i].bytes,
					constraints_memory_value_of(constraints, &items[i]))));
	}
}

void constraints_add_place(
	struct constraints *constraints, const struct place_access *items, uint32_t count)
{
	uint64_t lock = 0;
	const bool is_guarded = constraints_find_guard(constraints, items, count, &lock);

	for (uint32_t i = 0; i < count; i++) {
		struct read_case of = {.constraints = constraints,
			.items = items,
			.count = count,
			.read = &items[i],
			.lock = lock};

		if (constraints_is_late(constraints))
			return;
		if (items[i].is_write || constraints_is_past(constraints, items[i].id))
			continue;
		if (is_guarded)
			of.section = constraints_section_of(constraints, items[i].id, lock);
		constraints_memory_add_read(&of);
	}
}

/* Adds a group of accesses. `end` is the number of accesses, which are sorted by address. */
static void constraints_memory_add_group(struct place_groups *groups, uint32_t first, uint32_t end)
{
	uint64_t behind = groups->accesses[first].address + groups->accesses[first].bytes;
	struct place_group *group;

	groups->items = array_room(groups->items, groups->count, sizeof *groups->items);
	group = &groups->items[groups->count];
	*group = (struct place_group){.first = first, .count = 1, .united = groups->count++};
	for (; first + group->count < end; group->count++) {
		const struct place_access *item = &groups->accesses[first + group->count];

		if (item->address >= behind)
			return;
		group->is_mixed |= item->address != groups->accesses[first].address ||
				   item->bytes != groups->accesses[first].bytes;
		if (item->address + item->bytes > behind)
			behind = item->address + item->bytes;
	}
}

static bool constraints_memory_is_hidden(const struct constraints *constraints,
	const struct place_groups *groups, const struct place_group *group)
{
	for (uint32_t i = group->first; i < group->first + group->count; i++)
		if (hidden_has(constraints->order, groups->accesses[i].address,
			    groups->accesses[i].bytes))
			return true;
	return false;
}

void constraints_add_memory(struct constraints *constraints)
{
	struct accesses list = {0};
	struct place_groups groups = {0};

	constraints_memory_collect(constraints, &list);
	groups.accesses = list.items;
	for (uint32_t first = 0; first < list.count; first += groups.items[groups.count - 1].count)
		constraints_memory_add_group(&groups, first, list.count);
	constraints_add_aliases(constraints, &groups);
	for (uint32_t i = 0; i < groups.count; i++) {
		const struct place_group *group = &groups.items[i];

		if (group->is_open)
			continue;
		if (group->is_mixed)
			constraints_add_mixed(constraints, &list.items[group->first], group->count);
		else if (constraints_memory_is_hidden(constraints, &groups, group))
			constraints_keep_reads(
				constraints, &list.items[group->first], group->count);
		else
			constraints_add_place(constraints, &list.items[group->first], group->count);
	}
	free(groups.items);
	free(list.items);
}
