/*
 * Condition variables. A signal wakes one of the threads that wait at its time; the schedule
 * chooses which (schedule.c). A signal is lost only if no thread waits. A broadcast wakes all
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

static bool wakes_is_in_window(const struct solver *solver, struct event_id event)
{
	return solver_has(solver, event) && !solver_is_past(solver, event);
}

/* Returns whether happens-before allows the wake-up. Events before the window are as recorded. */
static bool wakes_may_wake(const struct solver *solver, const struct order_wait *wait,
	const struct order_condition *condition, uint32_t signal)
{
	const struct event_id at = condition->signals[signal].at;

	if (solver_is_past(solver, at))
		return wait->signal == signal && solver_is_past(solver, wait->at);
	if (!solver_has(solver, at) || !solver_has(solver, wait->at) ||
		order_is_before(solver->order, at, wait->at) ||
		(wait->has_back && order_is_before(solver->order, wait->back, at)) ||
		(wait->has_left && order_is_before(solver->order, wait->left, at)))
		return false;
	return !solver_is_past(solver, wait->at) || wait->signal == ORDER_NONE ||
	       !solver_is_past(solver, condition->signals[wait->signal].at);
}

/* Gives unordered events different times: equal times would be neither earlier nor later. */
static void wakes_add_distinct(struct solver *solver, struct event_id first, struct event_id second)
{
	if (first.thread == second.thread || !wakes_is_in_window(solver, first) ||
		!wakes_is_in_window(solver, second) ||
		order_is_before(solver->order, first, second) ||
		order_is_before(solver->order, second, first))
		return;
	solver_add(solver, solver_or(solver, solver_before(solver, first, second),
				   solver_before(solver, second, first)));
}

static Z3_ast wakes_is_woken(struct solver *solver, const struct wakes *wakes, uint32_t wait)
{
	Z3_ast any = Z3_mk_false(solver->z3);

	for (uint32_t i = 0; i < wakes->condition->signal_count; i++)
		if (*wakes_wake_of(wakes, wait, i))
			any = solver_or(solver, any, *wakes_wake_of(wakes, wait, i));
	return any;
}

/* Constrains a wait: it has at most one waking signal, a later one. A wait that times out has
 * none. */
static void wakes_add_wait(struct solver *solver, const struct wakes *wakes, uint32_t number)
{
	const struct order_condition *condition = wakes->condition;
	const struct order_wait *wait = &condition->waits[number];
	Z3_ast time = wakes->times[number];

	for (uint32_t i = 0; i < condition->signal_count; i++) {
		const struct event_id at = condition->signals[i].at;
		Z3_ast wake = *wakes_wake_of(wakes, number, i);

		if (!wake || solver_is_past(solver, at))
			continue;
		solver_add(solver,
			solver_implies(solver, wake,
				solver_and(solver, solver_happens_before(solver, wait->at, at),
					solver_happens(solver, at))));
		/* Signals have distinct times, so at most one signal fits. */
		solver_add(solver,
			solver_implies(solver, wake,
				Z3_mk_eq(solver->z3, time, solver->times[at.thread][at.index])));
		wakes_add_distinct(solver, wait->at, at);
	}
	if (wait->has_left && wakes_is_in_window(solver, wait->left))
		solver_add(solver, solver_implies(solver, solver_happens(solver, wait->left),
					   Z3_mk_not(solver->z3, wakes->woken[number])));
}

static Z3_ast wakes_is_woken_before(
	struct solver *solver, const struct wakes *wakes, uint32_t wait, struct event_id event)
{
	Z3_ast any = Z3_mk_false(solver->z3);

	for (uint32_t i = 0; i < wakes->condition->signal_count; i++)
		if (*wakes_wake_of(wakes, wait, i))
			any = solver_or(solver, any,
				solver_and(solver, *wakes_wake_of(wakes, wait, i),
					solver_happens_before(
						solver, wakes->condition->signals[i].at, event)));
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
		gone = solver_or(solver, gone, solver_happens_before(solver, wait->left, signal));
	return solver_and(solver, solver_happens_before(solver, wait->at, signal),
		Z3_mk_not(solver->z3, gone));
}

