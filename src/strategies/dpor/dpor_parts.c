/*
 * Tasks of dpor: another state explores an unexplored branch with its subtree.
 *
 * The exploration of a branch depends only on the path to it, the sleep set, the branch's wakeup
 * tree and the known races. The split copies all of these. It takes the branch nearest to the root,
 * because its subtree is large and its runs are needed late. Races that the task finds across its
 * base change its copy of the wakeup trees there. The owner joins the task when the branch is next:
 * either the task is finished, or the task's stack replaces the owner's.
 *
 * Exact mode: if anything copied at the split has changed since, the task is dropped and the owner
 * explores the branch. The runs, their order and their number are then those of a single state.
 *
 * Otherwise a task is dropped only if an order would be lost or repeated: each order is explored
 * once, but the order of runs may differ. Races lead to orders behind a sleeper only from the place
 * where the sleeper's op is explored; wakeup trees carry them there. A task therefore covers only
 * the subtree behind the first leaf of the branch's tree, where no thread sleeps and nothing is
 * added any more. dpor_merge.h merges the trees above.
 */
#include "strategies/dpor/dpor_merge.h"
#include "strategies/strategy.h"

#include <stddef.h>
#include <string.h>

/* ---- copies ---- */

static void add_sleeper(struct dpor *dpor, struct dpor_step *step, const struct dpor_op *op)
{
	if (dpor->sleeper_used == dpor->sleeper_capacity) {
		dpor->is_lost = true;
		return;
	}
	dpor_sleepers(dpor)[dpor->sleeper_used++] = (struct dpor_sleeper){*op};
	step->sleeper_count++;
}

static void copy_sleepers(struct dpor *to, struct dpor *from, uint32_t number)
{
	const struct dpor_step *source = &dpor_steps(from)[number];
	struct dpor_step *step = &dpor_steps(to)[number];

	step->sleeper = to->sleeper_used;
	step->sleeper_count = 0;
	for (uint32_t i = 0; i < source->sleeper_count; i++)
		add_sleeper(to, step, &dpor_sleepers(from)[source->sleeper + i].op);
}

static void copy_clock(struct dpor *to, struct dpor *from, uint32_t step)
{
	memcpy(dpor_clock(to, step), dpor_clock(from, step), DPOR_THREADS * sizeof(uint32_t));
}

/* ---- hashes of the knowledge at the split ---- */

static uint64_t hash_racy(const struct dpor *dpor)
{
	return hash_bytes(dpor->racy, sizeof dpor->racy);
}

static uint64_t hash_open(struct dpor *dpor, uint32_t below)
{
	uint64_t hash = 1;

	for (uint32_t step = dpor->open; step != DPOR_NONE;
		step = dpor_steps(dpor)[step].open_before)
		if (step < below)
			hash = hash_pair(hash, step);
	return hash;
}

/* ---- splitting ---- */

/* An unexplored branch of the step that belongs to no task; DPOR_NONE: none. */
static uint32_t find_waiting(struct dpor *dpor, const struct dpor_step *step)
{
	uint32_t branch = step->is_value ? DPOR_NONE : step->wakeup;
	bool is_first = true; /* the first branch is the current or the next one */

	for (; branch != DPOR_NONE; branch = dpor_branches(dpor)[branch].sibling) {
		const struct dpor_branch *waiting = &dpor_branches(dpor)[branch];

		if (!(step->enabled >> waiting->op.thread & 1))
			continue;
		if (!is_first && !waiting->part)
			return branch;
		is_first = false;
	}
	return DPOR_NONE;
}

/* At the last step of the task, all branches before the task's branch are in the sleep set. */
static void put_to_sleep(struct dpor *part, struct dpor *dpor, uint32_t number, uint32_t branch)
{
	const struct dpor_step *source = &dpor_steps(dpor)[number];
	const bool is_begun = number + 1 < dpor->step_count;
	struct dpor_step *step = &dpor_steps(part)[number];
	uint32_t before;

	for (before = source->wakeup; before != branch;
		before = dpor_branches(dpor)[before].sibling) {
		const struct dpor_op *op = &dpor_branches(dpor)[before].op;

		if (before == source->wakeup && is_begun)
			op = &source->op;
		if (source->enabled >> op->thread & 1)
			add_sleeper(part, step, op);
	}
}

