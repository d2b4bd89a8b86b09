#include "strategies/dpor/dpor_merge.h"

#include <string.h>

static uint32_t dpor_merge_copy_branch(struct dpor *to, struct dpor *from, uint32_t branch)
{
	const struct dpor_branch *source = &dpor_branches(from)[branch];
	const uint32_t copy = dpor_branch_new(to, &source->op);
	uint32_t last = DPOR_NONE;

	if (copy == DPOR_NONE)
		return DPOR_NONE;
	dpor_branches(to)[copy].finder = source->finder;
	dpor_branches(to)[copy].born = source->born;
	for (uint32_t child = source->child; child != DPOR_NONE;
		child = dpor_branches(from)[child].sibling) {
		const uint32_t next = dpor_merge_copy_branch(to, from, child);

		if (next == DPOR_NONE)
			break; /* dpor_merge_copy_branch() has set is_lost */
		if (last == DPOR_NONE)
			dpor_branches(to)[copy].child = next;
		else
			dpor_branches(to)[last].sibling = next;
		last = next;
	}
	return copy;
}

uint32_t dpor_copy_list(struct dpor *to, struct dpor *from, uint32_t branch)
{
	uint32_t first = DPOR_NONE, last = DPOR_NONE;

	for (; branch != DPOR_NONE; branch = dpor_branches(from)[branch].sibling) {
		const uint32_t copy = dpor_merge_copy_branch(to, from, branch);

		if (copy == DPOR_NONE)
			return first; /* dpor_merge_copy_branch() has set is_lost */
		dpor_branches(to)[copy].task = dpor_branches(from)[branch].task;
		if (last == DPOR_NONE)
			first = copy;
		else
			dpor_branches(to)[last].sibling = copy;
		last = copy;
	}
	return first;
}

uint64_t dpor_hash_tree(struct dpor *dpor, uint32_t branch)
{
	uint64_t hash = 1;

	for (; branch != DPOR_NONE; branch = dpor_branches(dpor)[branch].sibling)
		hash = hash_pair(hash_pair(hash, dpor_hash_op(&dpor_branches(dpor)[branch].op)),
			dpor_hash_tree(dpor, dpor_branches(dpor)[branch].child));
	return hash;
}

bool dpor_has_same_slots(const struct dpor *dpor, const struct dpor *task)
{
	for (uint32_t i = 0; i < dpor->slot_count && i < task->slot_count; i++)
		if (dpor->names[i] != task->names[i])
			return false;
	return true;
}

bool dpor_has_same_path(struct dpor *dpor, struct dpor *task)
{
	if (task->last >= dpor->step_count || task->base > dpor->step_capacity)
		return false;
	for (uint32_t i = 0; i < task->base; i++) {
		const struct dpor_step *step = &dpor_steps(task)[i];
		const struct dpor_step *mine = &dpor_steps(dpor)[i];

		if (step->is_value ? dpor_has_changed(step) : step->wakeup == DPOR_NONE)
			return false;
		if (i <= task->last && (mine->is_value != step->is_value ||
					       (!mine->is_value && mine->wakeup == DPOR_NONE)))
			return false;
	}
	return true;
}

void dpor_join_slots(struct dpor *dpor, const struct dpor *other)
{
	for (uint32_t i = dpor->slot_count; i < other->slot_count; i++)
		dpor->names[i] = other->names[i];
	if (other->slot_count > dpor->slot_count)
		dpor->slot_count = other->slot_count;
	while (dpor->width < other->width)
		dpor_widen(dpor);
}

/* Returns whether the op is independent of the branch, its siblings and their subtrees. */
static bool dpor_merge_is_apart(struct dpor *dpor, uint32_t branch, const struct dpor_op *op)
{
	for (; branch != DPOR_NONE; branch = dpor_branches(dpor)[branch].sibling) {
		const struct dpor_branch *here = &dpor_branches(dpor)[branch];

		if (here->op.thread == op->thread || dpor_dependent(&here->op, op) ||
			here->op.kind == OP_THREAD_CREATE ||
			!dpor_merge_is_apart(dpor, here->child, op))
			return false;
	}
	return true;
}

