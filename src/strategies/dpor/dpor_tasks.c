/*
 * Tasks of dpor: another state explores an unexplored branch with its subtree.
 *
 * The exploration of a branch depends on the path to it, the sleep set, the branch's wakeup tree
 * and the known races. The split copies all four. The split takes the branch nearest to the root,
 * because its subtree is large and needed late. Races that the task finds across its base change
 * its copy of the wakeup trees there. When the branch is next, the owner joins the task: either the
 * task is finished, or the task's stack replaces the owner's.
 *
 * Exact mode: if anything copied at the split has changed since, the task is dropped and the owner
 * explores the branch. The runs, their order and their number are then those of a single state.
 *
 * Otherwise a task is dropped only if an order would be lost or repeated: the order of runs may
 * differ. Races lead to orders behind a sleeper only from the position where the sleeper's op is
 * explored; wakeup trees carry them there. A task therefore covers only the subtree behind the
 * first leaf of the branch's tree. No thread sleeps there, and no order is added later.
 * dpor_merge.h merges the trees above.
 */
#include "strategies/dpor/dpor_merge.h"
#include "strategies/strategy.h"

#include <stddef.h>
#include <string.h>

static void dpor_tasks_add_sleeper(
	struct dpor *dpor, struct dpor_step *step, const struct dpor_op *op)
{
	if (dpor->sleeper_used == dpor->sleeper_capacity) {
		dpor->is_lost = true;
		return;
	}
	dpor_sleepers(dpor)[dpor->sleeper_used++] = (struct dpor_sleeper){*op};
	step->sleeper_count++;
}

static void dpor_tasks_copy_sleepers(struct dpor *to, struct dpor *from, uint32_t number)
{
	const struct dpor_step *source = &dpor_steps(from)[number];
	struct dpor_step *step = &dpor_steps(to)[number];

	step->sleeper = to->sleeper_used;
	step->sleeper_count = 0;
	for (uint32_t i = 0; i < source->sleeper_count; i++)
		dpor_tasks_add_sleeper(to, step, &dpor_sleepers(from)[source->sleeper + i].op);
}

static void dpor_tasks_copy_clock(struct dpor *to, struct dpor *from, uint32_t step)
{
	memcpy(dpor_clock(to, step), dpor_clock(from, step), DPOR_THREADS * sizeof(uint32_t));
}

static uint64_t dpor_tasks_hash_racy(const struct dpor *dpor)
{
	return hash_bytes(dpor->racy, sizeof dpor->racy);
}

static uint64_t dpor_tasks_hash_open(struct dpor *dpor, uint32_t below)
{
	uint64_t hash = 1;

	for (uint32_t step = dpor->open; step != DPOR_NONE;
		step = dpor_steps(dpor)[step].open_before)
		if (step < below)
			hash = hash_pair(hash, step);
	return hash;
}

/* An unexplored branch of the step that belongs to no task; DPOR_NONE: none. */
static uint32_t dpor_tasks_find_waiting(struct dpor *dpor, const struct dpor_step *step)
{
	uint32_t branch = step->is_value ? DPOR_NONE : step->wakeup;
	bool is_first = true; /* the first branch is the current or the next one */

	for (; branch != DPOR_NONE; branch = dpor_branches(dpor)[branch].sibling) {
		const struct dpor_branch *waiting = &dpor_branches(dpor)[branch];

		if (!(step->enabled >> waiting->op.thread & 1))
			continue;
		if (!is_first && !waiting->task)
			return branch;
		is_first = false;
	}
	return DPOR_NONE;
}

/* Puts all branches before the task's branch into the sleep set of the task's last step. */
static void dpor_tasks_put_to_sleep(
	struct dpor *task, struct dpor *dpor, uint32_t number, uint32_t branch)
{
	const struct dpor_step *source = &dpor_steps(dpor)[number];
	const bool is_begun = number + 1 < dpor->step_count;
	struct dpor_step *step = &dpor_steps(task)[number];
	uint32_t before;

	for (before = source->wakeup; before != branch;
		before = dpor_branches(dpor)[before].sibling) {
		const struct dpor_op *op = &dpor_branches(dpor)[before].op;

		if (before == source->wakeup && is_begun)
			op = &source->op;
		if (source->enabled >> op->thread & 1)
			dpor_tasks_add_sleeper(task, step, op);
	}
}