static void copy_way(struct dpor *part, struct dpor *dpor, uint32_t last, uint32_t branch)
{
	for (uint32_t i = 0; i <= last; i++) {
		struct dpor_step *step = &dpor_steps(part)[i];

		*step = dpor_steps(dpor)[i];
		step->changes_had = step->changes;
		copy_clock(part, dpor, i);
		copy_sleepers(part, dpor, i);
		step->wakeup = dpor_copy_list(part, dpor, i == last ? branch : step->wakeup);
	}
	put_to_sleep(part, dpor, last, branch);
}

static void split_branch(
	struct dpor *dpor, struct dpor *part, uint32_t number, uint32_t last, uint32_t branch)
{
	memcpy(part, dpor, sizeof *part);
	part->base = part->step_count = last + 1;
	part->first_new = part->last = last;
	part->has_arrived = false;
	part->split_runs = (uint32_t)dpor->runs;
	part->part = number;
	part->tree_hash = dpor_hash_tree(dpor, dpor_branches(dpor)[branch].child);
	part->open_hash = hash_open(dpor, last);
	part->racy_hash = hash_racy(dpor);
	part->depth = part->known = 0;
	part->branch_free = DPOR_NONE;
	part->branch_used = part->sleeper_used = 0;
	part->runs = part->blocked_runs = part->diverged_runs = 0;
	part->awaited = 0;
	copy_way(part, dpor, last, branch);
	while (part->open != DPOR_NONE && part->open >= last)
		part->open = dpor_steps(dpor)[part->open].open_before;
}

static bool dpor_split(void *state, void *block, uint32_t number, uint64_t most, bool is_exact)
{
	struct dpor *dpor = state, *part = block;

	(void)most; /* the number of runs behind a branch is not known */
	if (dpor->lessons < DPOR_LESSONS || dpor->is_exhausted || dpor->is_lost || dpor->awaited)
		return false;
	for (uint32_t i = dpor->base; i < dpor->step_count; i++) {
		const uint32_t branch = find_waiting(dpor, &dpor_steps(dpor)[i]);

		if (branch == DPOR_NONE)
			continue;
		split_branch(dpor, part, number, i, branch);
		part->is_exact = is_exact;
		if (part->is_lost)
			return false;
		dpor_branches(dpor)[branch].part = number;
		return true;
	}
	return false;
}

/* ---- joining ---- */

static bool has_same_sleepers(struct dpor *dpor, struct dpor *part, uint32_t number)
{
	const struct dpor_step *a = &dpor_steps(dpor)[number], *b = &dpor_steps(part)[number];

	if (a->sleeper_count != b->sleeper_count)
		return false;
	for (uint32_t i = 0; i < a->sleeper_count; i++)
		if (!dpor_same_op(&dpor_sleepers(dpor)[a->sleeper + i].op,
			    &dpor_sleepers(part)[b->sleeper + i].op))
			return false;
	return true;
}

/* Can the owner use the task's results? */
static bool dpor_parts_is_joinable(struct dpor *dpor, struct dpor *part)
{
	return !dpor->is_lost && !part->is_lost && !part->diverged_runs && part->runs &&
	       dpor_has_same_slots(dpor, part) && has_same_sleepers(dpor, part, part->last) &&
	       dpor_has_gone_our_way(dpor, part, dpor_steps(dpor)[part->last].wakeup);
}

static bool has_same_tree(struct dpor *dpor, const struct dpor *part)
{
	const uint32_t branch = dpor_steps(dpor)[part->last].wakeup;

	return dpor_hash_tree(dpor, dpor_branches(dpor)[branch].child) == part->tree_hash;
}

/* Did the task begin with the owner's current knowledge? Then its runs are those of the owner, in
 * the same order. */
