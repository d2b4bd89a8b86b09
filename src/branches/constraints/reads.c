/*
 * Values of reads: each read returns the value of the last write before it, or the initial value
 * (TAME, section 4). The reduction by happens-before is the paper's; sections.c adds a
 * reduction by locks.
 */
#include <stdlib.h>

#include "base/bitset.h"
#include "base/array.h"
#include "branches/constraints/solver.h"

struct accesses {
	struct location_access *items;
	uint32_t count;
};

static int reads_compare(const void *left, const void *right)
{
	const struct location_access *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return event_compare_ids(a->id, b->id);
}

/* Slots of the filter of the window's words, indexed by a word's low bits. Collisions are
 * harmless. */
#define LINES (UINT64_C(1) << 16)

static void reads_mark_lines(const struct solver *solver, uint64_t *lines)
{
	const struct walk *walk = solver->walk;

	for (uint32_t thread = 0; thread < walk->record->thread_count; thread++)
		for (uint64_t i = solver->window->begin[thread]; i < solver->window->end[thread];
			i++) {
			const struct walk_event *event = &walk->threads[thread].events[i];

			if (!event_is_access(event))
				continue;
			bitset_add(lines, event->address >> 3 & (LINES - 1));
			bitset_add(lines, (event->address + event->bytes - 1) >> 3 & (LINES - 1));
		}
}

static bool reads_has_line(const uint64_t *lines, const struct walk_event *event)
{
	return bitset_has(lines, event->address >> 3 & (LINES - 1)) ||
	       bitset_has(lines, (event->address + event->bytes - 1) >> 3 & (LINES - 1));
}

/* Collects the accesses. Unless addresses are open, those before the window are filtered by the
 * window's words. */
static void reads_collect(const struct solver *solver, struct accesses *list)
{
	const struct walk *walk = solver->walk;
	uint64_t lines[LINES / 64] = {0};

	reads_mark_lines(solver, lines);
	for (uint32_t thread = 0; thread < walk->record->thread_count; thread++) {
		for (uint64_t i = 0; i < solver->window->end[thread]; i++) {
			const struct walk_event *event = &walk->threads[thread].events[i];

			if (!event_is_access(event) ||
				(!solver->has_open_addresses && !reads_has_line(lines, event)))
				continue;
			ARRAY_APPEND(list->items, list->count,
				(struct location_access){.address = event->address,
					.position = event->position,
					.id = {(uint16_t)thread, (uint32_t)i},
					.bytes = event->bytes,
					.is_write = event->kind == EVENT_WRITE,
					.is_conditional = walk_event_when(walk, event) != NULL});
		}
	}
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, reads_compare);
}

static uint64_t reads_value_of(const struct solver *solver, const struct location_access *access)
{
	const uint64_t value = walk_event_of(solver->walk, access->id)->value >> 8 * access->from;

	return access->bytes < 8 ? value & ((UINT64_C(1) << 8 * access->bytes) - 1) : value;
}

/* Finds the value of the last write before the window, or else the known initial value. */
bool solver_find_initial(const struct solver *solver, const struct location_access *items,
	uint32_t count, uint64_t *value)
{
	const struct location_access *last = NULL;

	for (uint32_t i = 0; i < count; i++)
		if (items[i].is_write && solver_is_past(solver, items[i].id) &&
			(!last || items[i].position > last->position ||
				(items[i].position == last->position &&
					items[i].id.index > last->id.index)))
			last = &items[i];
	if (last) {
		*value = reads_value_of(solver, last);
		return true;
	}
	return walk_initial(solver->walk, items->address, items->bytes, value) ||
	       order_first_value(solver->order, items->address, items->bytes, value);
}

Z3_ast solver_accessed(struct solver *solver, const struct location_access *access)
{
	const struct walk_event *event = walk_event_of(solver->walk, access->id);
	Z3_ast whole;

	if (!event->term)
		return solver_bits(solver, 8u * access->bytes, reads_value_of(solver, access));
	whole = solver_term(solver, walk_event_term(solver->walk, event));
	if (access->bytes == event->bytes)
		return whole;
	return Z3_mk_extract(
		solver->z3, 8u * (access->from + access->bytes) - 1, 8u * access->from, whole);
}

Z3_ast solver_is_made(struct solver *solver, const struct location_access *write)
{
	return Z3_mk_eq(solver->z3,
		solver_term(solver,
			walk_event_when(solver->walk, walk_event_of(solver->walk, write->id))),
		solver_bits(solver, 1, 1));
}