static void wakes_add_signal(struct solver *solver, const struct wakes *wakes, uint32_t number)
{
	const struct order_condition *condition = wakes->condition;
	const struct order_signal *signal = &condition->signals[number];
	Z3_ast happens = solver_happens(solver, signal->at);
	Z3_ast any = Z3_mk_false(solver->z3);
	Z3_ast *woken = array_new(condition->wait_count + 1u, sizeof *woken);
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
	free(woken);
	for (uint32_t i = 0; i < condition->wait_count; i++)
		if (*wakes_wake_of(wakes, i, number))
			solver_add(solver,
				solver_implies(solver,
					solver_and(solver, happens,
						wakes_waits_for(solver, wakes, i, signal->at)),
					signal->is_broadcast ? *wakes_wake_of(wakes, i, number)
							     : any));
	for (uint32_t i = number + 1; i < condition->signal_count; i++)
		wakes_add_distinct(solver, signal->at, condition->signals[i].at);
}

static void wakes_open_wakes(struct solver *solver, struct wakes *wakes)
{
	const struct order_condition *condition = wakes->condition;

	wakes->wakes = array_new(
		(size_t)condition->wait_count * condition->signal_count + 1, sizeof *wakes->wakes);
	wakes->times = array_new(condition->wait_count + 1u, sizeof *wakes->times);
	wakes->woken = array_new(condition->wait_count + 1u, sizeof *wakes->woken);
	for (uint32_t i = 0; i < condition->wait_count; i++) {
		wakes->times[i] = Z3_mk_fresh_const(solver->z3, "woken", solver->integer);
		for (uint32_t j = 0; j < condition->signal_count; j++)
			if (wakes_may_wake(solver, &condition->waits[i], condition, j))
				*wakes_wake_of(wakes, i, j) =
					solver_is_past(solver, condition->signals[j].at)
						? Z3_mk_true(solver->z3)
						: Z3_mk_fresh_const(solver->z3, "wakes",
							  Z3_mk_bool_sort(solver->z3));
		wakes->woken[i] = wakes_is_woken(solver, wakes, i);
	}
}

void solver_add_conditions(struct solver *solver)
{
	const struct order *order = solver->order;

	solver->wakes = array_new(order->condition_count + 1u, sizeof *solver->wakes);
	for (uint32_t i = 0; i < order->condition_count && !solver_is_late(solver); i++) {
		const struct order_condition *condition = &order->conditions[i];
		struct wakes *wakes = &solver->wakes[i];

		if (!condition->is_known)
			continue;
		wakes->condition = condition;
		wakes_open_wakes(solver, wakes);
		for (uint32_t j = 0; j < condition->wait_count; j++)
			if (!solver_is_past(solver, condition->waits[j].at) ||
				!condition->waits[j].has_back ||
				!solver_is_past(solver, condition->waits[j].back))
				wakes_add_wait(solver, wakes, j);
		for (uint32_t j = 0; j < condition->signal_count; j++)
			if (wakes_is_in_window(solver, condition->signals[j].at))
				wakes_add_signal(solver, wakes, j);
		for (uint32_t j = 0; j < condition->wait_count; j++) {
			const struct order_wait *wait = &condition->waits[j];

			if (wait->has_back && wakes_is_in_window(solver, wait->back))
				solver_add(solver,
					solver_implies(solver, solver_happens(solver, wait->back),
						wakes_is_woken_before(
							solver, wakes, j, wait->back)));
		}
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
				condition->waits[j].back.thread == back.thread &&
				condition->waits[j].back.index == back.index)
				return wakes_is_woken_before(solver, &solver->wakes[i], j, event);
	}
	return NULL;
}

Z3_ast solver_wakes(const struct solver *solver, uint32_t condition, uint32_t wait, uint32_t signal)
{
	const struct wakes *wakes = &solver->wakes[condition];

	return wakes->condition ? *wakes_wake_of(wakes, wait, signal) : NULL;
}
