/* Insertion of a sequence of steps into dpor's wakeup trees, unless a tree covers it. */
#include "strategies/dpor/dpor_order.h"

static uint32_t dpor_wakeup_first_of(
	struct dpor *dpor, const struct dpor_sequence *sequence, uint8_t thread)
{
	uint32_t i = 0;

	while (i < sequence->count && dpor_steps(dpor)[sequence->steps[i]].op.thread != thread)
		i++;
	return i;
}

/*
 * Computes a weak initial: can `op` precede the first `count` steps, or be the first of them?
 * Returns the index of the first step of the op's thread, `count` if the thread has no step,
 * DPOR_NONE if impossible.
 */
static uint32_t dpor_wakeup_position_of_first(struct dpor *dpor,
	const struct dpor_sequence *sequence, uint32_t count, const struct dpor_op *op)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint32_t i;

	for (i = 0; i < count; i++) {
		const uint32_t step = sequence->steps[i];

		if (steps[step].op.thread == op->thread)
			break;
		if (dpor_dependent(&steps[step].op, op) || dpor->creation[op->thread] == step)
			return DPOR_NONE;
	}
	return i;
}

static void dpor_wakeup_remove_first_of(
	struct dpor *dpor, struct dpor_sequence *sequence, uint8_t thread)
{
	const uint32_t at = dpor_wakeup_first_of(dpor, sequence, thread);

	if (at == sequence->count)
		return;
	sequence->count--;
	for (uint32_t i = at; i < sequence->count; i++)
		sequence->steps[i] = sequence->steps[i + 1];
}

static uint32_t dpor_wakeup_branch_of(struct dpor *dpor, const struct dpor_sequence *sequence)
{
	uint32_t first = DPOR_NONE;

	for (uint32_t i = sequence->count; i-- > 0;) {
		const uint32_t branch =
			dpor_branch_new(dpor, &dpor_steps(dpor)[sequence->steps[i]].op);

		if (branch == DPOR_NONE) {
			if (first != DPOR_NONE)
				dpor_branch_free(dpor, first);
			return DPOR_NONE;
		}
		dpor_branches(dpor)[branch].child = first;
		dpor_branches(dpor)[branch].op.is_doubtful =
			sequence->steps[i] == sequence->doubtful;
		first = branch;
	}
	return first;
}

/* Returns whether the branch covers the sequence, or a part of it. A branch that may turn out to be
 * impossible covers only sequences with the same op, which are then impossible, too. */
static bool dpor_wakeup_admits(
	struct dpor *dpor, const struct dpor_sequence *sequence, const struct dpor_op *op)
{
	const uint32_t position =
		dpor_wakeup_position_of_first(dpor, sequence, sequence->count, op);

	return position != DPOR_NONE && (!op->is_doubtful || position < sequence->count);
}

/* Returns false if the tree at *position covers the sequence. */
static bool dpor_wakeup_insert(
	struct dpor *dpor, uint32_t *position, struct dpor_sequence *sequence)
{
	while (sequence->count) {
		uint32_t branch = *position;

		while (branch != DPOR_NONE &&
			!dpor_wakeup_admits(dpor, sequence, &dpor_branches(dpor)[branch].op)) {
			position = &dpor_branches(dpor)[branch].sibling;
			branch = *position;
		}
		if (branch == DPOR_NONE) {
			*position = dpor_wakeup_branch_of(dpor, sequence);
			return true;
		}
		dpor_wakeup_remove_first_of(dpor, sequence, dpor_branches(dpor)[branch].op.thread);
		position = &dpor_branches(dpor)[branch].child;
		if (*position == DPOR_NONE)
			return false; /* a leaf: later ops are chosen when it is reached */
	}
	return false;
}

/*
 * Returns whether the first branch that admits the sequence begins its core: this branch then
 * covers the core with any later steps. The result is false if an earlier branch is independent of
 * the core. With other later steps, that branch may precede, and its thread then sleeps when the
 * other branch is explored.
 */
static bool dpor_wakeup_is_begun_there(
	struct dpor *dpor, uint32_t step, const struct dpor_sequence *sequence)
{
	/* A task does not know earlier branches above its base that other states have found. */
	const bool is_outside = dpor->task && !dpor->is_exact && step < dpor->base;
	uint32_t branch = dpor_steps(dpor)[step].wakeup;

	for (; branch != DPOR_NONE; branch = dpor_branches(dpor)[branch].sibling) {
		const struct dpor_branch *here = &dpor_branches(dpor)[branch];
		const uint32_t position =
			dpor_wakeup_position_of_first(dpor, sequence, sequence->core, &here->op);

		if (here->finder && (is_outside || here->finder != dpor->task))
			return false;
		if (position != DPOR_NONE)
			return position < sequence->core;
	}
	return !is_outside;
}

bool dpor_add_order(struct dpor *dpor, uint32_t step, struct dpor_sequence *sequence)
{
	struct dpor_step *at = &dpor_steps(dpor)[step];
	const struct dpor_sleeper *sleepers = dpor_sleepers(dpor) + at->sleeper;
	bool is_had = false;
	bool is_settled;

	for (uint32_t i = 0; i < at->sleeper_count; i++) {
		const uint32_t position = dpor_wakeup_position_of_first(
			dpor, sequence, sequence->count, &sleepers[i].op);

		if (position < sequence->core)
			return true;
		is_had |= position != DPOR_NONE;
	}
	if (is_had)
		return false;
	is_settled = dpor_wakeup_is_begun_there(dpor, step, sequence);
	at->changes += dpor_wakeup_insert(dpor, &at->wakeup, sequence);
	return is_settled;
}