static void dpor_tasks_copy_path(
	struct dpor *task, struct dpor *dpor, uint32_t last, uint32_t branch)
{
	for (uint32_t i = 0; i <= last; i++) {
		struct dpor_step *step = &dpor_steps(task)[i];

		*step = dpor_steps(dpor)[i];
		step->changes_had = step->changes;
		dpor_tasks_copy_clock(task, dpor, i);
		dpor_tasks_copy_sleepers(task, dpor, i);
		step->wakeup = dpor_copy_list(task, dpor, i == last ? branch : step->wakeup);
	}
	dpor_tasks_put_to_sleep(task, dpor, last, branch);
}

static void dpor_tasks_split_branch(
	struct dpor *dpor, struct dpor *task, uint32_t number, uint32_t last, uint32_t branch)
{
	memcpy(task, dpor, sizeof *task);
	task->base = task->step_count = last + 1;
	task->first_new = task->last = last;
	task->has_arrived = false;
	task->split_runs = (uint32_t)dpor->runs;
	task->task = number;
	task->tree_hash = dpor_hash_tree(dpor, dpor_branches(dpor)[branch].child);
	task->open_hash = dpor_tasks_hash_open(dpor, last);
	task->racy_hash = dpor_tasks_hash_racy(dpor);
	task->depth = task->known = 0;
	task->branch_free = DPOR_NONE;
	task->branch_used = task->sleeper_used = 0;
	task->runs = task->blocked_runs = task->diverged_runs = 0;
	task->awaited = 0;
	dpor_tasks_copy_path(task, dpor, last, branch);
	while (task->open != DPOR_NONE && task->open >= last)
		task->open = dpor_steps(dpor)[task->open].open_before;
}

static bool dpor_split(void *state, void *block, uint32_t number, uint64_t most, bool is_exact)
{
	struct dpor *dpor = state, *task = block;

	(void)most; /* the number of runs behind a branch is not known */
	if (dpor->lessons < DPOR_LESSONS || dpor->is_exhausted || dpor->is_lost || dpor->is_alone ||
		dpor->awaited)
		return false;
	for (uint32_t i = dpor->base; i < dpor->step_count; i++) {
		const uint32_t branch = dpor_tasks_find_waiting(dpor, &dpor_steps(dpor)[i]);

		if (branch == DPOR_NONE)
			continue;
		dpor_tasks_split_branch(dpor, task, number, i, branch);
		task->is_exact = is_exact;
		if (task->is_lost)
			return false;
		dpor_branches(dpor)[branch].task = number;
		return true;
	}
	return false;
}

static bool dpor_tasks_has_same_sleepers(struct dpor *dpor, struct dpor *task, uint32_t number)
{
	const struct dpor_step *a = &dpor_steps(dpor)[number], *b = &dpor_steps(task)[number];

	if (a->sleeper_count != b->sleeper_count)
		return false;
	for (uint32_t i = 0; i < a->sleeper_count; i++)
		if (!dpor_same_op(&dpor_sleepers(dpor)[a->sleeper + i].op,
			    &dpor_sleepers(task)[b->sleeper + i].op))
			return false;
	return true;
}

static bool dpor_tasks_is_joinable(struct dpor *dpor, struct dpor *task)
{
	return !dpor->is_lost && !task->is_lost && !task->diverged_runs && task->runs &&
	       dpor->symmetry.is_active == task->symmetry.is_active &&
	       dpor_has_same_path(dpor, task) && dpor_has_same_slots(dpor, task) &&
	       dpor_tasks_has_same_sleepers(dpor, task, task->last) &&
	       dpor_follows_same_branch(dpor, task, dpor_steps(dpor)[task->last].wakeup);
}

static bool dpor_tasks_has_same_tree(struct dpor *dpor, const struct dpor *task)
{
	const uint32_t branch = dpor_steps(dpor)[task->last].wakeup;

	return dpor_hash_tree(dpor, dpor_branches(dpor)[branch].child) == task->tree_hash;
}

/* Returns whether the owner's current knowledge leads to the task's runs, in the same order. */
static bool dpor_tasks_is_exact_task(struct dpor *dpor, struct dpor *task)
{
	for (uint32_t i = 0; i <= task->last; i++)
		if (dpor_steps(dpor)[i].changes != dpor_steps(task)[i].changes_had)
			return false;
	return dpor_tasks_has_same_tree(dpor, task) &&
	       dpor_tasks_hash_racy(dpor) == task->racy_hash &&
	       dpor_tasks_hash_open(dpor, task->last) == task->open_hash;
}

