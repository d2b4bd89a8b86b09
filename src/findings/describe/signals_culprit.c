/* Chooses the wait that a report names as the cause, among several on condition variables (signals.h). */
#include "findings/describe/signals.h"

/* Does the thread depend on the other one in the wait-for graph, through joins and locks? */
static bool signals_culprit_depends_on(
	const struct outcome *outcome, struct thread_id thread, struct thread_id other)
{
	for (uint32_t hops = 0; hops <= outcome->wait_count; hops++) {
		const struct wait_edge *edge = NULL;

		for (uint32_t i = 0; i < outcome->wait_count && !edge; i++)
			if (thread_same(outcome->waits[i].waiter, thread))
				edge = &outcome->waits[i];
		if (!edge || thread_same(edge->holder, THREAD_NONE))
			return false;
		thread = edge->holder;
		if (thread_same(thread, other))
			return true;
	}
	return false;
}

static uint32_t signals_culprit_count_dependents(
	const struct outcome *outcome, struct thread_id thread)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < outcome->wait_count; i++)
		count += signals_culprit_depends_on(outcome, outcome->waits[i].waiter, thread);
	return count;
}

/* Does the woken thread wait again at the lost wait's location? Waits at one location share a condition, which was then false. */
static bool signals_culprit_is_at_wrong_location(
	const struct finding_source *source, const struct signal_history *history)
{
	return history->loss == SIGNAL_WOKE_WRONG &&
	       source->events[history->again].site == source->events[history->wait].site;
}

static bool signals_culprit_is_stronger(const struct finding_source *source,
	const struct signal_history *a, const struct signal_history *b)
{
	const uint32_t dependents_a =
		signals_culprit_count_dependents(source->outcome, a->edge->waiter);
	const uint32_t dependents_b =
		signals_culprit_count_dependents(source->outcome, b->edge->waiter);
	const bool is_wrong_a = signals_culprit_is_at_wrong_location(source, a);
	const bool is_wrong_b = signals_culprit_is_at_wrong_location(source, b);

	if (a->loss != b->loss)
		return a->loss > b->loss;
	if (is_wrong_a != is_wrong_b)
		return is_wrong_b;
	if (dependents_a != dependents_b)
		return dependents_a > dependents_b;
	return a->signal != NO_EVENT && (b->signal == NO_EVENT || a->signal > b->signal);
}

/* Could the waiter test its condition after each signal? Then it is idle, like a pool's worker without work. */
static bool signals_culprit_is_idle(const struct signal_history *history)
{
	return history->loss == SIGNAL_SERVED_OTHERS && history->signal < history->wait;
}

bool signal_history_is_other_wait(const struct wait_edge *edge)
{
	const uint8_t object = op_descriptions[edge->op].object;

	return thread_same(edge->holder, THREAD_NONE) &&
	       (object == OBJECT_MEMORY || object == OBJECT_FUTEX || object == OBJECT_SEM ||
		       object == OBJECT_BARRIER);
}

uint32_t signal_history_culprit(const struct finding_source *source,
	const struct finding_wait *waits, struct signal_history *out)
{
	const struct outcome *outcome = source->outcome;
	uint32_t culprit = UINT32_MAX;

	for (uint32_t i = 0; !source->events_dropped && i < outcome->wait_count; i++) {
		const struct wait_edge *edge = &outcome->waits[i];
		struct signal_history history;

		if (op_descriptions[edge->op].object != OBJECT_COND || edge->is_in_child ||
			!thread_same(edge->holder, THREAD_NONE) ||
			!signal_history_find(source, edge, waits ? &waits[i] : NULL, &history) ||
			signals_culprit_is_idle(&history))
			continue;
		if (culprit != UINT32_MAX && !signals_culprit_is_stronger(source, &history, out))
			continue;
		culprit = i;
		*out = history;
	}
	return culprit;
}