static bool is_exact(struct dpor *dpor, struct dpor *part)
{
	for (uint32_t i = 0; i <= part->last; i++)
		if (dpor_steps(dpor)[i].changes != dpor_steps(part)[i].changes_had)
			return false;
	return has_same_tree(dpor, part) && hash_racy(dpor) == part->racy_hash &&
	       hash_open(dpor, part->last) == part->open_hash;
}

/* Replaces the owner's tree by the tree that the task changed; branches keep their tasks. */
static void join_tree(struct dpor *dpor, struct dpor *part, uint32_t number)
{
	struct dpor_step *step = &dpor_steps(dpor)[number];
	uint32_t new = dpor_copy_list(dpor, part, dpor_steps(part)[number].wakeup);
	uint32_t old = step->wakeup;

	step->wakeup = new;
	step->changes += dpor_steps(part)[number].changes - dpor_steps(part)[number].changes_had;
	for (; new != DPOR_NONE; new = dpor_branches(dpor)[new].sibling)
		dpor_branches(dpor)[new].part = 0;
	for (new = step->wakeup; old != DPOR_NONE &&new != DPOR_NONE;
		new = dpor_branches(dpor)[new].sibling) {
		const uint32_t next = dpor_branches(dpor)[old].sibling;

		dpor_branches(dpor)[new].part = dpor_branches(dpor)[old].part;
		dpor_branch_free(dpor, old);
		old = next;
	}
}

/* Steps before the task's last one remain open if they are open in both states. */
static void join_open(struct dpor *dpor, struct dpor *part)
{
	uint32_t *mine = &dpor->open, other = part->open;
	uint32_t first = DPOR_NONE;
	uint32_t *end = &first;

	/* The chain is descending: the task's own steps come first. */
	for (; other != DPOR_NONE && other >= part->last;
		other = dpor_steps(part)[other].open_before) {
		*end = other;
		end = &dpor_steps(dpor)[other].open_before;
	}
	while (*mine != DPOR_NONE) {
		const uint32_t step = *mine;

		while (other != DPOR_NONE && other > step)
			other = dpor_steps(part)[other].open_before;
		if (other == step)
			mine = &dpor_steps(dpor)[step].open_before;
		else
			*mine = dpor_steps(dpor)[step].open_before;
	}
	*end = dpor->open;
	dpor->open = first;
}

static uint32_t end_of_sleepers(struct dpor *dpor, uint32_t step)
{
	return dpor_steps(dpor)[step].sleeper + dpor_steps(dpor)[step].sleeper_count;
}

/* Copies a step of the task behind its last common step. */
static void join_step(struct dpor *dpor, struct dpor *part, uint32_t number)
{
	struct dpor_step *step = &dpor_steps(dpor)[number];

	*step = dpor_steps(part)[number];
	step->sleeper += end_of_sleepers(dpor, part->last) - end_of_sleepers(part, part->last);
	copy_clock(dpor, part, number);
}

static void join_sleepers(struct dpor *dpor, struct dpor *part)
{
	const uint32_t from = end_of_sleepers(part, part->last);
	const uint32_t to = end_of_sleepers(dpor, part->last);

	if (part->sleeper_used - from > dpor->sleeper_capacity - to) {
		dpor->is_lost = true;
		return;
	}
	memcpy(dpor_sleepers(dpor) + to, dpor_sleepers(part) + from,
		(part->sleeper_used - from) * sizeof(struct dpor_sleeper));
}

/* Copies the task's own steps with their unexplored branches. */
static void join_own_steps(struct dpor *dpor, struct dpor *part)
{
	for (uint32_t i = part->base; i < part->step_count; i++) {
		join_step(dpor, part, i);
		dpor_steps(dpor)[i].wakeup = dpor_copy_list(dpor, part, dpor_steps(part)[i].wakeup);
	}
	dpor->step_count = part->step_count;
	dpor->first_new = part->first_new;
}

/* Imports slots, known races and counts. */
static void join_knowledge(struct dpor *dpor, const struct dpor *part)
{
	dpor_meet_slots(dpor, part);
	for (uint32_t i = 0; i < DPOR_RACY / 64; i++)
		dpor->racy[i] |= part->racy[i];
	dpor->runs += part->runs;
	dpor->blocked_runs += part->blocked_runs;
}

