/* Threads of dpor's run: slots, pending ops and enabledness. */
#include "strategies/dpor/dpor.h"

#include "base/bitset.h"
#include "model/thread_name.h"
#include "model/view.h"

/* The thread that moved last may have buffered its first store. */
static void dpor_threads_note_drainer(struct dpor *dpor, uint32_t slot)
{
	uint8_t owner;

	if (dpor->creation[slot] == DPOR_NONE)
		return;
	owner = dpor_steps(dpor)[dpor->creation[slot]].op.thread;
	if (dpor->names[slot] == thread_name_child(dpor->names[owner], THREAD_ORDINAL_DRAINER))
		dpor->buffer_of[owner] = (uint8_t)slot;
}

void dpor_add_new_threads(struct dpor *dpor, const struct schedule_view *view)
{
	while (dpor->known < view->thread_count) {
		const uint32_t index = dpor->known++;
		uint32_t slot = 0;

		while (slot < dpor->slot_count && dpor->names[slot] != view->names[index])
			slot++;
		if (slot == DPOR_THREADS) {
			dpor->is_lost = true;
			slot = 0; /* arbitrary: a lost state makes no claims */
		}
		if (slot == dpor->slot_count)
			dpor->names[dpor->slot_count++] = view->names[index];
		if (dpor->slot_count > dpor->width)
			dpor_widen(dpor);
		if (index < DPOR_THREADS)
			dpor->slot_of[index] = (uint8_t)slot;
		else
			dpor->is_lost = true;
		dpor->index_of[slot] = (uint16_t)index;
		dpor->is_straight &= slot == index;
		/* Between two scheduling points one thread moves: the last step created the thread. */
		dpor->creation[slot] = dpor->depth ? dpor->depth - 1 : DPOR_NONE;
		while (dpor->creation[slot] != DPOR_NONE &&
			dpor_steps(dpor)[dpor->creation[slot]].is_value)
			dpor->creation[slot] =
				dpor->creation[slot] ? dpor->creation[slot] - 1 : DPOR_NONE;
		dpor_threads_note_drainer(dpor, slot);
		if (dpor->symmetry.is_wanted)
			dpor_symmetry_add_thread(dpor, view, slot);
	}
}

/*
 * A drain follows the step after which its store was made: `second` is the low half of that step's
 * number in its thread. The first drain of a buffer follows the creation of its slot.
 */
static uint32_t dpor_threads_storing_step(const struct dpor *dpor, const struct dpor_op *drain)
{
	const struct dpor_step *steps = dpor_steps((struct dpor *)(uintptr_t)dpor);
	const uint32_t creation = dpor->creation[drain->thread];
	uint32_t step =
		creation == DPOR_NONE ? DPOR_NONE : dpor->last_step[steps[creation].op.thread];

	while (step != DPOR_NONE && (uint16_t)steps[step].ordinal != drain->second)
		step = steps[step].previous;
	return step;
}

uint32_t dpor_enabler(const struct dpor *dpor, const struct dpor_op *op)
{
	if (op->kind == OP_DRAIN)
		return dpor_threads_storing_step(dpor, op);
	return dpor->buffer_of[op->thread] && dpor_awaits_drain(op)
		       ? dpor->last_step[dpor->buffer_of[op->thread]]
		       : DPOR_NONE;
}

bool dpor_can_move(const struct dpor *dpor, const struct schedule_view *view, uint8_t slot)
{
	return slot < dpor->slot_count && dpor->index_of[slot] < view->thread_count &&
	       view_is_enabled(view, dpor->index_of[slot]) && !(dpor->share.held >> slot & 1);
}

uint64_t dpor_enabled_slots(const struct dpor *dpor, const struct schedule_view *view)
{
	uint64_t slots = 0;

	if (dpor->is_straight)
		return view->enabled[0] &
		       ~dpor->share.held; /* a run with more threads than slots makes no claims */
	bitset_each (index, view->enabled, view->thread_count)
		slots |= UINT64_C(1) << dpor_slot_of(dpor, index);
	return slots & ~dpor->share.held;
}

void dpor_forget_thread(struct dpor *dpor)
{
	const uint32_t slot = dpor_slot_of(dpor, --dpor->known);

	for (uint32_t owner = 0; owner < dpor->slot_count; owner++)
		if (dpor->buffer_of[owner] == slot)
			dpor->buffer_of[owner] = 0;
	dpor->index_of[slot] = UINT16_MAX;
	dpor->last_step[slot] = dpor->creation[slot] = DPOR_NONE;
}
