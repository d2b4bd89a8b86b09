/*
 * Constraints of condition variables. A signal wakes one of the threads that wait at the signal's
 * time. schedule.c writes into the schedule which thread the model chooses. A signal is lost only if no thread waits. A broadcast wakes all
 * waiting threads. A woken thread locks its mutex after the signal.
 */
#include <stdlib.h>

#include "base/array.h"
#include "branches/constraints/solver.h"

/* wakes[wait][signal]: the signal wakes this wait; NULL means never. */
struct wakes {
	const struct order_condition *condition;
	Z3_ast *wakes;
	Z3_ast *times; /* time of the waking signal, by wait */
	Z3_ast *woken; /* by wait: some signal wakes it */
};

static Z3_ast *wakes_wake_of(const struct wakes *wakes, uint32_t wait, uint32_t signal)
{
	return &wakes->wakes[(size_t)wait * wakes->condition->signal_count + signal];
}

/* Returns whether happens-before allows the wake-up. Events before the window are as recorded. */
static bool wakes_may_wake(const struct solver *solver, const struct order_wait *wait,
	const struct order_condition *condition, uint32_t signal)
{
	const struct event_id at = condition->signals[signal].at;
	const struct order *order = solver->order;

	if (solver_is_past(solver, at))
		return wait->signal == signal && solver_is_past(solver, wait->at);
	if (!solver_has(solver, at) || !solver_has(solver, wait->at) ||
		order_is_before(order, at, wait->at) ||
		(wait->has_back && order_is_before(order, wait->back, at)) ||
		(wait->has_left && order_is_before(order, wait->left, at)))
		return false;
	return !solver_is_past(solver, wait->at) || wait->signal == ORDER_NONE ||
	       !solver_is_past(solver, condition->signals[wait->signal].at);
}

static void wakes_open(struct solver *solver, struct wakes *wakes)
{
	const struct order_condition *condition = wakes->condition;
	const size_t waits = condition->wait_count;

	wakes->wakes = array_new(waits * condition->signal_count + 1, sizeof *wakes->wakes);
	wakes->times = array_new(waits + 1, sizeof *wakes->times);
	wakes->woken = array_new(waits + 1, sizeof *wakes->woken);
	for (uint32_t i = 0; i < waits; i++) {
		Z3_ast any = Z3_mk_false(solver->z3);

		wakes->times[i] = Z3_mk_fresh_const(solver->z3, "woken", solver->integer);
		for (uint32_t j = 0; j < condition->signal_count; j++) {
			Z3_ast *wake = wakes_wake_of(wakes, i, j);

			if (!wakes_may_wake(solver, &condition->waits[i], condition, j))
				continue;
			*wake = solver_is_past(solver, condition->signals[j].at)
					? Z3_mk_true(solver->z3)
					: Z3_mk_fresh_const(
						  solver->z3, "wakes", Z3_mk_bool_sort(solver->z3));
			any = solver_or(solver, any, *wake);
		}
		wakes->woken[i] = any;
	}
}

/* Constrains a wait: it has at most one waking signal, a later one. A wait that times out has
 * none. */
static void wakes_add_wait(struct solver *solver, const struct wakes *wakes, uint32_t number)
{
	const struct order_condition *condition = wakes->condition;
	const struct order_wait *wait = &condition->waits[number];

	for (uint32_t i = 0; i < condition->signal_count; i++) {
		const struct event_id at = condition->signals[i].at;
		Z3_ast wake = *wakes_wake_of(wakes, number, i);

		if (!wake || solver_is_past(solver, at))
			continue;
		solver_require(solver, wake,
			solver_and(solver, solver_occurs_before(solver, wait->at, at),
				solver_occurs(solver, at)));
		/* Signals have distinct times, so at most one signal fits. */
		solver_require(solver, wake,
			Z3_mk_eq(solver->z3, wakes->times[number],
				solver->times[at.thread][at.index]));
		solver_add_distinct(solver, wait->at, at);
	}
	if (wait->has_left && solver_is_in_window(solver, wait->left))
		solver_require(solver, solver_occurs(solver, wait->left),
			solver_not(solver, wakes->woken[number]));
}

static Z3_ast wakes_is_woken_before(
	struct solver *solver, const struct wakes *wakes, uint32_t wait, struct event_id event)
{
	Z3_ast any = Z3_mk_false(solver->z3);

	for (uint32_t i = 0; i < wakes->condition->signal_count; i++) {
		Z3_ast wake = *wakes_wake_of(wakes, wait, i);

		if (wake)
			any = solver_or(solver, any,
				solver_and(solver, wake,
					solver_occurs_before(
						solver, wakes->condition->signals[i].at, event)));
	}
	return any;
}

