/*
 * Choice where dpor permits several threads: delayed races let runs share long prefixes, and resume
 * from late checkpoints. The number of runs is not affected.
 */
#include "strategies/dpor/dpor.h"

#include "base/bitset.h"
#include "model/view.h"

#define EXIT_PATIENCE 256

static uint64_t dpor_turns_sleeping_slots(struct dpor *dpor, const struct dpor_step *step)
{
	const struct dpor_sleeper *sleepers = dpor_sleepers(dpor) + step->sleeper;
	uint64_t slots = 0;

	for (uint32_t i = 0; i < step->sleeper_count; i++)
		slots |= UINT64_C(1) << sleepers[i].op.thread;
	return slots;
}

/* A release does not race: the race is between acquisitions. */
static bool dpor_turns_is_racing(const struct dpor *dpor, const struct dpor_op *op)
{
	return !(op->flags & OP_RELEASE) && dpor_is_racy(dpor, op);
}

/* Object of the most recent race: threads pending there run first. 0: none. */
static object_name dpor_turns_last_raced(struct dpor *dpor)
{
	const struct dpor_step *steps = dpor_steps(dpor);

	for (uint32_t at = dpor->depth; at-- > 0;)
		if (!steps[at].is_value && dpor_is_racy(dpor, &steps[at].op))
			return steps[at].op.object;
	return 0;
}

/* The end of the process waits, at most EXIT_PATIENCE steps, until no other thread is enabled. */
static bool dpor_turns_is_exit_delayed(const struct dpor *dpor, const struct dpor_op *op)
{
	const uint32_t last = dpor->last_step[op->thread];

	return dpor_is_exit(op) && dpor->depth - (last == DPOR_NONE ? 0 : last) < EXIT_PATIENCE;
}

/*
 * Every choice preserves completeness. Threads about to race run last; those of one object
 * together.
 */
uint32_t dpor_somebody_awake(
	struct dpor *dpor, const struct dpor_step *step, const struct schedule_view *view)
{
	const uint64_t asleep = dpor_turns_sleeping_slots(dpor, step) | dpor->share.held;
	const uint32_t standard = view_default(view).index;
	uint32_t best = DPOR_NONE, ending = DPOR_NONE;
	bool is_last = false;
	struct dpor_op op = dpor_op_of(dpor, view, standard);
	object_name last;

	if (!(asleep >> op.thread & 1) && !dpor_turns_is_racing(dpor, &op) &&
		!dpor_turns_is_exit_delayed(dpor, &op))
		return standard;
	last = dpor_turns_last_raced(dpor);
	if (!(asleep >> op.thread & 1) && op.object == last &&
		!dpor_turns_is_exit_delayed(dpor, &op))
		return standard;
	bitset_each (index, view->enabled, view->thread_count) {
		if (asleep >> dpor_slot_of(dpor, index) & 1)
			continue;
		op = dpor_op_of(dpor, view, index);
		if (dpor_turns_is_exit_delayed(dpor, &op)) {
			ending = index;
			continue;
		}
		if (!dpor_turns_is_racing(dpor, &op))
			return index;
		if (best != DPOR_NONE && (is_last || op.object != last))
			continue;
		best = index;
		is_last = op.object == last;
	}
	return best != DPOR_NONE ? best : ending;
}

static bool dpor_turns_is_contended(
	const struct dpor *dpor, const struct schedule_view *view, const struct dpor_op *op)
{
	for (uint32_t i = 0; i < view->thread_count; i++) {
		const struct pending_op *other = &view->pending[i];

		if (other->kind != OP_NONE && other->object == op->object &&
			dpor_slot_of(dpor, i) != op->thread)
			return true;
	}
	return false;
}

/* Returns false if the tree is not a chain. */
static bool dpor_turns_is_apart(struct dpor *dpor, uint32_t branch, const struct dpor_op *op)
{
	for (; branch != DPOR_NONE; branch = dpor_branches(dpor)[branch].child) {
		const struct dpor_branch *at = &dpor_branches(dpor)[branch];

		if (at->sibling != DPOR_NONE || at->op.thread == op->thread ||
			dpor_dependent(&at->op, op))
			return false;
	}
	return true;
}

struct dpor_plan dpor_plan_of(struct dpor *dpor, uint32_t branch)
{
	struct dpor_plan plan = {0};

	for (; branch != DPOR_NONE; branch = dpor_branches(dpor)[branch].child) {
		const struct dpor_branch *at = &dpor_branches(dpor)[branch];

		if (at->sibling != DPOR_NONE)
			return (struct dpor_plan){UINT64_MAX, UINT64_MAX};
		plan.slots |= UINT64_C(1) << at->op.thread;
		plan.keys |= at->op.is_plain ? dpor_key_bit(&at->op) : UINT64_MAX;
	}
	return plan;
}

/* Returns whether main is about to join a thread that has ended, and has further ops after the
 * join. */
static bool dpor_turns_main_continues(struct dpor *dpor, const struct schedule_view *view)
{
	const uint32_t last = dpor->last_step[0];

	return view->pending[dpor->index_of[0]].kind == OP_THREAD_JOIN && last != DPOR_NONE &&
	       dpor_steps(dpor)[last].ordinal + 1 < dpor->main_ops;
}

/*
 * A wakeup tree does not prescribe the other ops of the two threads whose race it reverses. Those
 * would run behind the whole tree, and every run below would repeat them.
 *
 * An op may therefore precede the tree if the tree does not contain its thread and no op of the
 * tree depends on it. The tree covers the same orders behind it, and a thread that sleeps here
 * either sleeps there or depends on the op. The only ops of main that qualify are joins, and only
 * if main continued after such a join in the learning runs. Otherwise the process may end.
 */
uint32_t dpor_bystander(
	struct dpor *dpor, const struct dpor_step *step, const struct schedule_view *view)
{
	uint64_t slots = dpor_enabled_slots(dpor, view) & ~step->planned.slots;

	if (slots & 1 && !dpor_turns_main_continues(dpor, view))
		slots &= ~UINT64_C(1);
	slots &= ~dpor->contended;
	if (slots)
		slots &= ~dpor_turns_sleeping_slots(dpor, step);
	for (; slots; slots &= slots - 1) {
		const uint8_t slot = (uint8_t)__builtin_ctzll(slots);
		const struct dpor_op op = dpor_op_of(dpor, view, dpor->index_of[slot]);

		if (dpor_turns_is_racing(dpor, &op) && dpor_turns_is_contended(dpor, view, &op))
			dpor->contended |= UINT64_C(1) << slot;
		else if ((op.is_plain && step->planned.keys != UINT64_MAX &&
				 !(dpor_key_bit(&op) & step->planned.keys)) ||
			 dpor_turns_is_apart(dpor, step->wakeup, &op))
			return dpor->index_of[slot];
	}
	return DPOR_NONE;
}

void dpor_note_moved(struct dpor *dpor, const struct dpor_op *op)
{
	const uint8_t class = dpor_class_of(op);

	const bool is_simple = class == OBJECT_MEMORY || class == OBJECT_MUTEX ||
			       class == OBJECT_THREAD || class == OBJECT_NOTHING;

	if (dpor_is_racy(dpor, op) || !is_simple)
		dpor->contended = 0;
	else
		dpor->contended &= ~(UINT64_C(1) << op->thread);
}
