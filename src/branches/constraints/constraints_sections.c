/*
 * Reduction by locks, which the paper does not have. If one lock is held at all writes of a place,
 * a thread that holds the lock reads the value that it last saw or wrote in the same section. The
 * last write of each section is the only one that other threads see.
 */
#include <stdlib.h>

#include "base/array.h"
#include "branches/constraints/constraints.h"

bool constraints_counts(const struct constraints *constraints, const struct order_section *section)
{
	return constraints_has(constraints, (struct event_id){section->thread, section->begin}) &&
	       (section->end == UINT32_MAX ||
		       !constraints_is_past(
			       constraints, (struct event_id){section->thread, section->end}));
}

/* Returns whether the thread surely holds the lock. After a try-lock with another result it may run
 * without the lock, unless a branch on the result follows at once. */
static bool constraints_sections_is_sure(
	const struct constraints *constraints, const struct order_section *section)
{
	const struct walked_thread *walked = &constraints->walk->threads[section->thread];
	const struct walk_event *begin = &walked->events[section->begin];
	const struct walk_event *next = begin + 1;

	if (begin->kind != EVENT_OP || !begin->term)
		return true;
	return section->begin + 1 < walked->count && next->kind == EVENT_BRANCH &&
	       term_sole(walk_event_term(constraints->walk, next)) ==
		       walk_event_term(constraints->walk, begin);
}

void constraints_list_sections(struct constraints *constraints)
{
	const struct order *order = constraints->order;

	constraints->sections = array_new(order->thread_count + 1u, sizeof *constraints->sections);
	for (uint32_t i = 0; i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];
		struct section_list *list = &constraints->sections[section->thread];

		if (!constraints_counts(constraints, section) ||
			!constraints_sections_is_sure(constraints, section))
			continue;
		ARRAY_APPEND(list->items, list->count, section);
	}
}

void constraints_release_sections(struct constraints *constraints)
{
	for (uint32_t i = 0; constraints->sections && i < constraints->order->thread_count; i++)
		free(constraints->sections[i].items);
	free(constraints->sections);
}

static bool constraints_sections_is_in(const struct order_section *section, struct event_id event)
{
	return section->begin < event.index &&
	       (section->end == UINT32_MAX || event.index < section->end);
}

const struct order_section *constraints_section_of(
	const struct constraints *constraints, struct event_id event, uint64_t lock)
{
	const struct section_list *list = &constraints->sections[event.thread];

	for (uint32_t i = 0; i < list->count; i++)
		if (list->items[i]->lock == lock &&
			constraints_sections_is_in(list->items[i], event))
			return list->items[i];
	return NULL;
}

static bool constraints_sections_guards(const struct constraints *constraints, uint64_t lock,
	const struct place_access *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct order_section *section;

		if (!items[i].is_write || constraints_is_past(constraints, items[i].id))
			continue;
		section = constraints_section_of(constraints, items[i].id, lock);
		if (!section || section->is_shared)
			return false;
	}
	return true;
}

bool constraints_find_guard(const struct constraints *constraints, const struct place_access *items,
	uint32_t count, uint64_t *lock)
{
	const struct section_list *list;
	uint32_t write = 0;

	while (write < count &&
		(!items[write].is_write || constraints_is_past(constraints, items[write].id)))
		write++;
	if (write == count)
		return false;
	list = &constraints->sections[items[write].id.thread];
	for (uint32_t i = 0; i < list->count; i++)
		if (constraints_sections_is_in(list->items[i], items[write].id) &&
			!list->items[i]->is_shared &&
			constraints_sections_guards(
				constraints, list->items[i]->lock, items, count)) {
			*lock = list->items[i]->lock;
			return true;
		}
	return false;
}
