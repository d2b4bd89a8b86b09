/*
 * Corrections where a thread makes more or fewer steps in a schedule than in the run for the same
 * events.
 */
#ifndef RADDLE_BRANCHES_SOLVE_SHIFTS_H
#define RADDLE_BRANCHES_SOLVE_SHIFTS_H

#include "branches/solve/order.h"

struct shift {
	struct event_id behind; /* events of the thread after this one shift by this many steps */
	int by;
};

struct shifts {
	struct shift *items;
	uint32_t count, capacity;
};

void shifts_add(struct shifts *shifts, struct event_id behind, int by);
/* Converts the recorded number of steps at an event into the number in the schedule. */
uint64_t shifts_apply(const struct shifts *shifts, struct event_id event, uint64_t steps);
void shifts_release(struct shifts *shifts);

#endif
