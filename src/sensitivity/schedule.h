/* A solution of the constraints as a schedule: how many steps each thread makes, in which order. */
#ifndef RADDLE_SENSITIVITY_SCHEDULE_H
#define RADDLE_SENSITIVITY_SCHEDULE_H

#include "model/schedule.h"
#include "sensitivity/constraints.h"

struct solution {
	struct schedule_segment *segments;
	uint32_t count, capacity;
	struct event_id *delayed; /* with store buffers: writes that were seen behind later reads */
	uint32_t delayed_count;
};

/* Everything that happens in the model before `goal`, whose thread moves last. */
void solution_take(struct solution *solution, struct constraints *constraints, Z3_model model,
	struct event_id goal);
/* So many more steps of the thread. */
void solution_add(struct solution *solution, uint16_t thread, uint64_t steps);
void solution_release(struct solution *solution);

#endif
