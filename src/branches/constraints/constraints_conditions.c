/*
 * Condition variables. A signal wakes one of the threads that wait at its time; the schedule
 * chooses which (schedule.c). A signal is lost only if no thread waits. A broadcast wakes all
 * waiting threads. A woken thread locks its mutex after the signal.
 */
#include <stdlib.h>

#include "base/array.h"
#include "branches/constraints/constraints.h"

/* wakes[wait][signal]: the signal wakes this wait; NULL means never. */
struct wakes {
	const struct order_condition *condition;
	Z3_ast *wakes;
	Z3_ast *times; /* time of the waking signal, by wait */
	Z3_ast *woken; /* by wait: some signal wakes it */
};

static Z3_ast *constraints_conditions_wake_of(
	const struct wakes *wakes, uint32_t wait, uint32_t signal)
{
	return &wakes->wakes[(size_t)wait * wakes->condition->signal_count + signal];
}

static bool constraints_conditions_is_in_window(
	const struct constraints *constraints, struct event_id event)
{
	return constraints_has(constraints, event) && !constraints_is_past(constraints, event);
}

/* Returns whether happens-before allows the wake-up. Events before the window are as recorded. */
static bool constraints_conditions_may_wake(const struct constraints *constraints,
	const struct order_wait *wait, const struct order_condition *condition, uint32_t signal)
{
	const struct event_id at = condition->signals[signal].at;

	if (constraints_is_past(constraints, at))
		return wait->signal == signal && constraints_is_past(constraints, wait->at);
	if (!constraints_has(constraints, at) || !constraints_has(constraints, wait->at) ||
		order_is_before(constraints->order, at, wait->at) ||
		(wait->has_back && order_is_before(constraints->order, wait->back, at)) ||
		(wait->has_left && order_is_before(constraints->order, wait->left, at)))
		return false;
	return !constraints_is_past(constraints, wait->at) || wait->signal == ORDER_NONE ||
	       !constraints_is_past(constraints, condition->signals[wait->signal].at);
}

/* Gives unordered events different times: equal times would be neither earlier nor later. */
static void constraints_conditions_add_distinct(
	struct constraints *constraints, struct event_id first, struct event_id second)
{
	if (first.thread == second.thread ||
		!constraints_conditions_is_in_window(constraints, first) ||
		!constraints_conditions_is_in_window(constraints, second) ||
		order_is_before(constraints->order, first, second) ||
		order_is_before(constraints->order, second, first))
		return;
	constraints_add(constraints,
		constraints_or(constraints, constraints_before(constraints, first, second),
			constraints_before(constraints, second, first)));
}

static Z3_ast constraints_conditions_is_woken(
	struct constraints *constraints, const struct wakes *wakes, uint32_t wait)
{
	Z3_ast any = Z3_mk_false(constraints->z3);

	for (uint32_t i = 0; i < wakes->condition->signal_count; i++)
		if (*constraints_conditions_wake_of(wakes, wait, i))
			any = constraints_or(
				constraints, any, *constraints_conditions_wake_of(wakes, wait, i));
	return any;
}

/* Constrains a wait: it has at most one waking signal, a later one. A wait that times out has
 * none. */
static void constraints_conditions_add_wait(
	struct constraints *constraints, const struct wakes *wakes, uint32_t number)
{
	const struct order_condition *condition = wakes->condition;
	const struct order_wait *wait = &condition->waits[number];
	Z3_ast time = wakes->times[number];

	for (uint32_t i = 0; i < condition->signal_count; i++) {
		const struct event_id at = condition->signals[i].at;
		Z3_ast wake = *constraints_conditions_wake_of(wakes, number, i);

		if (!wake || constraints_is_past(constraints, at))
			continue;
		constraints_add(constraints,
			constraints_implies(constraints, wake,
				constraints_and(constraints,
					constraints_happens_before(constraints, wait->at, at),
					constraints_happens(constraints, at))));
		/* Signals have distinct times, so at most one signal fits. */
		constraints_add(
			constraints, constraints_implies(constraints, wake,
					     Z3_mk_eq(constraints->z3, time,
						     constraints->times[at.thread][at.index])));
		constraints_conditions_add_distinct(constraints, wait->at, at);
	}
	if (wait->has_left && constraints_conditions_is_in_window(constraints, wait->left))
		constraints_add(
			constraints, constraints_implies(constraints,
					     constraints_happens(constraints, wait->left),
					     Z3_mk_not(constraints->z3, wakes->woken[number])));
}

static Z3_ast constraints_conditions_is_woken_before(struct constraints *constraints,
	const struct wakes *wakes, uint32_t wait, struct event_id event)
{
	Z3_ast any = Z3_mk_false(constraints->z3);

	for (uint32_t i = 0; i < wakes->condition->signal_count; i++)
		if (*constraints_conditions_wake_of(wakes, wait, i))
			any = constraints_or(constraints, any,
				constraints_and(constraints,
					*constraints_conditions_wake_of(wakes, wait, i),
					constraints_happens_before(constraints,
						wakes->condition->signals[i].at, event)));
	return any;
}

static Z3_ast constraints_conditions_waits_for(struct constraints *constraints,
	const struct wakes *wakes, uint32_t number, struct event_id signal)
{
	const struct order_wait *wait = &wakes->condition->waits[number];
	Z3_ast gone = constraints_and(constraints, wakes->woken[number],
		Z3_mk_lt(constraints->z3, wakes->times[number],
			constraints->times[signal.thread][signal.index]));

	if (wait->has_left)
		gone = constraints_or(constraints, gone,
			constraints_happens_before(constraints, wait->left, signal));
	return constraints_and(constraints,
		constraints_happens_before(constraints, wait->at, signal),
		Z3_mk_not(constraints->z3, gone));
}

