/* A new step of the run inherits the sleep set and the wakeup tree of the step before. */
#include "strategies/dpor/dpor.h"

static void dpor_push_inherit_sleepers(struct dpor *dpor, struct dpor_step *step)
{
	struct dpor_sleeper *sleepers = dpor_sleepers(dpor);
	const struct dpor_step *before = step - 1;

	step->sleeper = dpor->sleeper_used;
	step->sleeper_count = 0;
	if (!dpor->depth)
		return;
	for (uint32_t i = 0; i < before->sleeper_count; i++) {
		const struct dpor_sleeper sleeper = sleepers[before->sleeper + i];

		if (!before->is_value && (sleeper.op.thread == before->op.thread ||
						 dpor_dependent(&sleeper.op, &before->op)))
			continue;
		if (dpor->sleeper_used == dpor->sleeper_capacity) {
			dpor->is_lost = true;
			return;
		}
		sleepers[dpor->sleeper_used++] = sleeper;
		step->sleeper_count++;
	}
}

/* The subtree of the last step's current branch becomes the new step's wakeup tree. */
static uint32_t dpor_push_inherit_wakeup(struct dpor *dpor, struct dpor_step *before)
{
	struct dpor_branch *taken;
	uint32_t child;

	if (!dpor->depth)
		return DPOR_NONE;
	if (before->is_value) { /* a value choice passes its tree on */
		child = before->wakeup;
		before->wakeup = DPOR_NONE;
		return child;
	}
	if (before->wakeup == DPOR_NONE)
		return DPOR_NONE;
	taken = &dpor_branches(dpor)[before->wakeup];
	child = taken->child;
	taken->child = DPOR_NONE;
	return child;
}

void dpor_arrive(struct dpor *dpor)
{
	if (!dpor->task || dpor->has_arrived)
		return;
	dpor->base = dpor->depth;
	dpor->has_arrived = true;
}

struct dpor_step *dpor_push_step(struct dpor *dpor)
{
	struct dpor_step *step;

	if (dpor->depth == dpor->step_capacity) {
		dpor->is_lost = true;
		return NULL;
	}
	step = &dpor_steps(dpor)[dpor->depth];
	*step = (struct dpor_step){.previous = DPOR_NONE,
		.enabler = DPOR_NONE,
		.previous_in_bucket = DPOR_NONE,
		.wide = DPOR_NONE,
		.wakeup = DPOR_NONE};
	dpor_push_inherit_sleepers(dpor, step);
	step->wakeup = dpor_push_inherit_wakeup(dpor, step - 1);
	if (dpor->depth == dpor->first_new + 1)
		step->planned = dpor_plan_of(dpor, step->wakeup);
	else if (dpor->depth)
		step->planned = step[-1].planned;
	dpor->step_count = dpor->depth + 1;
	if (step->wakeup == DPOR_NONE)
		dpor_arrive(dpor);
	return step;
}
