/*
 * Which of several threads that wait on a condition variable a signal wakes is a choice of the schedule (model/schedule.h). A
 * schedule that is put together tells it: who waits is counted event by event.
 */
#ifndef RADDLE_BRANCHES_SOLVE_VALUES_H
#define RADDLE_BRANCHES_SOLVE_VALUES_H

#include "branches/solve/order.h"

struct values_queue {
	uint32_t *waits; /* numbers of those that wait, in the order in which they came */
	uint32_t count;
};

struct values {
	const struct order *order;
	struct values_queue *queues; /* by condition variable */
};

struct value_choice {
	uint32_t value, count; /* count 0: there is none */
};

/* Does the signal wake this wait in the schedule? By their numbers in the condition variable. */
typedef bool values_wakes(void *context, uint32_t condition, uint32_t wait, uint32_t signal);

void values_open(struct values *values, const struct order *order);
void values_close(struct values *values);
/* The next event of the schedule, and the choice that is made at it. */
struct value_choice values_meet(
	struct values *values, struct event_id event, values_wakes *wakes, void *context);

#endif
