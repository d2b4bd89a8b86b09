#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "branches/order/order_internal.h"

static int order_compare_steps(const void *left, const void *right)
{
	const struct op_event *a = left, *b = right;

	return a->op->step < b->op->step ? -1 : a->op->step > b->op->step;
}

static void order_list_ops(const struct walk *walk, struct op_list *list)
{
	for (struct event_id id = {0}; walk_has_event(walk, &id); id.index++) {
		const struct record_op *op = walk_op_of(walk, id);

		if (op)
			ARRAY_APPEND(list->items, list->count, (struct op_event){op, id});
	}
	if (list->count)
		qsort(list->items, list->count, sizeof *list->items, order_compare_steps);
}

void order_add(struct order *order, struct order_edge edge)
{
	if (edge.first.thread != edge.second.thread)
		ARRAY_APPEND(order->edges, order->edge_count, edge);
}

static bool order_takes(const struct record_op *op, bool *is_shared)
{
	*is_shared = false;
	switch (op->kind) {
	case OP_RWLOCK_RDLOCK:
	case OP_RWLOCK_TRYRDLOCK:
		*is_shared = true;
		return true;
	case OP_MUTEX_LOCK:
	case OP_MUTEX_TRYLOCK:
	case OP_RWLOCK_WRLOCK:
	case OP_RWLOCK_TRYWRLOCK:
	case OP_SPIN_LOCK:
	case OP_SPIN_TRYLOCK:
	case OP_FILE_LOCK:
	case OP_FILE_TRYLOCK:
		return true;
	default:
		return false;
	}
}

static bool order_gives(const struct record_op *op)
{
	return op->kind == OP_MUTEX_UNLOCK || op->kind == OP_RWLOCK_UNLOCK ||
	       op->kind == OP_SPIN_UNLOCK || op->kind == OP_FILE_UNLOCK || op->kind == OP_COND_WAIT;
}

static struct order_section *order_open_section(struct order *order, uint16_t thread, uint64_t lock)
{
	for (uint32_t i = order->section_count; i-- > 0;) {
		struct order_section *section = &order->sections[i];

		if (section->thread == thread && section->lock == lock &&
			section->end == UINT32_MAX)
			return section;
	}
	return NULL;
}

/* Adds a critical section to the lock that the event acquires, for the thread of the event. */
static void order_add_section(struct order *order, const struct op_event *event, uint32_t begin,
	uint32_t end, bool is_shared)
{
	ARRAY_APPEND(order->sections, order->section_count,
		(struct order_section){
			order_lock_of(event->op), event->id.thread, begin, end, is_shared});
}

/* The acquisitions of a recursive lock form one section. */
struct depth {
	uint64_t key; /* of slots.h: lock and thread */
	uint32_t depth;
};

static uint32_t *order_depth_of(struct slots *depths, const struct op_event *event)
{
	struct depth *found = slots_add(depths, sizeof *found,
		(order_lock_of(event->op) + 1) * THREAD_CAPACITY + event->id.thread);

	return &found->depth;
}

/*
 * A lock that is released without an acquisition was acquired before other threads existed, or
 * before the examined part of the run. Its section begins with the thread's first operation. The
 * mode of a read-write lock is unknown; shared is the weaker claim.
 */
static void order_find_early_sections(struct order *order, const struct op_list *list)
{
	struct slots visited = {0};

	for (uint32_t i = 0; i < list->count; i++) {
		const struct op_event *event = &list->items[i];
		const uint64_t before = visited.count;
		uint32_t first = 0;
		bool is_shared;

		if ((event->id.thread && !order->walk->part.begin) ||
			!(order_takes(event->op, &is_shared) || order_gives(event->op)))
			continue;
		(void)order_depth_of(&visited, event);
		if (visited.count == before || !order_gives(event->op) ||
			event->op->flags & RECORD_OP_FAILED)
			continue;
		while (list->items[first].id.thread != event->id.thread)
			first++;
		if (first < i)
			order_add_section(order, event, list->items[first].id.index,
				event->id.index, event->op->kind == OP_RWLOCK_UNLOCK);
	}
	slots_release(&visited);
}

static void order_find_sections(struct order *order, const struct op_list *list)
{
	struct slots depths = {0};

	order_find_early_sections(order, list);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct op_event *event = &list->items[i];
		const bool has_failed = event->op->flags & RECORD_OP_FAILED;
		bool is_shared;

		if (order_takes(event->op, &is_shared)) {
			if (has_failed) {
				ARRAY_APPEND(order->failures, order->failure_count,
					(struct order_attempt){
						order_lock_of(event->op), event->id, is_shared});
			} else if ((*order_depth_of(&depths, event))++ == 0)
				order_add_section(
					order, event, event->id.index, UINT32_MAX, is_shared);
		} else if (order_gives(event->op)) {
			struct order_section *section = order_open_section(
				order, event->id.thread, order_lock_of(event->op));
			uint32_t *depth = order_depth_of(&depths, event);

			*depth -= *depth > 0;
			if (section && !*depth)
				section->end = event->id.index;
		}
	}
	slots_release(&depths);
}

void order_sections_build(struct order_sections *index, const struct order_section *sections,
	uint32_t count, uint32_t thread_count)
{
	FREE_SCOPED uint32_t *at = array_new(thread_count + 1u, sizeof *at);

	index->items = array_new(count + 1u, sizeof *index->items);
	index->reach = array_new(count + 1u, sizeof *index->reach);
	index->first = array_new(thread_count + 1u, sizeof *index->first);
	for (uint32_t i = 0; i < count; i++)
		index->first[sections[i].thread + 1]++;
	for (uint32_t i = 0; i < thread_count; i++) {
		index->first[i + 1] += index->first[i];
		at[i] = index->first[i];
	}
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t thread = sections[i].thread, here = at[thread]++;

		index->items[here] = i;
		index->reach[here] = sections[i].end;
		if (here > index->first[thread] && index->reach[here - 1] > sections[i].end)
			index->reach[here] = index->reach[here - 1];
	}
}

