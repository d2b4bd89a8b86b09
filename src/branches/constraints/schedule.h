/* Turns a model of the constraints into segments of a schedule. */
#pragma once

#include "model/schedule.h"
#include "branches/constraints/solver.h"

struct solution {
	struct schedule_segment *segments;
	uint32_t count;
};

/* Schedules everything that happens in the model before `goal`, whose thread moves last. */
void solution_take(
	struct solution *solution, struct solver *solver, Z3_model model, struct event_id goal);
void solution_append(struct solution *solution, struct schedule_segment segment);
void solution_add(struct solution *solution, uint16_t thread, uint64_t steps);
void solution_release(struct solution *solution);