bool dpor_follows_same_branch(struct dpor *dpor, struct dpor *task, uint32_t branch)
{
	uint32_t next = dpor_branches(dpor)[branch].child;

	for (uint32_t i = task->last + 1; i < task->base; i++) {
		const struct dpor_step *step = &dpor_steps(task)[i];

		if (next == DPOR_NONE || step->is_value)
			return false;
		if (step->op.thread == dpor_branches(dpor)[next].op.thread)
			next = dpor_branches(dpor)[next].child;
		else if (!dpor_merge_is_apart(dpor, next, &step->op))
			return false;
	}
	return next == DPOR_NONE;
}

/* Returns true if the branches of `a` from `one` on are the first branches of `b` from `other` on,
 * each with an equal subtree. */
static bool dpor_merge_is_prefix(struct dpor *a, uint32_t one, struct dpor *b, uint32_t other)
{
	for (; one != DPOR_NONE; one = dpor_branches(a)[one].sibling) {
		if (other == DPOR_NONE ||
			!dpor_same_op(&dpor_branches(a)[one].op, &dpor_branches(b)[other].op) ||
			!dpor_merge_is_prefix(
				a, dpor_branches(a)[one].child, b, dpor_branches(b)[other].child))
			return false;
		other = dpor_branches(b)[other].sibling;
	}
	return true;
}

enum dpor_tree dpor_choose_tree(struct dpor *dpor, struct dpor *task, uint32_t number)
{
	const struct dpor_step *mine = &dpor_steps(dpor)[number];
	const struct dpor_step *other = &dpor_steps(task)[number];
	uint32_t a, b;

	if (!dpor_has_changed(other))
		return DPOR_TREE_OURS;
	if (mine->changes == other->changes_had)
		return DPOR_TREE_THEIRS;
	a = dpor_branches(dpor)[mine->wakeup].sibling; /* the first branch is the current one */
	b = dpor_branches(task)[other->wakeup].sibling;
	if (dpor_merge_is_prefix(task, b, dpor, a))
		return DPOR_TREE_OURS;
	return dpor_merge_is_prefix(dpor, a, task, b) ? DPOR_TREE_THEIRS : DPOR_TREE_NEITHER;
}

#define PATH_MOST 1024

/* Weak initial: index in `ops` of the thread's first op, if independent of all earlier ones;
 * `count`: the thread has none; DPOR_NONE: a dependent op precedes. */
static uint32_t dpor_merge_position_in(
	const struct dpor_op *ops, uint32_t count, const struct dpor_op *op)
{
	uint32_t i = 0;

	while (i < count && ops[i].thread != op->thread) {
		if (dpor_dependent(&ops[i], op))
			return DPOR_NONE;
		i++;
	}
	return i;
}

static void dpor_merge_append_path(struct dpor *dpor, uint32_t *position, const struct dpor_op *ops,
	uint32_t count, const struct dpor *finder)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t branch = dpor_branch_new(dpor, &ops[i]);

		*position = branch;
		if (branch == DPOR_NONE)
			return; /* dpor_branch_new() has set is_lost */
		if (finder) {
			dpor_branches(dpor)[branch].finder = finder->task;
			dpor_branches(dpor)[branch].born = (uint32_t)finder->runs;
		}
		position = &dpor_branches(dpor)[branch].child;
	}
}

/*
 * Merges one path of the task's tree into the owner's. The task has omitted orders that this path
 * covers, and races that its first op settles. An owner's branch for the path covers the same
 * orders if it begins with the same op and contains only ops of the path. False: it does not.
 */
static bool dpor_merge_path(struct dpor *dpor, uint32_t *position, struct dpor_op *ops,
	uint32_t count, const struct dpor *finder)
{
	bool is_top = true;

	while (count) {
		uint32_t branch = *position, at = DPOR_NONE;

		while (branch != DPOR_NONE &&
			(at = dpor_merge_position_in(
				 ops, count, &dpor_branches(dpor)[branch].op)) == DPOR_NONE) {
			position = &dpor_branches(dpor)[branch].sibling;
			branch = *position;
		}
		if (branch == DPOR_NONE) {
			dpor_merge_append_path(dpor, position, ops, count, finder);
			return true;
		}
		if (at == count || (is_top && at))
			return false;
		memmove(&ops[at], &ops[at + 1], (--count - at) * sizeof *ops);
		is_top = false;
		position = &dpor_branches(dpor)[branch].child;
		if (*position == DPOR_NONE)
			return true; /* a leaf: later ops are chosen when it is reached */
	}
	return true;
}

