/*
 * Barriers. A thread leaves a barrier after all threads have arrived. Another thread than in the
 * run may arrive last and get the special result. That thread does not wait and makes one step less
 * than in the run; the thread that was last in the run waits and makes one more (schedule.h).
 */
#include "model/op.h"
#include "branches/constraints/solver.h"

bool solver_is_open_round(const struct solver *solver, const struct order_round *round)
{
	for (uint32_t i = 0; i < round->count; i++)
		if (solver_is_past(solver, round->arrivals[i].at))
			return false;
	return round->is_known;
}

static Z3_ast rounds_is_complete(struct solver *solver, const struct order_round *round)
{
	Z3_ast all = Z3_mk_true(solver->z3);

	for (uint32_t i = 0; i < round->count; i++)
		all = solver_and(solver, all, solver_occurs(solver, round->arrivals[i].at));
	return all;
}

/* Returns the thread's next event with a time. UINT32_MAX: there is none in the window. */
static uint32_t rounds_next_timed_event(const struct solver *solver, struct event_id event)
{
	for (uint32_t i = event.index + 1; i < solver->window->end[event.thread]; i++)
		if (solver->times[event.thread][i])
			return i;
	return UINT32_MAX;
}

/* Adds constraints: events after the barrier follow all arrivals. */
static void rounds_add_leaving(struct solver *solver, const struct order_round *round,
	const struct order_arrival *arrival, Z3_ast complete)
{
	const uint16_t thread = arrival->at.thread;
	const bool is_last = arrival->leave == ORDER_NONE;
	const struct event_id next = {
		thread, is_last ? rounds_next_timed_event(solver, arrival->at) : arrival->leave};
	const struct event_id reached = {thread, is_last ? arrival->at.index + 1 : arrival->leave};

	if (!solver_has(solver, arrival->at))
		return;
	solver_require(solver, solver_occurs(solver, reached), complete);
	if (next.index == UINT32_MAX || !solver_has(solver, next))
		return;
	for (uint32_t i = 0; i < round->count; i++)
		if (solver_has(solver, round->arrivals[i].at))
			solver_add(solver, solver_before(solver, round->arrivals[i].at, next));
}

static Z3_ast rounds_is_last(
	struct solver *solver, const struct order_round *round, const struct order_arrival *arrival)
{
	Z3_ast result = Z3_mk_true(solver->z3);

	for (uint32_t i = 0; i < round->count; i++)
		if (&round->arrivals[i] != arrival)
			result = solver_and(solver, result,
				solver_before(solver, round->arrivals[i].at, arrival->at));
	return result;
}

static void rounds_add_round(struct solver *solver, const struct order_round *round)
{
	Z3_ast complete = rounds_is_complete(solver, round);

	for (uint32_t i = 0; i < round->count; i++) {
		const struct order_arrival *arrival = &round->arrivals[i];
		Z3_ast otherwise = solver_differs_from_run(solver, arrival->at);

		rounds_add_leaving(solver, round, arrival, complete);
		for (uint32_t j = i + 1; j < round->count; j++)
			/* In either order: the clocks have the recorded last arrival behind the others. */
			solver_add(solver,
				solver_or(solver,
					solver_before(solver, arrival->at, round->arrivals[j].at),
					solver_before(solver, round->arrivals[j].at, arrival->at)));
		if (!otherwise)
			continue;
		if (i != round->last)
			otherwise = solver_not(solver, otherwise);
		solver_require(solver, complete,
			Z3_mk_iff(solver->z3, solver_not(solver, otherwise),
				rounds_is_last(solver, round, arrival)));
	}
}

void solver_add_rounds(struct solver *solver)
{
	const struct order *order = solver->order;

	for (uint32_t i = 0; i < order->round_count && !solver_is_late(solver); i++)
		if (solver_is_open_round(solver, &order->rounds[i]))
			rounds_add_round(solver, &order->rounds[i]);
}

/* Finds the open round that the event arrives at or leaves; false: none. Events at no barrier return
 * at once, as long runs have many rounds. */
static bool rounds_find(const struct solver *solver, struct event_id event,
	const struct order_round **round, const struct order_arrival **arrival)
{
	const struct order *order = solver->order;
	const struct record_op *op = walk_op_of(solver->walk, event);

	if (!op || op_descriptions[op->kind].object != OBJECT_BARRIER)
		return false;
	for (*round = order->rounds; *round < order->rounds + order->round_count; ++*round)
		for (uint32_t i = 0; i < (*round)->count; i++) {
			*arrival = &(*round)->arrivals[i];
			if ((*arrival)->at.thread == event.thread &&
				((*arrival)->at.index == event.index ||
					(*arrival)->leave == event.index))
				return solver_is_open_round(solver, *round);
		}
	return false;
}

/* Returns NULL if the event is no arrival at an open round. */
static const struct order_round *rounds_round_at(const struct solver *solver, struct event_id event)
{
	const struct order_arrival *arrival;
	const struct order_round *round;

	return rounds_find(solver, event, &round, &arrival) && arrival->at.index == event.index
		       ? round
		       : NULL;
}

bool solver_has_open_round(const struct solver *solver, struct event_id arrival)
{
	return rounds_round_at(solver, arrival) != NULL;
}

Z3_ast solver_is_reached(struct solver *solver, struct event_id goal)
{
	const struct order_round *round;

	while (goal.index-- > solver->window->begin[goal.thread]) {
		if (!solver->times[goal.thread][goal.index])
			continue;
		round = rounds_round_at(solver, goal);
		return round ? rounds_is_complete(solver, round) : NULL;
	}
	return NULL;
}

Z3_ast solver_is_held_at_barrier(
	struct solver *solver, struct event_id arrival, struct event_id event)
{
	const struct order_round *round = rounds_round_at(solver, arrival);
	Z3_ast any = NULL;

	for (uint32_t i = 0; round && i < round->count; i++)
		any = solver_or(
			solver, any, solver_is_not_before(solver, round->arrivals[i].at, event));
	return any;
}

Z3_ast solver_is_last_arrival(struct solver *solver, struct event_id event, bool *was_last)
{
	const struct order_arrival *arrival;
	const struct order_round *round;

	if (!rounds_find(solver, event, &round, &arrival))
		return NULL;
	*was_last = arrival == &round->arrivals[round->last];
	return rounds_is_last(solver, round, arrival);
}
