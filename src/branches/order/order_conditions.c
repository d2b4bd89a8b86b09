/* Condition variables: the waits and signals of the run, and which signal woke which wait. */
#include <stdlib.h>

#include "base/array.h"
#include "branches/order/order_internal.h"

/* If there are more pairs of waits and signals, each wait keeps its recorded signal. */
#define PAIRS_MOST 1024

#define NONE ORDER_NONE

const struct order_condition *order_condition_at(const struct order *order, uint64_t address)
{
	for (uint32_t i = 0; i < order->condition_count; i++)
		if (order->conditions[i].address == address)
			return &order->conditions[i];
	return NULL;
}

static struct order_condition *order_conditions_condition_of(
	struct order *order, const struct record_op *op)
{
	const struct order_condition *known = order_condition_at(order, op->address);

	if (known)
		return &order->conditions[known - order->conditions];
	ARRAY_APPEND(order->conditions, order->condition_count,
		(struct order_condition){.address = op->address, .is_reported = true});
	return &order->conditions[order->condition_count - 1];
}

/* Returns the thread's last wait; NULL if there is none. */
static struct order_wait *order_conditions_last_wait(
	const struct order_condition *condition, uint16_t thread)
{
	for (uint32_t i = condition->wait_count; i-- > 0;)
		if (condition->waits[i].at.thread == thread)
			return &condition->waits[i];
	return NULL;
}

/* Returns whether the wait is still in the queue, as far as is known. */
static bool order_conditions_is_waiting(const struct order_wait *wait)
{
	return wait->signal == NONE && !wait->has_left;
}

static void order_conditions_wake(struct order_condition *condition)
{
	const uint32_t signal = condition->signal_count - 1;

	for (uint32_t i = 0; i < condition->wait_count; i++)
		if (order_conditions_is_waiting(&condition->waits[i])) {
			condition->waits[i].signal = signal;
			if (!condition->signals[signal].is_broadcast)
				return;
		}
}

/*
 * Handles the operation that ends a wait: the lock after a signal, or a timeout. Clears is_reported
 * where this contradicts waking the first waiter: the run's schedule had other choices, or several
 * processes share the condition variable.
 */
static void order_conditions_leave(struct order_condition *condition, const struct op_event *event)
{
	struct order_wait *wait = order_conditions_last_wait(condition, event->id.thread);

	if (!wait)
		return;
	if (event->op->kind == OP_COND_WAKE) {
		condition->is_reported &= wait->signal == NONE;
		wait->left = event->id;
		wait->has_left = true;
		return;
	}
	condition->is_reported &= wait->signal != NONE;
	wait->back = event->id;
	wait->has_back = true;
	/* An unknown signal woke the wait; the last signal is assumed. */
	if (wait->signal == NONE && condition->signal_count > wait->begin)
		wait->signal = condition->signal_count - 1;
}

/* `waiting`: by thread, the condition variable that its previous operation waited on, or NONE. */
static void order_conditions_add_op(
	struct order *order, uint32_t *waiting, const struct op_event *event)
{
	const struct record_op *op = event->op;
	uint32_t *mine = &waiting[event->id.thread];
	const uint32_t before = *mine;

	*mine = NONE;
	if (op->kind == OP_COND_WAIT) {
		struct order_condition *condition = order_conditions_condition_of(order, op);

		ARRAY_APPEND(condition->waits, condition->wait_count,
			(struct order_wait){
				.at = event->id, .signal = NONE, .begin = condition->signal_count});
		*mine = (uint32_t)(condition - order->conditions);
	} else if (op->kind == OP_COND_SIGNAL || op->kind == OP_COND_BROADCAST) {
		struct order_condition *condition = order_conditions_condition_of(order, op);

		ARRAY_APPEND(condition->signals, condition->signal_count,
			(struct order_signal){.at = event->id,
				.is_broadcast = event->op->kind == OP_COND_BROADCAST});
		order_conditions_wake(condition);
	} else if (before != NONE && (op->kind == OP_COND_WAKE || op->kind == OP_MUTEX_LOCK)) {
		order_conditions_leave(&order->conditions[before], event);
	}
}

/*
 * A woken thread waited before the signal and locked its mutex after it. If the condition variable
 * has only one signal, the second edge holds in every schedule.
 */
static void order_conditions_add_edges(struct order *order, const struct order_condition *condition)
{
	const bool is_usual = condition->is_known;

	for (uint32_t i = 0; i < condition->wait_count; i++) {
		const struct order_wait *wait = &condition->waits[i];
		struct event_id signal;

		if (!wait->has_back || wait->signal == NONE)
			continue;
		signal = condition->signals[wait->signal].at;
		order_add(
			order, (struct order_edge){
				       .first = wait->at, .second = signal, .is_usual = is_usual});
		order_add(order, (struct order_edge){.first = signal,
					 .second = wait->back,
					 .is_usual = is_usual && condition->signal_count > 1});
	}
}

void order_add_conditions(struct order *order, const struct op_list *list)
{
	const bool is_all = !order->walk->part.begin && !order->walk->part.end;
	FREE_SCOPED uint32_t *waiting = array_new(order->thread_count + 1u, sizeof *waiting);
	for (uint32_t i = 0; i < order->thread_count; i++)
		waiting[i] = NONE;
	for (uint32_t i = 0; i < list->count; i++)
		order_conditions_add_op(order, waiting, &list->items[i]);
	for (uint32_t i = 0; i < order->condition_count; i++) {
		struct order_condition *condition = &order->conditions[i];

		condition->is_reported &= is_all;
		condition->is_known =
			condition->is_reported &&
			(uint64_t)condition->wait_count * condition->signal_count <= PAIRS_MOST;
		order_conditions_add_edges(order, condition);
	}
}

void order_release_conditions(struct order *order)
{
	for (uint32_t i = 0; i < order->condition_count; i++) {
		free(order->conditions[i].waits);
		free(order->conditions[i].signals);
	}
	free(order->conditions);
}
