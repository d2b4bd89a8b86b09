/*
 * Choices of signals: which of several threads that wait on a condition variable a signal wakes
 * (model/schedule.h). These functions follow a schedule event by event and track the waiting
 * threads.
 */
#pragma once

#include "branches/order/order.h"

struct values_queue {
	uint32_t *waits; /* numbers of the current waits, in the order of arrival */
	uint32_t count;
};

struct values {
	const struct order *order;
	struct values_queue *queues; /* queues by condition variable */
};

struct value_choice {
	uint32_t value, count; /* count 0: no choice */
};

/* Returns whether the signal wakes this wait; numbers index the condition variable's lists in
 * order.h. */
typedef bool values_wakes(void *context, uint32_t condition, uint32_t wait, uint32_t signal);

void values_open(struct values *values, const struct order *order);
void values_close(struct values *values);
/* Appends the schedule's next event and returns the choice made at it. */
struct value_choice values_at_rendezvous(
	struct values *values, struct event_id event, values_wakes *wakes, void *context);
