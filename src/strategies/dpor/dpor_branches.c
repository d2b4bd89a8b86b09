/* Memory of the branches of dpor, and backtracking to the next branch to explore. */
#include "strategies/dpor/dpor.h"

uint32_t dpor_branch_new(struct dpor *dpor, const struct dpor_op *op)
{
	uint32_t branch = dpor->branch_free;

	if (branch != DPOR_NONE) {
		dpor->branch_free = dpor_branches(dpor)[branch].sibling;
	} else if (dpor->branch_used < dpor->branch_capacity) {
		branch = dpor->branch_used++;
	} else {
		dpor->is_lost = true;
		return DPOR_NONE;
	}
	dpor_branches(dpor)[branch] = (struct dpor_branch){.op = *op,
		.child = DPOR_NONE,
		.sibling = DPOR_NONE,
		.finder = dpor->task,
		.born = (uint32_t)dpor->runs};
	return branch;
}

void dpor_branch_free(struct dpor *dpor, uint32_t branch)
{
	struct dpor_branch *branches = dpor_branches(dpor);
	uint32_t open = branch;

	branches[branch].sibling = DPOR_NONE;
	while (open != DPOR_NONE) {
		const uint32_t child = branches[open].child;
		const uint32_t next = branches[open].sibling;
		uint32_t last = child;

		branches[open].sibling = dpor->branch_free;
		dpor->branch_free = open;
		open = child != DPOR_NONE ? child : next;
		if (child == DPOR_NONE)
			continue;
		while (branches[last].sibling != DPOR_NONE)
			last = branches[last].sibling;
		branches[last].sibling = next;
	}
}

/* The current branch is explored: its thread sleeps at this step from now on. `is_impossible`: the
 * branch turned out to lead nowhere, which explores nothing. */
static void dpor_branches_finish_branch(
	struct dpor *dpor, struct dpor_step *step, bool is_impossible)
{
	const uint32_t done = step->wakeup;

	if (done == DPOR_NONE)
		return;
	step->wakeup = dpor_branches(dpor)[done].sibling;
	dpor_branch_free(dpor, done);
	dpor->sleeper_used = step->sleeper + step->sleeper_count;
	if (is_impossible)
		return;
	if (dpor->sleeper_used == dpor->sleeper_capacity) {
		dpor->is_lost = true;
		return;
	}
	dpor_sleepers(dpor)[dpor->sleeper_used++] = (struct dpor_sleeper){step->op};
	step->sleeper_count++;
}

/* Task that owns the next run's first branch; 0: none. Branches to disabled threads are dropped. */
static uint32_t dpor_branches_task_of_next(struct dpor *dpor)
{
	struct dpor_step *last = &dpor_steps(dpor)[dpor->step_count - 1];
	uint32_t branch = last->is_value ? DPOR_NONE : last->wakeup;

	while (branch != DPOR_NONE &&
		!(last->enabled >> dpor_branches(dpor)[branch].op.thread & 1)) {
		if (dpor_branches(dpor)[branch].op.is_doubtful)
			return 0; /* dpor_drop_dead_branches() looks at it */
		branch = dpor_branches(dpor)[branch].sibling;
	}
	if (branch == DPOR_NONE || !dpor_branches(dpor)[branch].task)
		return 0;
	while (last->wakeup != branch) {
		const uint32_t dead = last->wakeup;

		last->wakeup = dpor_branches(dpor)[dead].sibling;
		dpor_branch_free(dpor, dead);
	}
	return dpor_branches(dpor)[branch].task;
}

void dpor_back_up(struct dpor *dpor)
{
	/* The first run of a task ended before the task's own steps began. */
	if (dpor->task && !dpor->has_arrived) {
		dpor->is_lost |= dpor->is_blocked || dpor->has_diverged;
		dpor->base = dpor->step_count;
		dpor->has_arrived = true;
	}
	while (dpor->step_count > dpor->base) {
		struct dpor_step *step = &dpor_steps(dpor)[dpor->step_count - 1];

		if (step->is_value) {
			if (step->value + 1 < step->value_count) {
				step->value++;
				break;
			}
		} else {
			dpor_branches_finish_branch(dpor, step,
				dpor->is_impossible && dpor->step_count > dpor->first_new);
			if (step->wakeup != DPOR_NONE)
				break;
		}
		dpor->step_count--;
	}
	dpor->sleeper_used = 0;
	if (dpor->step_count) {
		const struct dpor_step *last = &dpor_steps(dpor)[dpor->step_count - 1];

		dpor->sleeper_used = last->sleeper + last->sleeper_count;
	}
	dpor->is_exhausted = dpor->step_count == dpor->base;
	dpor->awaited = dpor->is_exhausted ? 0 : dpor_branches_task_of_next(dpor);
	dpor->first_new = dpor->step_count ? dpor->step_count - 1 : 0;
	while (dpor->open != DPOR_NONE && dpor->open >= dpor->first_new)
		dpor->open = dpor_steps(dpor)[dpor->open].open_before;
	if (dpor->is_exhausted && dpor->share.levels && !dpor->task && !dpor->is_lost)
		dpor->is_exhausted = !dpor_share_next(dpor);
}