void order_sections_release(struct order_sections *index)
{
	free(index->items);
	free(index->reach);
	free(index->first);
	*index = (struct order_sections){0};
}

uint32_t order_sections_from(const struct order_sections *index, uint32_t thread, uint32_t event)
{
	uint32_t low;

	SEARCH(low, index->first[thread], index->first[thread + 1], index->reach[low] < event);
	return low;
}

static void order_add_thread_edges(struct order *order, const struct op_event *event)
{
	const struct record_op *op = event->op;
	const struct walk *walk = order->walk;

	if (op->other >= order->thread_count)
		return;
	if (op->kind == OP_THREAD_CREATE && walk->threads[op->other].count)
		order_add_edge(order, event->id, (struct event_id){op->other, 0});
	if ((op->kind == OP_THREAD_JOIN || op->kind == OP_THREAD_TRYJOIN) &&
		!(op->flags & RECORD_OP_FAILED) && walk->threads[op->other].count)
		order_add_edge(order,
			(struct event_id){
				op->other, (uint32_t)(walk->threads[op->other].count - 1)},
			event->id);
}

/* Returns whether operations on one object keep their order of the run. */
static bool order_is_kept(uint8_t kind)
{
	switch (op_descriptions[kind].object) {
	case OBJECT_NOTHING:
	case OBJECT_THREAD:
	case OBJECT_MUTEX:
	case OBJECT_RWLOCK:
	case OBJECT_SPIN:
	case OBJECT_FILE:
	case OBJECT_MEMORY:
	case OBJECT_BARRIER:
		return false;
	default:
		return kind != OP_COND_WAIT && kind != OP_COND_WAKE && kind != OP_COND_SIGNAL &&
		       kind != OP_COND_BROADCAST && kind != OP_SEM_READ;
	}
}

static void order_add_kept_edge(struct order *order, const struct op_list *list, uint32_t later)
{
	const struct op_event *event = &list->items[later];

	for (uint32_t i = later; i-- > 0;) {
		const struct op_event *before = &list->items[i];

		if (!order_is_kept(before->op->kind) || before->op->address != event->op->address ||
			(before->op->argument != event->op->argument &&
				op_descriptions[event->op->kind].object != OBJECT_FUTEX))
			continue;
		order_add_edge(order, before->id, event->id);
		return;
	}
}

/* Adds the edge of a wait for a system signal or input: it follows the last one that another thread
 * sent before. */
static void order_add_arrival_edge(
	struct order *order, const struct op_list *list, uint32_t wait, uint8_t kind)
{
	const struct op_event *event = &list->items[wait];

	for (uint32_t i = wait; i-- > 0;) {
		const struct op_event *before = &list->items[i];

		if (before->op->kind != kind || before->id.thread == event->id.thread ||
			(kind == OP_SIGNAL_SEND && before->op->address != event->op->address))
			continue;
		order_add_edge(order, before->id, event->id);
		return;
	}
}

static void order_add_edges(struct order *order, const struct op_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct op_event *event = &list->items[i];

		order_add_thread_edges(order, event);
		switch (event->op->kind) {
		case OP_SEM_WAIT:
		case OP_SEM_TRYWAIT:
		case OP_SEM_POST:
			break;
		case OP_SIGNAL_WAIT:
			order_add_arrival_edge(order, list, i, OP_SIGNAL_SEND);
			order_add_kept_edge(order, list, i);
			break;
		case OP_FD_READ:
		case OP_FD_POLL:
			order_add_arrival_edge(order, list, i, OP_FD_WRITE);
			order_add_kept_edge(order, list, i);
			break;
		default:
			if (order_is_kept(event->op->kind))
				order_add_kept_edge(order, list, i);
		}
	}
}

void order_build(struct order *order, const struct walk *walk)
{
	struct op_list list = {0};

	*order = (struct order){.walk = walk, .thread_count = walk->record->thread_count};
	order_list_ops(walk, &list);
	order_find_sections(order, &list);
	order_sections_build(
		&order->by_thread, order->sections, order->section_count, order->thread_count);
	order_add_edges(order, &list);
	order_add_rounds(order, &list);
	order_add_semaphores(order, &list);
	order_add_conditions(order, &list);
	order_add_times(order, &list);
	order_add_once(order, &list);
	free(list.items);
	order_fill_clocks(order);
	order_add_lives(order);
	order_add_firsts(order);
	hidden_find(order);
	addresses_build(&order->addresses, order);
}

void order_release(struct order *order)
{
	order_release_clocks(&order->clocks, order->thread_count);
	order_release_clocks(&order->pasts, order->thread_count);
	free(order->events);
	free(order->reads);
	free(order->edges);
	free(order->sections);
	order_sections_release(&order->by_thread);
	free(order->failures);
	free(order->lives);
	slots_release(&order->firsts);
	free(order->hidden);
	for (uint32_t i = 0; i < order->semaphore_count; i++)
		free(order->semaphores[i].uses);
	free(order->semaphores);
	order_release_conditions(order);
	order_release_rounds(order);
	slots_release(&order->addresses);
	*order = (struct order){0};
}

bool order_is_before(const struct order *order, struct event_id first, struct event_id second)
{
	if (first.thread == second.thread)
		return first.index < second.index;
	return order_clock_of(order, &order->clocks, second, first.thread) > first.index;
}
