/*
 * Barriers. A thread leaves a barrier after all threads have arrived. Another thread than in the
 * run may arrive last and get the special result. That thread does not wait and makes one step less
 * than in the run; the thread that was last in the run waits and makes one more (schedule.h).
 */
#include "model/op.h"
#include "branches/constraints/constraints.h"

bool constraints_is_open_round(
	const struct constraints *constraints, const struct order_round *round)
{
	for (uint32_t i = 0; i < round->count; i++)
		if (constraints_is_past(constraints, round->arrivals[i].at))
			return false;
	return round->is_known;
}

static Z3_ast constraints_rounds_is_complete(
	struct constraints *constraints, const struct order_round *round)
{
	Z3_ast all = Z3_mk_true(constraints->z3);

	for (uint32_t i = 0; i < round->count; i++)
		all = constraints_and(
			constraints, all, constraints_happens(constraints, round->arrivals[i].at));
	return all;
}

/* Returns the thread's next event with a time. UINT32_MAX: there is none in the window. */
static uint32_t constraints_rounds_next_timed_event(
	const struct constraints *constraints, struct event_id event)
{
	for (uint32_t i = event.index + 1; i < constraints->window->end[event.thread]; i++)
		if (constraints->times[event.thread][i])
			return i;
	return UINT32_MAX;
}

/* Adds constraints: events after the barrier follow all arrivals. */
static void constraints_rounds_add_leaving(struct constraints *constraints,
	const struct order_round *round, const struct order_arrival *arrival, Z3_ast complete)
{
	const bool is_last = arrival->leave == ORDER_NONE;
	const struct event_id next = {arrival->at.thread,
		is_last ? constraints_rounds_next_timed_event(constraints, arrival->at)
			: arrival->leave};
	const struct event_id reached = {
		arrival->at.thread, is_last ? arrival->at.index + 1 : arrival->leave};

	if (!constraints_has(constraints, arrival->at))
		return;
	constraints_add(constraints, constraints_implies(constraints,
					     constraints_happens(constraints, reached), complete));
	if (next.index == UINT32_MAX || !constraints_has(constraints, next))
		return;
	for (uint32_t i = 0; i < round->count; i++)
		if (constraints_has(constraints, round->arrivals[i].at))
			constraints_add(constraints,
				constraints_before(constraints, round->arrivals[i].at, next));
}

static Z3_ast constraints_rounds_is_last(struct constraints *constraints,
	const struct order_round *round, const struct order_arrival *arrival)
{
	Z3_ast result = Z3_mk_true(constraints->z3);

	for (uint32_t i = 0; i < round->count; i++)
		if (&round->arrivals[i] != arrival)
			result = constraints_and(constraints, result,
				constraints_before(
					constraints, round->arrivals[i].at, arrival->at));
	return result;
}

static void constraints_rounds_add_round(
	struct constraints *constraints, const struct order_round *round)
{
	Z3_ast complete = constraints_rounds_is_complete(constraints, round);

	for (uint32_t i = 0; i < round->count; i++) {
		const struct order_arrival *arrival = &round->arrivals[i];
		Z3_ast otherwise = constraints_differs_from_run(constraints, arrival->at);

		constraints_rounds_add_leaving(constraints, round, arrival, complete);
		for (uint32_t j = i + 1; j < round->count; j++)
			constraints_add(constraints,
				constraints_or(constraints,
					constraints_before(
						constraints, arrival->at, round->arrivals[j].at),
					constraints_before(
						constraints, round->arrivals[j].at, arrival->at)));
		if (!otherwise)
			continue;
		if (i != round->last)
			otherwise = Z3_mk_not(constraints->z3, otherwise);
		constraints_add(constraints,
			constraints_implies(constraints, complete,
				Z3_mk_iff(constraints->z3, Z3_mk_not(constraints->z3, otherwise),
					constraints_rounds_is_last(constraints, round, arrival))));
	}
}

void constraints_add_rounds(struct constraints *constraints)
{
	const struct order *order = constraints->order;

	for (uint32_t i = 0; i < order->round_count && !constraints_is_late(constraints); i++)
		if (constraints_is_open_round(constraints, &order->rounds[i]))
			constraints_rounds_add_round(constraints, &order->rounds[i]);
}

/* Returns whether the event belongs to the barrier. A quick test: long runs have many rounds, but
 * few events belong to one. */
static bool constraints_rounds_is_at_barrier(
	const struct constraints *constraints, struct event_id id)
{
	const struct walk_event *event = &constraints->walk->threads[id.thread].events[id.index];

	return event->kind == EVENT_OP && event->value != UINT64_MAX &&
	       op_descriptions[constraints->walk->record->ops[event->value].kind].object ==
		       OBJECT_BARRIER;
}

static const struct order_round *constraints_rounds_round_at(
	const struct constraints *constraints, struct event_id arrival)
{
	const struct order *order = constraints->order;

	if (!constraints_rounds_is_at_barrier(constraints, arrival))
		return NULL;
	for (uint32_t i = 0; i < order->round_count; i++)
		for (uint32_t j = 0; j < order->rounds[i].count; j++)
			if (order->rounds[i].arrivals[j].at.thread == arrival.thread &&
				order->rounds[i].arrivals[j].at.index == arrival.index)
				return constraints_is_open_round(constraints, &order->rounds[i])
					       ? &order->rounds[i]
					       : NULL;
	return NULL;
}

bool constraints_has_open_round(const struct constraints *constraints, struct event_id arrival)
{
	return constraints_rounds_round_at(constraints, arrival) != NULL;
}

Z3_ast constraints_is_reached(struct constraints *constraints, struct event_id goal)
{
	const struct order_round *round;

	for (uint32_t i = goal.index; i-- > constraints->window->begin[goal.thread];) {
		if (!constraints->times[goal.thread][i])
			continue;
		round = constraints_rounds_round_at(constraints, (struct event_id){goal.thread, i});
		return round ? constraints_rounds_is_complete(constraints, round) : NULL;
	}
	return NULL;
}

Z3_ast constraints_is_held_at_barrier(
	struct constraints *constraints, struct event_id arrival, struct event_id event)
{
	const struct order_round *round = constraints_rounds_round_at(constraints, arrival);
	Z3_ast any = Z3_mk_false(constraints->z3);

	for (uint32_t i = 0; round && i < round->count; i++)
		any = constraints_or(constraints, any,
			constraints_happens_later(constraints, round->arrivals[i].at, event));
	return round ? any : NULL;
}

Z3_ast constraints_is_last_arrival(
	struct constraints *constraints, struct event_id event, bool *was_last)
{
	const struct order *order = constraints->order;

	if (!constraints_rounds_is_at_barrier(constraints, event))
		return NULL;
	for (uint32_t i = 0; i < order->round_count; i++) {
		const struct order_round *round = &order->rounds[i];

		for (uint32_t j = 0; j < round->count; j++) {
			const struct order_arrival *arrival = &round->arrivals[j];

			if (arrival->at.thread != event.thread ||
				(arrival->at.index != event.index && arrival->leave != event.index))
				continue;
			*was_last = j == round->last;
			return constraints_is_open_round(constraints, round)
				       ? constraints_rounds_is_last(constraints, round, arrival)
				       : NULL;
		}
	}
	return NULL;
}