struct read_case {
	struct solver *solver;
	const struct location_access *items;
	uint32_t count;
	const struct location_access *read;
	uint64_t lock; /* lock that is held at all writes of the location */
	/* section of that lock around the read; NULL if none */
	const struct order_section *section;
	bool *is_candidate; /* by item: write that the read may see */
};

static bool reads_is_in_section(const struct order_section *section, struct event_id event)
{
	return event.thread == section->thread && event.index > section->begin &&
	       event.index < section->end;
}

/* Returns the thread's previous access to the location in the same section; NULL if there is none. */
static const struct location_access *reads_seen_before(const struct read_case *of)
{
	const struct location_access *last = NULL;

	for (uint32_t i = 0; of->section && i < of->count; i++)
		if (reads_is_in_section(of->section, of->items[i].id) &&
			of->items[i].id.index < of->read->id.index &&
			(!last || of->items[i].id.index > last->id.index))
			last = &of->items[i];
	return last && last->is_conditional ? NULL : last;
}

/* Returns whether the writer certainly writes again before it releases the lock that the reader
 * needs. */
static bool reads_is_covered(const struct read_case *of, const struct location_access *write)
{
	const struct order_section *section =
		of->section ? solver_section_of(of->solver, write->id, of->lock) : NULL;

	if (!section || section == of->section)
		return false;
	for (uint32_t i = 0; i < of->count; i++)
		if (solver_is_certain(&of->items[i]) &&
			reads_is_in_section(section, of->items[i].id) &&
			of->items[i].id.index > write->id.index)
			return true;
	return false;
}

static bool reads_may_be_read(const struct read_case *of, uint32_t number)
{
	const struct order *order = of->solver->order;
	const struct location_access *write = &of->items[number];

	if (!write->is_write || solver_is_past(of->solver, write->id) ||
		order_is_before(order, of->read->id, write->id))
		return false;
	if (write->id.thread == of->read->id.thread && write->id.index > of->read->id.index)
		return false;
	if (reads_is_covered(of, write))
		return false;
	for (uint32_t i = 0; i < of->count; i++)
		if (i != number && solver_is_certain(&of->items[i]) &&
			order_is_before(order, write->id, of->items[i].id) &&
			order_is_before(order, of->items[i].id, of->read->id))
			return false;
	return true;
}

static bool reads_is_initial_hidden(const struct read_case *of)
{
	for (uint32_t i = 0; i < of->count; i++)
		if (solver_is_certain(&of->items[i]) &&
			!solver_is_past(of->solver, of->items[i].id) &&
			order_is_before(of->solver->order, of->items[i].id, of->read->id))
			return true;
	return false;
}

static Z3_ast reads_is_unseen(
	const struct read_case *of, uint32_t number, const struct location_access *write)
{
	struct solver *solver = of->solver;
	const struct event_id id = of->items[number].id;
	Z3_ast result = solver_not(solver, solver_occurs(solver, id));

	if (of->items[number].is_conditional)
		result = solver_or(solver, result,
			solver_not(solver, solver_is_made(solver, &of->items[number])));
	if (write)
		result = solver_or(solver, result, solver_before(solver, id, write->id));
	return solver_or(solver, result, solver_before(solver, of->read->id, id));
}

/* Returns the condition that the read returns the value of write `number`: no other write lies
 * between both. */
static Z3_ast reads_reads_from(const struct read_case *of, uint32_t number)
{
	struct solver *solver = of->solver;
	const struct location_access *write = &of->items[number];
	FREE_SCOPED Z3_ast *parts = array_new(of->count + 5u, sizeof *parts);
	unsigned count = 0;

	parts[count++] = Z3_mk_eq(
		solver->z3, solver_accessed(solver, of->read), solver_accessed(solver, write));
	if (write->id.thread != of->read->id.thread)
		parts[count++] = solver_occurs(solver, write->id);
	if (write->is_conditional)
		parts[count++] = solver_is_made(solver, write);
	parts[count++] = solver_before(solver, write->id, of->read->id);
	for (uint32_t i = 0; i < of->count; i++)
		if (i != number && of->is_candidate[i])
			parts[count++] = reads_is_unseen(of, i, write);
	return Z3_mk_and(solver->z3, count, parts);
}

static Z3_ast reads_reads_initial(const struct read_case *of, uint64_t value)
{
	struct solver *solver = of->solver;
	Z3_ast result = Z3_mk_eq(solver->z3, solver_accessed(solver, of->read),
		solver_bits(solver, 8u * of->read->bytes, value));

	for (uint32_t i = 0; i < of->count; i++)
		if (of->is_candidate[i])
			result = solver_and(solver, result, reads_is_unseen(of, i, NULL));
	return result;
}