/* The owner's tree becomes the tree that the task changed; branches keep their tasks. */
static void dpor_tasks_join_tree(struct dpor *dpor, struct dpor *task, uint32_t number)
{
	struct dpor_step *step = &dpor_steps(dpor)[number];
	uint32_t new = dpor_copy_list(dpor, task, dpor_steps(task)[number].wakeup);
	uint32_t old = step->wakeup;

	step->wakeup = new;
	step->changes += dpor_steps(task)[number].changes - dpor_steps(task)[number].changes_had;
	for (; new != DPOR_NONE; new = dpor_branches(dpor)[new].sibling)
		dpor_branches(dpor)[new].task = 0;
	for (new = step->wakeup; old != DPOR_NONE &&new != DPOR_NONE;
		new = dpor_branches(dpor)[new].sibling) {
		const uint32_t next = dpor_branches(dpor)[old].sibling;

		dpor_branches(dpor)[new].task = dpor_branches(dpor)[old].task;
		dpor_branch_free(dpor, old);
		old = next;
	}
}

/* Steps before the task's last one remain open if they are open in both states. */
static void dpor_tasks_join_open(struct dpor *dpor, struct dpor *task)
{
	uint32_t *mine = &dpor->open, other = task->open;
	uint32_t first = DPOR_NONE;
	uint32_t *end = &first;

	/* The chain is descending: the task's own steps precede. */
	for (; other != DPOR_NONE && other >= task->last;
		other = dpor_steps(task)[other].open_before) {
		*end = other;
		end = &dpor_steps(dpor)[other].open_before;
	}
	while (*mine != DPOR_NONE) {
		const uint32_t step = *mine;

		while (other != DPOR_NONE && other > step)
			other = dpor_steps(task)[other].open_before;
		if (other == step)
			mine = &dpor_steps(dpor)[step].open_before;
		else
			*mine = dpor_steps(dpor)[step].open_before;
	}
	*end = dpor->open;
	dpor->open = first;
}

static uint32_t dpor_tasks_end_of_sleepers(struct dpor *dpor, uint32_t step)
{
	return dpor_steps(dpor)[step].sleeper + dpor_steps(dpor)[step].sleeper_count;
}

static void dpor_tasks_join_step(struct dpor *dpor, struct dpor *task, uint32_t number)
{
	struct dpor_step *step = &dpor_steps(dpor)[number];

	*step = dpor_steps(task)[number];
	step->sleeper += dpor_tasks_end_of_sleepers(dpor, task->last) -
			 dpor_tasks_end_of_sleepers(task, task->last);
	dpor_tasks_copy_clock(dpor, task, number);
}

static void dpor_tasks_join_sleepers(struct dpor *dpor, struct dpor *task)
{
	const uint32_t from = dpor_tasks_end_of_sleepers(task, task->last);
	const uint32_t to = dpor_tasks_end_of_sleepers(dpor, task->last);

	if (task->sleeper_used - from > dpor->sleeper_capacity - to) {
		dpor->is_lost = true;
		return;
	}
	memcpy(dpor_sleepers(dpor) + to, dpor_sleepers(task) + from,
		(task->sleeper_used - from) * sizeof(struct dpor_sleeper));
}

static void dpor_tasks_join_own_steps(struct dpor *dpor, struct dpor *task)
{
	for (uint32_t i = task->base; i < task->step_count; i++) {
		dpor_tasks_join_step(dpor, task, i);
		dpor_steps(dpor)[i].wakeup = dpor_copy_list(dpor, task, dpor_steps(task)[i].wakeup);
	}
	dpor->step_count = task->step_count;
	dpor->first_new = task->first_new;
}

static void dpor_tasks_join_knowledge(struct dpor *dpor, const struct dpor *task)
{
	dpor_join_slots(dpor, task);
	for (uint32_t i = 0; i < DPOR_RACY_WORDS; i++)
		dpor->racy[i] |= task->racy[i];
	dpor->runs += task->runs;
	dpor->blocked_runs += task->blocked_runs;
}

