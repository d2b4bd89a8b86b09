#include "branches/constraints/values.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static bool values_is_same(struct event_id a, struct event_id b)
{
	return a.thread == b.thread && a.index == b.index;
}

void values_open(struct values *values, const struct order *order)
{
	*values = (struct values){.order = order,
		.queues = array_new(order->condition_count + 1u, sizeof *values->queues)};
	for (uint32_t i = 0; i < order->condition_count; i++)
		values->queues[i].waits = array_new(
			order->conditions[i].wait_count + 1u, sizeof *values->queues[i].waits);
}

void values_close(struct values *values)
{
	for (uint32_t i = 0; values->queues && i < values->order->condition_count; i++)
		free(values->queues[i].waits);
	free(values->queues);
	*values = (struct values){0};
}

static void values_remove_wait(struct values_queue *queue, uint32_t at)
{
	queue->count--;
	memmove(&queue->waits[at], &queue->waits[at + 1],
		(queue->count - at) * sizeof *queue->waits);
}

/* `wakes` may name no wait; then the signal wakes the first one. */
static struct value_choice values_wake(struct values *values, uint32_t condition, uint32_t signal,
	values_wakes *wakes, void *context)
{
	struct values_queue *queue = &values->queues[condition];
	struct value_choice choice = {0};

	if (values->order->conditions[condition].signals[signal].is_broadcast)
		queue->count = 0;
	if (!queue->count)
		return choice;
	for (uint32_t i = 0; i < queue->count && !choice.count; i++)
		if (wakes(context, condition, queue->waits[i], signal))
			choice = (struct value_choice){i, queue->count};
	choice.count = queue->count > 1 ? queue->count : 0;
	values_remove_wait(queue, choice.value);
	return choice;
}

static struct value_choice values_apply_event(struct values *values, uint32_t number,
	struct event_id event, values_wakes *wakes, void *context)
{
	const struct order_condition *condition = &values->order->conditions[number];
	struct values_queue *queue = &values->queues[number];

	for (uint32_t i = 0; i < condition->signal_count; i++)
		if (values_is_same(condition->signals[i].at, event))
			return values_wake(values, number, i, wakes, context);
	for (uint32_t i = 0; i < condition->wait_count; i++)
		if (values_is_same(condition->waits[i].at, event))
			queue->waits[queue->count++] = i;
	for (uint32_t i = queue->count; i-- > 0;)
		if (condition->waits[queue->waits[i]].has_left &&
			values_is_same(condition->waits[queue->waits[i]].left, event))
			values_remove_wait(queue, i);
	return (struct value_choice){0};
}

struct value_choice values_at_rendezvous(
	struct values *values, struct event_id id, values_wakes *wakes, void *context)
{
	const struct walk *walk = values->order->walk;
	const struct walk_event *event = &walk->threads[id.thread].events[id.index];
	const struct order_condition *condition;

	if (event->kind != EVENT_OP || event->value == UINT64_MAX)
		return (struct value_choice){0};
	condition = order_condition_at(values->order, walk->record->ops[event->value].address);
	return condition && condition->is_reported
		       ? values_apply_event(values,
				 (uint32_t)(condition - values->order->conditions), id, wakes,
				 context)
		       : (struct value_choice){0};
}