struct merge {
	struct dpor *dpor, *task;
	uint32_t *position;
	/* task that found branches new to the owner; NULL means a join */
	const struct dpor *finder;
	struct dpor_op ops[PATH_MOST]; /* path to the current branch of the task's tree */
	struct dpor_op path[PATH_MOST];
};

static bool dpor_merge_tree(struct merge *merge, uint32_t branch, uint32_t count)
{
	if (count == PATH_MOST)
		return false;
	for (; branch != DPOR_NONE; branch = dpor_branches(merge->task)[branch].sibling) {
		const struct dpor_branch *here = &dpor_branches(merge->task)[branch];

		merge->ops[count] = here->op;
		if (here->op.kind == OP_THREAD_CREATE)
			return false; /* the op does not identify the created thread */
		if (here->child != DPOR_NONE) {
			if (!dpor_merge_tree(merge, here->child, count + 1))
				return false;
			continue;
		}
		memcpy(merge->path, merge->ops, (count + 1) * sizeof *merge->ops);
		if (!dpor_merge_path(
			    merge->dpor, merge->position, merge->path, count + 1, merge->finder))
			return false;
	}
	return true;
}

bool dpor_merge_trees(struct dpor *dpor, struct dpor *task)
{
	struct merge merge = {.dpor = dpor, .task = task};

	for (uint32_t i = 0; i < task->base; i++) {
		struct dpor_step *step = &dpor_steps(dpor)[i];
		const struct dpor_step *other = &dpor_steps(task)[i];

		if (dpor_choose_tree(dpor, task, i) != DPOR_TREE_NEITHER)
			continue;
		merge.position = &dpor_branches(dpor)[step->wakeup].sibling;
		step->changes++;
		if (!dpor_merge_tree(&merge, dpor_branches(task)[other->wakeup].sibling, 0) ||
			dpor->is_lost)
			return false;
	}
	return true;
}

static uint32_t dpor_merge_branch_of(struct dpor *dpor, const struct dpor *task)
{
	uint32_t branch = dpor_steps(dpor)[task->last].wakeup;

	while (branch != DPOR_NONE && dpor_branches(dpor)[branch].task != task->task)
		branch = dpor_branches(dpor)[branch].sibling;
	return branch;
}

/* Returns whether the task followed the branch to its first leaf without inserted ops. */
static bool dpor_merge_is_direct_path(struct dpor *dpor, struct dpor *task, uint32_t branch)
{
	uint32_t next = dpor_branches(dpor)[branch].child;

	for (uint32_t i = task->last + 1; i < task->base; i++) {
		const struct dpor_step *step = &dpor_steps(task)[i];

		if (next == DPOR_NONE || step->is_value ||
			step->op.thread != dpor_branches(dpor)[next].op.thread)
			return false;
		next = dpor_branches(dpor)[next].child;
	}
	return next == DPOR_NONE;
}

/* The task's steps and the corresponding positions in the owner's tree. */
struct walk {
	struct dpor *dpor, *task;
	uint32_t step, branch;
};

static uint32_t *dpor_merge_next_step(struct walk *walk)
{
	struct dpor *dpor = walk->dpor;

	if (walk->step < walk->task->last)
		return &dpor_branches(dpor)[dpor_steps(dpor)[walk->step].wakeup].sibling;
	if (walk->step > walk->task->last)
		walk->branch = dpor_branches(dpor)[walk->branch].child;
	return &dpor_branches(dpor)[walk->branch].sibling;
}

