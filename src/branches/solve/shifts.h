/* Where a thread makes more or fewer steps in a schedule than it made in the run, with the same events. */
#ifndef RADDLE_BRANCHES_SOLVE_SHIFTS_H
#define RADDLE_BRANCHES_SOLVE_SHIFTS_H

#include "branches/solve/order.h"

struct shift {
	struct event_id behind; /* events of its thread behind this one are so many steps later */
	int by;
};

struct shifts {
	struct shift *items;
	uint32_t count, capacity;
};

void shifts_add(struct shifts *shifts, struct event_id behind, int by);
/* Steps of the thread up to somewhere by the event: as many as they are in the schedule. */
uint64_t shifts_apply(const struct shifts *shifts, struct event_id event, uint64_t steps);
void shifts_release(struct shifts *shifts);

#endif
