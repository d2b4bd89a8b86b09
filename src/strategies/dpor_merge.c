/* See dpor_merge.h. */
#include "strategies/dpor_merge.h"

#include <string.h>

/* Is each of the lists in the tree the beginning of the other's? */
static bool begins_like(struct dpor *a, uint32_t one, struct dpor *b, uint32_t other)
{
	for (; one != DPOR_NONE; one = dpor_branches(a)[one].sibling) {
		if (other == DPOR_NONE ||
			!dpor_same_op(&dpor_branches(a)[one].op, &dpor_branches(b)[other].op) ||
			!begins_like(
				a, dpor_branches(a)[one].child, b, dpor_branches(b)[other].child))
			return false;
		other = dpor_branches(b)[other].sibling;
	}
	return true;
}

enum dpor_tree dpor_choose_tree(struct dpor *dpor, struct dpor *part, uint32_t number)
{
	const struct dpor_step *mine = &dpor_steps(dpor)[number];
	const struct dpor_step *other = &dpor_steps(part)[number];
	uint32_t a, b;

	if (!dpor_has_changed(other))
		return DPOR_TREE_OURS;
	if (mine->changes == other->changes_had)
		return DPOR_TREE_THEIRS;
	a = dpor_branches(dpor)[mine->wakeup].sibling; /* the first is being taken */
	b = dpor_branches(part)[other->wakeup].sibling;
	if (begins_like(part, b, dpor, a))
		return DPOR_TREE_OURS;
	return begins_like(dpor, a, part, b) ? DPOR_TREE_THEIRS : DPOR_TREE_NEITHER;
}

#define PATH_MOST 1024

/* Where the first of `ops` is that this one could come before all of; DPOR_NONE: it could not. */
static uint32_t place_in(const struct dpor_op *ops, uint32_t count, const struct dpor_op *op)
{
	uint32_t i = 0;

	while (i < count && ops[i].thread != op->thread) {
		if (dpor_dependent(&ops[i], op))
			return DPOR_NONE;
		i++;
	}
	return i;
}

static void append_path(
	struct dpor *dpor, uint32_t *place, const struct dpor_op *ops, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t branch = dpor_branch_new(dpor, &ops[i]);

		*place = branch;
		if (branch == DPOR_NONE)
			return; /* is_lost */
		place = &dpor_branches(dpor)[branch].child;
	}
}

/*
 * Puts a path of the part's tree into ours. The part has left out orders that this path covers, and races that its first
 * op settles. So if ours has a branch for it, that must be for the same first op, and of ops of the path all
 * the way down: then it covers them as well. False: it is not so.
 */
static bool merge_path(struct dpor *dpor, uint32_t *place, struct dpor_op *ops, uint32_t count)
{
	bool is_top = true;

	while (count) {
		uint32_t branch = *place, at = DPOR_NONE;

		while (branch != DPOR_NONE &&
			(at = place_in(ops, count, &dpor_branches(dpor)[branch].op)) == DPOR_NONE) {
			place = &dpor_branches(dpor)[branch].sibling;
			branch = *place;
		}
		if (branch == DPOR_NONE) {
			append_path(dpor, place, ops, count);
			return true;
		}
		if (at == count || (is_top && at))
			return false;
		memmove(&ops[at], &ops[at + 1], (--count - at) * sizeof *ops);
		is_top = false;
		place = &dpor_branches(dpor)[branch].child;
		if (*place == DPOR_NONE)
			return true; /* a leaf: all behind it is looked at there */
	}
	return true;
}

struct merge {
	struct dpor *dpor, *part;
	uint32_t *place;
	struct dpor_op ops[PATH_MOST]; /* the way to where we are in the part's tree */
	struct dpor_op path[PATH_MOST];
};

/* All paths from the branch and its siblings on, `count` ops down. */
static bool merge_tree(struct merge *merge, uint32_t branch, uint32_t count)
{
	if (count == PATH_MOST)
		return false;
	for (; branch != DPOR_NONE; branch = dpor_branches(merge->part)[branch].sibling) {
		const struct dpor_branch *here = &dpor_branches(merge->part)[branch];

		merge->ops[count] = here->op;
		if (here->op.kind == OP_THREAD_CREATE)
			return false; /* whom it makes, the op does not say */
		if (here->child != DPOR_NONE) {
			if (!merge_tree(merge, here->child, count + 1))
				return false;
			continue;
		}
		memcpy(merge->path, merge->ops, (count + 1) * sizeof *merge->ops);
		if (!merge_path(merge->dpor, merge->place, merge->path, count + 1))
			return false;
	}
	return true;
}

bool dpor_merge_trees(struct dpor *dpor, struct dpor *part)
{
	struct merge merge = {.dpor = dpor, .part = part};

	for (uint32_t i = 0; i < part->base; i++) {
		struct dpor_step *step = &dpor_steps(dpor)[i];
		const struct dpor_step *other = &dpor_steps(part)[i];

		if (dpor_choose_tree(dpor, part, i) != DPOR_TREE_NEITHER)
			continue;
		/* The first is being taken, in both. */
		merge.place = &dpor_branches(dpor)[step->wakeup].sibling;
		step->changes++;
		if (!merge_tree(&merge, dpor_branches(part)[other->wakeup].sibling, 0) ||
			dpor->is_lost)
			return false;
	}
	return true;
}