/* The path from the split to the base; the stack is then as before a run of the first leaf. */
static void dpor_tasks_join_path(struct dpor *dpor, struct dpor *task)
{
	const bool is_same = dpor_tasks_has_same_tree(dpor, task);
	struct dpor_step *step = &dpor_steps(dpor)[task->last];
	const struct dpor_step kept = *step;
	uint32_t next = dpor_branches(dpor)[kept.wakeup].child;

	dpor_branches(dpor)[kept.wakeup].child = DPOR_NONE;
	*step = dpor_steps(task)[task->last];
	step->changes = kept.changes;
	step->open_before = kept.open_before;
	step->wakeup = kept.wakeup;
	step->sleeper = kept.sleeper;
	step->sleeper_count = kept.sleeper_count;
	dpor_tasks_copy_clock(dpor, task, task->last);
	for (uint32_t i = task->last + 1; i < task->base; i++) {
		dpor_tasks_join_step(dpor, task, i);
		step = &dpor_steps(dpor)[i];
		if (step->op.thread == dpor_branches(dpor)[next].op.thread) {
			step->wakeup = next;
			next = dpor_branches(dpor)[next].child;
			dpor_branches(dpor)[step->wakeup].child = DPOR_NONE;
		} else {
			step->wakeup = dpor_branch_new(dpor, &step->op);
		}
		/* counts as changed in case of doubt: dpor_choose_tree() then compares the trees */
		step->changes = step->changes_had + !is_same;
	}
	dpor->step_count = task->base;
	dpor->first_new = task->last;
	dpor->sleeper_used = dpor_tasks_end_of_sleepers(dpor, task->base - 1);
}

static void dpor_leave(void *state, uint32_t number)
{
	struct dpor *dpor = state;

	for (uint32_t i = dpor->base; i < dpor->step_count; i++)
		for (uint32_t branch = dpor_steps(dpor)[i].wakeup; branch != DPOR_NONE;
			branch = dpor_branches(dpor)[branch].sibling)
			if (!number || dpor_branches(dpor)[branch].task == number)
				dpor_branches(dpor)[branch].task = 0;
	if (!number || dpor->awaited == number)
		dpor->awaited = 0;
}

static bool dpor_tasks_join(struct dpor *dpor, struct dpor *task)
{
	dpor_tasks_join_sleepers(dpor, task);
	dpor_tasks_join_path(dpor, task);
	if (dpor->is_lost || !dpor_merge_trees(dpor, task))
		return false; /* the owner runs the first leaf again */
	for (uint32_t i = 0; i < task->base; i++)
		if (dpor_choose_tree(dpor, task, i) == DPOR_TREE_THEIRS)
			dpor_tasks_join_tree(dpor, task, i);
	dpor_tasks_join_knowledge(dpor, task);
	dpor_tasks_join_own_steps(dpor, task);
	dpor_join_found(dpor, task->task);
	dpor->sleeper_used = task->sleeper_used + dpor_tasks_end_of_sleepers(dpor, task->last) -
			     dpor_tasks_end_of_sleepers(task, task->last);
	dpor_tasks_join_open(dpor, task);
	if (task->is_exhausted)
		dpor_back_up(dpor);
	return true;
}

static bool dpor_join(void *state, void *block, bool has_to_be_exact)
{
	struct dpor *dpor = state, *task = block;
	bool is_joined;

	dpor_leave(dpor, task->task);
	if (!dpor_tasks_is_joinable(dpor, task) ||
		(has_to_be_exact && !dpor_tasks_is_exact_task(dpor, task)))
		return false;
	dpor->has_merged |= !has_to_be_exact;
	is_joined = dpor_tasks_join(dpor, task);
	dpor_begin_alone(dpor);
	return is_joined;
}

static uint32_t dpor_awaited(const void *state)
{
	return ((const struct dpor *)state)->awaited;
}

static uint64_t dpor_runs(const void *task)
{
	return ((const struct dpor *)task)->runs;
}

static void dpor_copy(void *to, const void *task)
{
	/* The accessors need a non-const state; `task` is not changed. */
	struct dpor *from = (struct dpor *)(uintptr_t)task, *copy = to;

	memcpy(copy, from, sizeof *copy);
	memcpy(dpor_steps(copy), dpor_steps(from), from->step_count * sizeof(struct dpor_step));
	memcpy(dpor_clock(copy, 0), dpor_clock(from, 0),
		(size_t)from->step_count * DPOR_THREADS * sizeof(uint32_t));
	memcpy(dpor_branches(copy), dpor_branches(from),
		from->branch_used * sizeof(struct dpor_branch));
	memcpy(dpor_sleepers(copy), dpor_sleepers(from),
		from->sleeper_used * sizeof(struct dpor_sleeper));
}

const struct strategy_tasks dpor_tasks = {
	.split = dpor_split,
	.copy = dpor_copy,
	.synchronise = dpor_synchronise,
	.awaited = dpor_awaited,
	.runs = dpor_runs,
	.join = dpor_join,
	.leave = dpor_leave,
};
