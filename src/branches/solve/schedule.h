/* A solution of the constraints as a schedule: how many steps each thread makes, in which order. */
#ifndef RADDLE_BRANCHES_SOLVE_SCHEDULE_H
#define RADDLE_BRANCHES_SOLVE_SCHEDULE_H

#include "model/schedule.h"
#include "branches/solve/constraints.h"
#include "branches/solve/values.h"

struct solution {
	struct schedule_segment *segments;
	uint32_t count, capacity;
	struct event_id *delayed; /* with store buffers: writes that were seen behind later reads */
	uint32_t delayed_count;
};

/* Everything that happens in the model before `goal`, whose thread moves last. */
void solution_take(struct solution *solution, struct constraints *constraints, Z3_model model,
	struct event_id goal);
/* Steps of a thread up to an event, and with what it does behind that at once. */
struct solution_steps {
	uint64_t own, with;
};

struct solution_wakes {
	values_wakes *wakes;
	void *context;
};

/* The next event: its steps, and the choice that is made at it. */
void solution_meet(struct solution *solution, struct values *values, struct event_id event,
	struct solution_steps steps, const struct solution_wakes *wakes);
/* So many more steps of the thread. */
void solution_add(struct solution *solution, uint16_t thread, uint64_t steps);
void solution_release(struct solution *solution);

#endif
