/* Rounds of barriers: arrivals, leaves after waiting, and the last arrival. */
#include <stdlib.h>

#include "base/bug.h"
#include "branches/solve/order_internal.h"

static struct order_round *open_round(struct order *order, const struct record_op *op)
{
	struct order_round *round;

	for (uint32_t i = order->round_count; i-- > 0;)
		if (order->rounds[i].address == op->address) {
			if (order->rounds[i].last == ORDER_NONE)
				return &order->rounds[i];
			break;
		}
	if (order->round_count == order->round_capacity) {
		order->round_capacity = order->round_capacity ? 2 * order->round_capacity : 16;
		order->rounds =
			realloc(order->rounds, order->round_capacity * sizeof *order->rounds);
		BUG_ON(!order->rounds);
	}
	round = &order->rounds[order->round_count++];
	*round = (struct order_round){
		.address = op->address, .number = op->argument, .last = ORDER_NONE};
	return round;
}

/* The barrier's previous round; NULL: none. */
static const struct order_round *round_before(
	const struct order *order, const struct order_round *round)
{
	for (const struct order_round *before = round; before-- > order->rounds;)
		if (before->address == round->address)
			return before;
	return NULL;
}

static bool has_thread(const struct order_round *round, uint16_t thread)
{
	for (uint32_t i = 0; i < round->count; i++)
		if (round->arrivals[i].at.thread == thread)
			return true;
	return false;
}

/* An arriving thread has left the previous round, or comes after all arrivals of that round. */
static void add_arrival(struct order *order, const struct op_event *event)
{
	struct order_round *round = open_round(order, event->op);
	const struct order_round *before = round_before(order, round);

	if (before && !has_thread(before, event->id.thread))
		for (uint32_t i = 0; i < before->count; i++)
			order_add_edge(order, before->arrivals[i].at, event->id);
	round->arrivals = realloc(round->arrivals, (round->count + 1) * sizeof *round->arrivals);
	BUG_ON(!round->arrivals);
	round->arrivals[round->count++] =
		(struct order_arrival){.at = event->id, .leave = ORDER_NONE};
	if (event->op->flags & RECORD_OP_LAST)
		round->last = round->count - 1;
}

static void add_round_edge(
	struct order *order, uint32_t round, struct event_id first, struct event_id second)
{
	const uint32_t count = order->edge_count;

	order_add_edge(order, first, second);
	if (order->edge_count > count)
		order->edges[count].round = round + 1;
}

static void order_rounds_add_leave(struct order *order, const struct op_event *event)
{
	for (struct order_round *round = order->rounds + order->round_count;
		round-- > order->rounds;) {
		if (round->address != event->op->address || round->number != event->op->argument ||
			round->last == ORDER_NONE)
			continue;
		for (uint32_t i = 0; i < round->count; i++)
			if (round->arrivals[i].at.thread == event->id.thread)
				round->arrivals[i].leave = event->id.index;
		add_round_edge(order, (uint32_t)(round - order->rounds),
			round->arrivals[round->last].at, event->id);
		return;
	}
}

void order_add_rounds(struct order *order, const struct op_list *list)
{
	bool is_whole = !order->walk->part.begin && !order->walk->part.end;

	for (uint32_t i = 0; i < order->thread_count; i++)
		is_whole &= order->walk->threads[i].summary.end == WALK_COMPLETE ||
			    order->walk->threads[i].summary.end == WALK_CRASHED;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct op_event *event = &list->items[i];

		if (event->op->kind == OP_BARRIER_ARRIVE)
			add_arrival(order, event);
		else if (event->op->kind == OP_BARRIER_LEAVE)
			order_rounds_add_leave(order, event);
	}
	for (uint32_t i = 0; i < order->round_count; i++) {
		struct order_round *round = &order->rounds[i];

		round->is_known = is_whole && round->last != ORDER_NONE;
		for (uint32_t j = 0; round->last != ORDER_NONE && j < round->count; j++)
			add_round_edge(
				order, i, round->arrivals[j].at, round->arrivals[round->last].at);
	}
}

void order_release_rounds(struct order *order)
{
	for (uint32_t i = 0; i < order->round_count; i++)
		free(order->rounds[i].arrivals);
	free(order->rounds);
}