static Z3_ast wakes_waits_for(
	struct solver *solver, const struct wakes *wakes, uint32_t number, struct event_id signal)
{
	const struct order_wait *wait = &wakes->condition->waits[number];
	Z3_ast gone = solver_and(solver, wakes->woken[number],
		Z3_mk_lt(solver->z3, wakes->times[number],
			solver->times[signal.thread][signal.index]));

	if (wait->has_left)
		gone = solver_or(solver, gone, solver_occurs_before(solver, wait->left, signal));
	return solver_and(
		solver, solver_occurs_before(solver, wait->at, signal), solver_not(solver, gone));
}

static void wakes_add_signal(struct solver *solver, const struct wakes *wakes, uint32_t number)
{
	const struct order_condition *condition = wakes->condition;
	const struct order_signal *signal = &condition->signals[number];
	Z3_ast happens = solver_occurs(solver, signal->at);
	Z3_ast any = Z3_mk_false(solver->z3);
	FREE_SCOPED Z3_ast *woken = array_new(condition->wait_count + 1u, sizeof *woken);
	unsigned count = 0;

	for (uint32_t i = 0; i < condition->wait_count; i++) {
		Z3_ast wake = *wakes_wake_of(wakes, i, number);

		if (!wake)
			continue;
		any = solver_or(solver, any, wake);
		woken[count++] = wake;
	}
	if (count > 1 && !signal->is_broadcast)
		solver_add(solver, Z3_mk_atmost(solver->z3, count, woken, 1));
	for (uint32_t i = 0; i < condition->wait_count; i++) {
		Z3_ast wake = *wakes_wake_of(wakes, i, number);

		if (wake)
			solver_require(solver,
				solver_and(solver, happens,
					wakes_waits_for(solver, wakes, i, signal->at)),
				signal->is_broadcast ? wake : any);
	}
	for (uint32_t i = number + 1; i < condition->signal_count; i++)
		solver_add_distinct(solver, signal->at, condition->signals[i].at);
}

static void wakes_add_condition(struct solver *solver, const struct wakes *wakes)
{
	const struct order_condition *condition = wakes->condition;

	for (uint32_t i = 0; i < condition->wait_count; i++) {
		const struct order_wait *wait = &condition->waits[i];

		if (!solver_is_past(solver, wait->at) || !wait->has_back ||
			!solver_is_past(solver, wait->back))
			wakes_add_wait(solver, wakes, i);
	}
	for (uint32_t i = 0; i < condition->signal_count; i++)
		if (solver_is_in_window(solver, condition->signals[i].at))
			wakes_add_signal(solver, wakes, i);
	for (uint32_t i = 0; i < condition->wait_count; i++) {
		const struct order_wait *wait = &condition->waits[i];

		if (wait->has_back && solver_is_in_window(solver, wait->back))
			solver_require(solver, solver_occurs(solver, wait->back),
				wakes_is_woken_before(solver, wakes, i, wait->back));
	}
}

void solver_add_conditions(struct solver *solver)
{
	const struct order *order = solver->order;

	solver->wakes = array_new(order->condition_count + 1u, sizeof *solver->wakes);
	for (uint32_t i = 0; i < order->condition_count && !solver_is_late(solver); i++) {
		if (!order->conditions[i].is_known)
			continue;
		solver->wakes[i].condition = &order->conditions[i];
		wakes_open(solver, &solver->wakes[i]);
		wakes_add_condition(solver, &solver->wakes[i]);
	}
}

void solver_release_conditions(struct solver *solver)
{
	for (uint32_t i = 0; solver->wakes && i < solver->order->condition_count; i++) {
		free(solver->wakes[i].wakes);
		free(solver->wakes[i].times);
		free(solver->wakes[i].woken);
	}
	free(solver->wakes);
}

Z3_ast solver_is_woken_before(struct solver *solver, struct event_id back, struct event_id event)
{
	for (uint32_t i = 0; i < solver->order->condition_count; i++) {
		const struct order_condition *condition = solver->wakes[i].condition;

		for (uint32_t j = 0; condition && j < condition->wait_count; j++)
			if (condition->waits[j].has_back &&
				event_is_same(condition->waits[j].back, back))
				return wakes_is_woken_before(solver, &solver->wakes[i], j, event);
	}
	return NULL;
}

Z3_ast solver_wakes(const struct solver *solver, uint32_t condition, uint32_t wait, uint32_t signal)
{
	const struct wakes *wakes = &solver->wakes[condition];

	return wakes->condition ? *wakes_wake_of(wakes, wait, signal) : NULL;
}