static void reads_add_read(struct read_case *of)
{
	struct solver *solver = of->solver;
	Z3_ast any = Z3_mk_false(solver->z3);
	const struct location_access *seen = reads_seen_before(of);
	uint64_t initial;

	if (seen) {
		/* The thread has held the lock since its last access to this variable, and others access the variable
		 * only under that lock. The read therefore sees the same value as that access. */
		solver_add(solver, Z3_mk_eq(solver->z3, solver_accessed(solver, of->read),
					   solver_accessed(solver, seen)));
		return;
	}
	of->is_candidate = array_new(of->count + 1u, sizeof *of->is_candidate);
	for (uint32_t i = 0; i < of->count; i++)
		of->is_candidate[i] = reads_may_be_read(of, i);
	for (uint32_t i = 0; i < of->count; i++)
		if (of->is_candidate[i])
			any = solver_or(solver, any, reads_reads_from(of, i));
	if (!reads_is_initial_hidden(of) &&
		solver_find_initial(solver, of->items, of->count, &initial))
		any = solver_or(solver, any, reads_reads_initial(of, initial));
	solver_require(solver, solver_occurs(solver, of->read->id), any);
	free(of->is_candidate);
}

void solver_keep_reads(struct solver *solver, const struct location_access *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (items[i].is_write || solver_is_past(solver, items[i].id))
			continue;
		solver_add(solver, Z3_mk_eq(solver->z3, solver_accessed(solver, &items[i]),
					   solver_bits(solver, 8u * items[i].bytes,
						   reads_value_of(solver, &items[i]))));
	}
}

void solver_add_location(struct solver *solver, const struct location_access *items, uint32_t count)
{
	uint64_t lock = 0;
	const bool is_guarded = solver_find_guard(solver, items, count, &lock);

	for (uint32_t i = 0; i < count; i++) {
		struct read_case of = {.solver = solver,
			.items = items,
			.count = count,
			.read = &items[i],
			.lock = lock};

		if (solver_is_late(solver))
			return;
		if (items[i].is_write || solver_is_past(solver, items[i].id))
			continue;
		if (is_guarded)
			of.section = solver_section_of(solver, items[i].id, lock);
		reads_add_read(&of);
	}
}

/* Adds a group of accesses. `end` is the number of accesses, which are sorted by address. */
static void reads_add_group(struct location_groups *groups, uint32_t first, uint32_t end)
{
	uint64_t behind = groups->accesses[first].address + groups->accesses[first].bytes;
	struct location_group *group;

	groups->items = array_room(groups->items, groups->count, sizeof *groups->items);
	group = &groups->items[groups->count];
	*group = (struct location_group){.first = first, .count = 1, .united = groups->count++};
	for (; first + group->count < end; group->count++) {
		const struct location_access *item = &groups->accesses[first + group->count];

		if (item->address >= behind)
			return;
		group->is_mixed |= item->address != groups->accesses[first].address ||
				   item->bytes != groups->accesses[first].bytes;
		if (item->address + item->bytes > behind)
			behind = item->address + item->bytes;
	}
}

static bool reads_is_hidden(const struct solver *solver, const struct location_groups *groups,
	const struct location_group *group)
{
	for (uint32_t i = group->first; i < group->first + group->count; i++)
		if (hidden_has(
			    solver->order, groups->accesses[i].address, groups->accesses[i].bytes))
			return true;
	return false;
}

void solver_add_memory(struct solver *solver)
{
	struct accesses list = {0};
	struct location_groups groups = {0};

	reads_collect(solver, &list);
	groups.accesses = list.items;
	for (uint32_t first = 0; first < list.count; first += groups.items[groups.count - 1].count)
		reads_add_group(&groups, first, list.count);
	solver_add_aliases(solver, &groups);
	for (uint32_t i = 0; i < groups.count; i++) {
		const struct location_group *group = &groups.items[i];

		if (group->is_open)
			continue;
		if (group->is_mixed)
			solver_add_mixed(solver, &list.items[group->first], group->count);
		else if (reads_is_hidden(solver, &groups, group))
			solver_keep_reads(solver, &list.items[group->first], group->count);
		else
			solver_add_location(solver, &list.items[group->first], group->count);
	}
	free(groups.items);
	free(list.items);
}