static void constraints_conditions_add_signal(
	struct constraints *constraints, const struct wakes *wakes, uint32_t number)
{
	const struct order_condition *condition = wakes->condition;
	const struct order_signal *signal = &condition->signals[number];
	Z3_ast happens = constraints_happens(constraints, signal->at);
	Z3_ast any = Z3_mk_false(constraints->z3);
	Z3_ast *woken = array_new(condition->wait_count + 1u, sizeof *woken);
	unsigned count = 0;

	for (uint32_t i = 0; i < condition->wait_count; i++) {
		Z3_ast wake = *constraints_conditions_wake_of(wakes, i, number);

		if (!wake)
			continue;
		any = constraints_or(constraints, any, wake);
		woken[count++] = wake;
	}
	if (count > 1 && !signal->is_broadcast)
		constraints_add(constraints, Z3_mk_atmost(constraints->z3, count, woken, 1));
	free(woken);
	for (uint32_t i = 0; i < condition->wait_count; i++)
		if (*constraints_conditions_wake_of(wakes, i, number))
			constraints_add(constraints,
				constraints_implies(constraints,
					constraints_and(constraints, happens,
						constraints_conditions_waits_for(
							constraints, wakes, i, signal->at)),
					signal->is_broadcast
						? *constraints_conditions_wake_of(wakes, i, number)
						: any));
	for (uint32_t i = number + 1; i < condition->signal_count; i++)
		constraints_conditions_add_distinct(
			constraints, signal->at, condition->signals[i].at);
}

static void constraints_conditions_open_wakes(struct constraints *constraints, struct wakes *wakes)
{
	const struct order_condition *condition = wakes->condition;

	wakes->wakes = array_new(
		(size_t)condition->wait_count * condition->signal_count + 1, sizeof *wakes->wakes);
	wakes->times = array_new(condition->wait_count + 1u, sizeof *wakes->times);
	wakes->woken = array_new(condition->wait_count + 1u, sizeof *wakes->woken);
	for (uint32_t i = 0; i < condition->wait_count; i++) {
		wakes->times[i] = Z3_mk_fresh_const(constraints->z3, "woken", constraints->integer);
		for (uint32_t j = 0; j < condition->signal_count; j++)
			if (constraints_conditions_may_wake(
				    constraints, &condition->waits[i], condition, j))
				*constraints_conditions_wake_of(wakes, i, j) =
					constraints_is_past(constraints, condition->signals[j].at)
						? Z3_mk_true(constraints->z3)
						: Z3_mk_fresh_const(constraints->z3, "wakes",
							  Z3_mk_bool_sort(constraints->z3));
		wakes->woken[i] = constraints_conditions_is_woken(constraints, wakes, i);
	}
}

void constraints_add_conditions(struct constraints *constraints)
{
	const struct order *order = constraints->order;

	constraints->wakes = array_new(order->condition_count + 1u, sizeof *constraints->wakes);
	for (uint32_t i = 0; i < order->condition_count && !constraints_is_late(constraints); i++) {
		const struct order_condition *condition = &order->conditions[i];
		struct wakes *wakes = &constraints->wakes[i];

		if (!condition->is_known)
			continue;
		wakes->condition = condition;
		constraints_conditions_open_wakes(constraints, wakes);
		for (uint32_t j = 0; j < condition->wait_count; j++)
			if (!constraints_is_past(constraints, condition->waits[j].at) ||
				!condition->waits[j].has_back ||
				!constraints_is_past(constraints, condition->waits[j].back))
				constraints_conditions_add_wait(constraints, wakes, j);
		for (uint32_t j = 0; j < condition->signal_count; j++)
			if (constraints_conditions_is_in_window(
				    constraints, condition->signals[j].at))
				constraints_conditions_add_signal(constraints, wakes, j);
		for (uint32_t j = 0; j < condition->wait_count; j++) {
			const struct order_wait *wait = &condition->waits[j];

			if (wait->has_back &&
				constraints_conditions_is_in_window(constraints, wait->back))
				constraints_add(constraints,
					constraints_implies(constraints,
						constraints_happens(constraints, wait->back),
						constraints_conditions_is_woken_before(
							constraints, wakes, j, wait->back)));
		}
	}
}

void constraints_release_conditions(struct constraints *constraints)
{
	for (uint32_t i = 0; constraints->wakes && i < constraints->order->condition_count; i++) {
		free(constraints->wakes[i].wakes);
		free(constraints->wakes[i].times);
		free(constraints->wakes[i].woken);
	}
	free(constraints->wakes);
}

Z3_ast constraints_is_woken_before(
	struct constraints *constraints, struct event_id back, struct event_id event)
{
	for (uint32_t i = 0; i < constraints->order->condition_count; i++) {
		const struct order_condition *condition = constraints->wakes[i].condition;

		for (uint32_t j = 0; condition && j < condition->wait_count; j++)
			if (condition->waits[j].has_back &&
				condition->waits[j].back.thread == back.thread &&
				condition->waits[j].back.index == back.index)
				return constraints_conditions_is_woken_before(
					constraints, &constraints->wakes[i], j, event);
	}
	return NULL;
}

Z3_ast constraints_wakes(
	const struct constraints *constraints, uint32_t condition, uint32_t wait, uint32_t signal)
{
	const struct wakes *wakes = &constraints->wakes[condition];

	return wakes->condition ? *constraints_conditions_wake_of(wakes, wait, signal) : NULL;
}