/*
 * The path from the split to the base becomes the path of the task, with the owner's branches. The
 * stack is then as before a run of the first leaf.
 */
static void join_way(struct dpor *dpor, struct dpor *part)
{
	const bool is_same = has_same_tree(dpor, part);
	struct dpor_step *step = &dpor_steps(dpor)[part->last];
	const struct dpor_step kept = *step;
	uint32_t next = dpor_branches(dpor)[kept.wakeup].child;

	dpor_branches(dpor)[kept.wakeup].child = DPOR_NONE;
	*step = dpor_steps(part)[part->last];
	step->changes = kept.changes;
	step->open_before = kept.open_before;
	step->wakeup = kept.wakeup;
	step->sleeper = kept.sleeper;
	step->sleeper_count = kept.sleeper_count;
	copy_clock(dpor, part, part->last);
	for (uint32_t i = part->last + 1; i < part->base; i++) {
		join_step(dpor, part, i);
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
	dpor->step_count = part->base;
	dpor->first_new = part->last;
	dpor->sleeper_used = end_of_sleepers(dpor, part->base - 1);
}

static void dpor_leave(void *state, uint32_t number)
{
	struct dpor *dpor = state;

	for (uint32_t i = dpor->base; i < dpor->step_count; i++)
		for (uint32_t branch = dpor_steps(dpor)[i].wakeup; branch != DPOR_NONE;
			branch = dpor_branches(dpor)[branch].sibling)
			if (!number || dpor_branches(dpor)[branch].part == number)
				dpor_branches(dpor)[branch].part = 0;
	if (!number || dpor->awaited == number)
		dpor->awaited = 0;
}

static bool dpor_join(void *state, void *block, bool has_to_be_exact)
{
	struct dpor *dpor = state, *part = block;

	dpor_leave(dpor, part->part);
	if (!dpor_parts_is_joinable(dpor, part) || (has_to_be_exact && !is_exact(dpor, part)))
		return false;
	join_sleepers(dpor, part);
	join_way(dpor, part);
	if (dpor->is_lost || !dpor_merge_trees(dpor, part))
		return false; /* the owner runs the first leaf again */
	for (uint32_t i = 0; i < part->base; i++)
		if (dpor_choose_tree(dpor, part, i) == DPOR_TREE_THEIRS)
			join_tree(dpor, part, i);
	join_knowledge(dpor, part);
	join_own_steps(dpor, part);
	dpor_join_found(dpor, part->part);
	dpor->sleeper_used = part->sleeper_used + end_of_sleepers(dpor, part->last) -
			     end_of_sleepers(part, part->last);
	join_open(dpor, part);
	if (part->is_exhausted)
		dpor_back_up(dpor);
	return true;
}

static uint32_t dpor_awaited(const void *state)
{
	return ((const struct dpor *)state)->awaited;
}

static uint64_t dpor_runs(const void *part)
{
	return ((const struct dpor *)part)->runs;
}

static void dpor_copy(void *to, const void *part)
{
	/* The accessors need a non-const state; `part` is not changed. */
	struct dpor *from = (struct dpor *)(uintptr_t)part, *copy = to;

	memcpy(copy, from, sizeof *copy);
	memcpy(dpor_steps(copy), dpor_steps(from), from->step_count * sizeof(struct dpor_step));
	memcpy(dpor_clock(copy, 0), dpor_clock(from, 0),
		(size_t)from->step_count * DPOR_THREADS * sizeof(uint32_t));
	memcpy(dpor_branches(copy), dpor_branches(from),
		from->branch_used * sizeof(struct dpor_branch));
	memcpy(dpor_sleepers(copy), dpor_sleepers(from),
		from->sleeper_used * sizeof(struct dpor_sleeper));
}

const struct strategy_parts dpor_parts = {
	.split = dpor_split,
	.copy = dpor_copy,
	.tell = dpor_tell,
	.awaited = dpor_awaited,
	.runs = dpor_runs,
	.join = dpor_join,
	.leave = dpor_leave,
};
