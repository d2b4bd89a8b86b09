/* Vector clocks: the events that must precede an event, and those that did in this run. */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/array.h"
#include "branches/order/order_internal.h"
#include "base/slots.h"

static int order_clocks_compare_edges(const void *left, const void *right)
{
	const struct order_edge *a = left, *b = right;

	if (a->second.thread != b->second.thread)
		return a->second.thread < b->second.thread ? -1 : 1;
	return a->second.index < b->second.index ? -1 : a->second.index > b->second.index;
}

static uint32_t *order_clocks_row_of(
	const struct order *order, const struct order_clocks *clocks, uint32_t number)
{
	return clocks->rows + (uint64_t)number * order->thread_count;
}

static uint32_t order_clocks_add_row(const struct order *order, struct order_clocks *clocks)
{
	clocks->rows = array_room(
		clocks->rows, clocks->row_count, order->thread_count * sizeof *clocks->rows);
	BUG_ON(clocks->row_count >= UINT32_MAX);
	return (uint32_t)clocks->row_count++;
}

/* Joins the rows of two events. The event gets a row of its own (`is_own`: it has one) only if
 * `other` adds something. */
static void order_clocks_join(struct order *order, struct order_clocks *clocks,
	struct event_id event, struct event_id other, bool *is_own)
{
	const uint32_t threads = order->thread_count;
	uint32_t *number = &clocks->numbers[event.thread][event.index];

	for (uint32_t i = 0; i < threads; i++) {
		const uint32_t count = order_clock_of(order, clocks, other, (uint16_t)i);

		if (i == event.thread || count <= order_clocks_row_of(order, clocks, *number)[i])
			continue;
		if (!*is_own) {
			const uint32_t added = order_clocks_add_row(order, clocks);

			memcpy(order_clocks_row_of(order, clocks, added),
				order_clocks_row_of(order, clocks, *number),
				threads * sizeof *clocks->rows);
			*number = added;
			*is_own = true;
		}
		order_clocks_row_of(order, clocks, *number)[i] = count;
	}
}

struct position {
	uint64_t at;
	struct event_id id;
};

static int order_clocks_compare_positions(const void *left, const void *right)
{
	const struct position *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return event_compare_ids(a->id, b->id);
}

static void order_clocks_sort_events(struct order *order)
{
	const struct walk *walk = order->walk;
	FREE_SCOPED struct position *list = NULL;
	uint64_t count = 0;

	for (uint32_t i = 0; i < order->thread_count; i++)
		count += walk->threads[i].count;
	list = array_new(count + 1, sizeof *list);
	order->events = array_new(count + 1, sizeof *order->events);
	for (struct event_id id = {0}; walk_has_event(walk, &id); id.index++)
		list[order->event_count++] =
			(struct position){walk_event_of(walk, id)->position, id};
	qsort(list, count, sizeof *list, order_clocks_compare_positions);
	for (uint64_t i = 0; i < count; i++)
		order->events[i] = list[i].id;
}

/* The last event that wrote a word or released a lock, by address. */
struct last_event {
	uint64_t key; /* of slots.h: the address plus one */
	struct event_id id;
};

/* Notes the accidental order of this run: previous access to the word, previous holder of the
 * lock. */
static void order_clocks_note_past(
	struct order *order, struct slots *table, struct event_id id, bool *is_own)
{
	const struct walk_event *event = walk_event_of(order->walk, id);
	const struct record_op *op = walk_op_of(order->walk, id);
	uint64_t address;
	struct last_event *last;

	if (!event_is_access(event) && !(op && (op->address || op->kind == OP_COND_WAIT)))
		return;
	address = op ? order_lock_of(op) : event->address >> 3;
	last = slots_get(table, sizeof *last, address + 1);
	if (last && last->id.thread != id.thread)
		order_clocks_join(order, &order->pasts, id, last->id, is_own);
	if (event->kind == EVENT_READ)
		return;
	last = slots_add(table, sizeof *last, address + 1);
	last->id = id;
}

/* Gives the event the row of the thread's previous event; a first event has the empty row 0. */
static void order_clocks_inherit(struct order_clocks *clocks, struct event_id id)
{
	uint32_t *numbers = clocks->numbers[id.thread];

	numbers[id.index] = id.index ? numbers[id.index - 1] : 0;
}

/* Edges go forward in the run: one pass is enough. */
static void order_clocks_fill_clocks(struct order *order)
{
	FREE_SCOPED uint32_t *next = array_new(order->thread_count + 1u, sizeof *next);
	struct slots table = {0}; /* struct last_event */

	for (uint32_t i = order->edge_count; i-- > 0;)
		next[order->edges[i].second.thread] = i;
	for (uint64_t i = 0; i < order->event_count; i++) {
		const struct event_id id = order->events[i];
		uint32_t *edge = &next[id.thread];
		bool has_clock = false, has_past = false;

		order_clocks_inherit(&order->clocks, id);
		order_clocks_inherit(&order->pasts, id);
		for (; *edge < order->edge_count &&
			order->edges[*edge].second.thread == id.thread &&
			order->edges[*edge].second.index == id.index;
			(*edge)++) {
			if (!order->edges[*edge].is_usual)
				order_clocks_join(order, &order->clocks, id,
					order->edges[*edge].first, &has_clock);
			order_clocks_join(
				order, &order->pasts, id, order->edges[*edge].first, &has_past);
		}
		order_clocks_note_past(order, &table, id, &has_past);
	}
	slots_release(&table);
}

static void order_clocks_open_clocks(struct order *order, struct order_clocks *clocks)
{
	const uint32_t threads = order->thread_count;

	clocks->numbers = array_new(threads + 1u, sizeof *clocks->numbers);
	for (uint32_t i = 0; i < threads; i++) {
		clocks->numbers[i] =
			array_new(order->walk->threads[i].count + 1, sizeof **clocks->numbers);
	}
	memset(order_clocks_row_of(order, clocks, order_clocks_add_row(order, clocks)), 0,
		threads * sizeof *clocks->rows);
}

void order_release_clocks(struct order_clocks *clocks, uint32_t threads)
{
	for (uint32_t i = 0; clocks->numbers && i < threads; i++)
		free(clocks->numbers[i]);
	free(clocks->numbers);
	free(clocks->rows);
}

static void order_clocks_list_reads(struct order *order)
{
	const struct walk *walk = order->walk;

	order->reads = array_new(walk->terms.variable_count + 1u, sizeof *order->reads);
	for (struct event_id id = {0}; walk_has_event(walk, &id); id.index++) {
		const struct walk_event *event = walk_event_of(walk, id);

		if (event->kind == EVENT_READ || (event->kind == EVENT_OP && event->term))
			order->reads[walk_event_term(walk, event)->number] = id;
	}
}

void order_fill_clocks(struct order *order)
{
	order_clocks_list_reads(order);
	if (order->edge_count)
		qsort(order->edges, order->edge_count, sizeof *order->edges,
			order_clocks_compare_edges);
	order_clocks_sort_events(order);
	order_clocks_open_clocks(order, &order->clocks);
	order_clocks_open_clocks(order, &order->pasts);
	order_clocks_fill_clocks(order);
}