static bool dpor_merge_all(struct dpor *dpor, struct dpor *task, uint32_t branch)
{
	struct walk walk = {dpor, task, 0, branch};
	struct merge merge = {.dpor = dpor, .task = task, .finder = task};

	for (; walk.step < task->base; walk.step++) {
		const struct dpor_step *other = &dpor_steps(task)[walk.step];
		uint32_t added;

		if (other->is_value)
			continue;
		merge.position = dpor_merge_next_step(&walk);
		added = dpor_branches(task)[other->wakeup].sibling;
		if (!dpor_has_changed(other) ||
			dpor_merge_is_prefix(task, added, dpor, *merge.position))
			continue;
		if (walk.step <= task->last)
			dpor_steps(dpor)[walk.step].changes++;
		if (!dpor_merge_tree(&merge, added, 0))
			return false;
	}
	return !dpor->is_lost;
}

/* Marks branches that the task neither got at the split nor found in counted runs. */
static void dpor_merge_mark_others(struct dpor *task, uint32_t branch)
{
	for (; branch != DPOR_NONE; branch = dpor_branches(task)[branch].sibling) {
		struct dpor_branch *here = &dpor_branches(task)[branch];

		const bool is_later =
			here->finder ? here->finder == task->task && here->born > task->runs
				     : here->born > task->split_runs;

		if (is_later)
			here->finder = DPOR_FINDER_OTHER;
		dpor_merge_mark_others(task, here->child);
	}
}

/* Replaces the task's trees by copies of the owner's. */
static void dpor_merge_take_over(struct dpor *dpor, struct dpor *task, uint32_t branch)
{
	struct walk walk = {dpor, task, 0, branch};

	for (; walk.step < task->base; walk.step++) {
		struct dpor_step *step = &dpor_steps(task)[walk.step];
		uint32_t old, ours;

		if (step->is_value)
			continue;
		ours = *dpor_merge_next_step(&walk);
		while ((old = dpor_branches(task)[step->wakeup].sibling) != DPOR_NONE) {
			dpor_branches(task)[step->wakeup].sibling =
				dpor_branches(task)[old].sibling;
			dpor_branch_free(task, old);
		}
		ours = dpor_copy_list(task, dpor, ours);
		dpor_merge_mark_others(task, ours);
		dpor_branches(task)[step->wakeup].sibling = ours;
		if (walk.step <= task->last)
			step->changes = dpor_steps(dpor)[walk.step].changes;
		step->changes_had = step->changes;
	}
	task->tree_hash = dpor_hash_tree(dpor, dpor_branches(dpor)[branch].child);
}

static void dpor_merge_join_found_in(struct dpor *dpor, uint32_t branch, uint32_t task)
{
	for (; branch != DPOR_NONE; branch = dpor_branches(dpor)[branch].sibling) {
		if (dpor_branches(dpor)[branch].finder == task) {
			dpor_branches(dpor)[branch].finder = 0;
			dpor_branches(dpor)[branch].born = (uint32_t)dpor->runs;
		}
		dpor_merge_join_found_in(dpor, dpor_branches(dpor)[branch].child, task);
	}
}

void dpor_join_found(struct dpor *dpor, uint32_t task)
{
	for (uint32_t i = 0; i < dpor->step_count; i++)
		dpor_merge_join_found_in(dpor, dpor_steps(dpor)[i].wakeup, task);
}

bool dpor_synchronise(void *state, void *block)
{
	struct dpor *dpor = state, *task = block;
	uint32_t branch;

	/* Before its first run a task has no results; those of a lost state are not used. */
	if (!task->runs || task->is_lost || task->diverged_runs || dpor->is_lost)
		return true;
	if (dpor->symmetry.is_active != task->symmetry.is_active || !dpor_has_same_path(dpor, task))
		return false;
	branch = dpor_merge_branch_of(dpor, task);
	if (branch == DPOR_NONE || !dpor_has_same_slots(dpor, task) ||
		!dpor_merge_is_direct_path(dpor, task, branch))
		return false;
	dpor->has_merged = true;
	if (!dpor_merge_all(dpor, task, branch)) {
		dpor_begin_alone(dpor);
		return false;
	}
	dpor_join_slots(dpor, task);
	dpor_join_slots(task, dpor);
	dpor_merge_take_over(dpor, task, branch);
	return true;
}
