/*
 * Whose turn it is in dpor where several would do: the runs are as many whoever it is, but those that have much in
 * common and part late go on from late checkpoints.
 */
#include "strategies/dpor/dpor.h"

#include "base/bitset.h"
#include "model/view.h"

/* Steps of others for which the end of the process waits. */
#define EXIT_PATIENCE 256

static uint64_t sleeping_slots(struct dpor *dpor, const struct dpor_step *step)
{
	const struct dpor_sleeper *sleepers = dpor_sleepers(dpor) + step->sleeper;
	uint64_t slots = 0;

	for (uint32_t i = 0; i < step->sleeper_count; i++)
		slots |= UINT64_C(1) << sleepers[i].op.thread;
	return slots;
}

/* Is it about to race? Who gives something up that others wait for is not: the race was for taking it. */
static bool is_racing(const struct dpor *dpor, const struct dpor_op *op)
{
	return !(op->flags & OP_RELEASE) && dpor_is_racy(dpor, op);
}

/*
 * The object for which threads raced last: those that stand before it are through with it first. 0: none.
 */
static object_name last_raced(struct dpor *dpor)
{
	const struct dpor_step *steps = dpor_steps(dpor);

	for (uint32_t at = dpor->depth; at-- > 0;)
		if (!steps[at].is_value && dpor_is_racy(dpor, &steps[at].op))
			return steps[at].op.object;
	return 0;
}

/*
 * Is it about to end the process? It does when nobody else can move any more, but does not wait for ever for threads that
 * never end: those might move on in every further run.
 */
static bool is_to_wait(const struct dpor *dpor, const struct dpor_op *op)
{
	const uint32_t last = dpor->last_step[op->thread];

	return dpor_is_exit(op) && dpor->depth - (last == DPOR_NONE ? 0 : last) < EXIT_PATIENCE;
}

/*
 * Which of the threads that do not sleep; DPOR_NONE: all do. Any would do for the sake of completeness.
 * Whoever is about to race goes last, those that race for the same thing together: so runs that differ
 * in the order of a race have as much in common as they can, and go on from late checkpoints.
 */
uint32_t dpor_somebody_awake(
	struct dpor *dpor, const struct dpor_step *step, const struct schedule_view *view)
{
	/* Whoever is held is not to move, either. */
	const uint64_t asleep = sleeping_slots(dpor, step) | dpor->share.held;
	const uint32_t standard = view_default(view).index;
	uint32_t best = DPOR_NONE, ending = DPOR_NONE;
	bool is_last = false;
	struct dpor_op op = dpor_op_of(dpor, view, standard);
	object_name last;

	if (!(asleep >> op.thread & 1) && !is_racing(dpor, &op) && !is_to_wait(dpor, &op))
		return standard;
	last = last_raced(dpor);
	if (!(asleep >> op.thread & 1) && op.object == last && !is_to_wait(dpor, &op))
		return standard;
	bitset_each (index, view->enabled, view->thread_count) {
		if (asleep >> dpor_slot_of(dpor, index) & 1)
			continue;
		op = dpor_op_of(dpor, view, index);
		if (is_to_wait(dpor, &op)) {
			ending = index;
			continue;
		}
		if (!is_racing(dpor, &op))
			return index;
		if (best != DPOR_NONE && (is_last || op.object != last))
			continue;
		best = index;
		is_last = op.object == last;
	}
	return best != DPOR_NONE ? best : ending;
}

/* ---- bystanders ---- */

/* Does another thread stand before something that this one could race with? */
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

/* Depends nothing in the chain of branches on the op? False for trees that are no chain, too. */
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

/* Is main about to wait for a thread that has ended, and not for the last time? */
static bool main_goes_on(struct dpor *dpor, const struct schedule_view *view)
{
	const uint32_t last = dpor->last_step[0];

	return view->pending[dpor->index_of[0]].kind == OP_THREAD_JOIN && last != DPOR_NONE &&
	       dpor_steps(dpor)[last].ordinal + 1 < dpor->main_ops;
}

/*
 * A wakeup tree says what is to happen from here on, but not what the two threads do whose race it reverses: left
 * to themselves they would do that behind all of the tree, and every run below would have to repeat it. An op
 * that no op of the tree depends on, of a thread that is not in it, may be performed first: what the tree
 * covers is covered behind it, too, and who sleeps here sleeps there or depends on it. Of main only joins after
 * which it went on when the program was learnt: else the process may end.
 */
uint32_t dpor_bystander(
	struct dpor *dpor, const struct dpor_step *step, const struct schedule_view *view)
{
	uint64_t slots = dpor_enabled_slots(dpor, view) & ~step->planned.slots;

	if (slots & 1 && !main_goes_on(dpor, view))
		slots &= ~UINT64_C(1);
	slots &= ~dpor->contended;
	if (slots)
		slots &= ~sleeping_slots(dpor, step);
	for (; slots; slots &= slots - 1) {
		const uint8_t slot = (uint8_t)__builtin_ctzll(slots);
		const struct dpor_op op = dpor_op_of(dpor, view, dpor->index_of[slot]);

		if (is_racing(dpor, &op) && dpor_turns_is_contended(dpor, view, &op))
			dpor->contended |= UINT64_C(1) << slot;
		else if ((op.is_plain && !(dpor_key_bit(&op) & step->planned.keys)) ||
			 dpor_turns_is_apart(dpor, step->wakeup, &op))
			return dpor->index_of[slot];
	}
	return DPOR_NONE;
}

void dpor_note_moved(struct dpor *dpor, const struct dpor_op *op)
{
	const uint8_t class = dpor_class_of(op);

	/* Who contended for what has been raced for may be through; other ops may have changed what threads wait for. */
	const bool is_simple = class == OBJECT_MEMORY || class == OBJECT_MUTEX ||
			       class == OBJECT_THREAD || class == OBJECT_NOTHING;

	if (dpor_is_racy(dpor, op) || !is_simple)
		dpor->contended = 0;
	else
		dpor->contended &= ~(UINT64_C(1) << op->thread);
}
