/*
 * Reduction by locks, which the paper does not have. If one lock is held at all writes of a location,
 * a thread that holds the lock reads the value that it last saw or wrote in the same section. The
 * last write of each section is the only one that other threads see.
 */
#include <stdlib.h>

#include "base/array.h"
#include "branches/constraints/solver.h"

bool solver_counts(const struct solver *solver, const struct order_section *section)
{
	return solver_has(solver, (struct event_id){section->thread, section->begin}) &&
	       (section->end == UINT32_MAX ||
		       !solver_is_past(solver, (struct event_id){section->thread, section->end}));
}

/* Returns whether the thread surely holds the lock. After a try-lock with another result it may run
 * without the lock, unless a branch on the result follows at once. */
static bool sections_is_sure(const struct solver *solver, const struct order_section *section)
{
	const struct walked_thread *walked = &solver->walk->threads[section->thread];
	const struct walk_event *begin = &walked->events[section->begin];
	const struct walk_event *next = begin + 1;

	if (begin->kind != EVENT_OP || !begin->term)
		return true;
	return section->begin + 1 < walked->count && next->kind == EVENT_BRANCH &&
	       term_sole(walk_event_term(solver->walk, next)) ==
		       walk_event_term(solver->walk, begin);
}

void solver_list_sections(struct solver *solver)
{
	const struct order *order = solver->order;

	solver->sections = array_new(order->thread_count + 1u, sizeof *solver->sections);
	for (uint32_t i = 0; i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];
		struct section_list *list = &solver->sections[section->thread];

		if (!solver_counts(solver, section) || !sections_is_sure(solver, section))
			continue;
		ARRAY_APPEND(list->items, list->count, section);
	}
}

void solver_release_sections(struct solver *solver)
{
	for (uint32_t i = 0; solver->sections && i < solver->order->thread_count; i++)
		free(solver->sections[i].items);
	free(solver->sections);
}

static bool sections_is_in(const struct order_section *section, struct event_id event)
{
	return section->begin < event.index &&
	       (section->end == UINT32_MAX || event.index < section->end);
}

const struct order_section *solver_section_of(
	const struct solver *solver, struct event_id event, uint64_t lock)
{
	const struct section_list *list = &solver->sections[event.thread];

	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i]->lock == lock && sections_is_in(list->items[i], event))
			return list->items[i];
	return NULL;
}

static bool sections_guards(const struct solver *solver, uint64_t lock,
	const struct location_access *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct order_section *section;

		if (!items[i].is_write || solver_is_past(solver, items[i].id))
			continue;
		section = solver_section_of(solver, items[i].id, lock);
		if (!section || section->is_shared)
			return false;
	}
	return true;
}

bool solver_find_guard(const struct solver *solver, const struct location_access *items,
	uint32_t count, uint64_t *lock)
{
	const struct section_list *list;
	uint32_t write = 0;

	while (write < count && (!items[write].is_write || solver_is_past(solver, items[write].id)))
		write++;
	if (write == count)
		return false;
	list = &solver->sections[items[write].id.thread];
	for (uint32_t i = 0; i < list->count; i++)
		if (sections_is_in(list->items[i], items[write].id) && !list->items[i]->is_shared &&
			sections_guards(solver, list->items[i]->lock, items, count)) {
			*lock = list->items[i]->lock;
			return true;
		}
	return false;
}
