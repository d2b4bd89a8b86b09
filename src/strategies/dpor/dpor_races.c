/* Which races a run of dpor has, and which other runs have them the other way round. See dpor.c for the source. */
#include "strategies/dpor/dpor_order.h"

#include <stddef.h>

/*
 * May `second` happen before `first`? A lock that is taken was given up before: those two have no
 * other order, the race is with who took it. Nor has the end of a thread and who joins it. That the process ends
 * sooner shows nothing that it does not show later; and who cannot move before the end was not kept from it by that.
 */
static bool has_other_order(const struct dpor_step *first, const struct dpor_step *second)
{
	const bool waits = second->op.flags & OP_MAYBLOCK;

	if (dpor_is_exit(&second->op))
		return false;
	if (dpor_is_exit(&first->op))
		return first->enabled >> second->op.thread & 1;
	if (second->op.kind == OP_THREAD_JOIN || first->op.kind == OP_THREAD_CREATE)
		return false;
	if ((first->op.flags & OP_RELEASE || first->op.kind == OP_COND_WAIT) && waits &&
		second->op.flags & OP_ACQUIRE)
		return false;
	if (first->op.kind == OP_ONCE_DONE || first->op.kind == OP_BARRIER_ARRIVE)
		return !waits;
	return true;
}

/*
 * Where `second` waited already before `first`, could not move, and nothing of what is to come before
 * it has to do with what it waits for, it cannot move then either.
 */
static bool is_stuck(
	struct dpor *dpor, uint32_t first, uint32_t second, const struct dpor_sequence *sequence)
{
	const struct dpor_step *self = &dpor_steps(dpor)[second];

	if (!(self->op.flags & OP_MAYBLOCK) || self->previous == DPOR_NONE ||
		self->previous > first || dpor_steps(dpor)[first].enabled >> self->op.thread & 1)
		return false;
	for (uint32_t i = 0; i + 1 < sequence->core; i++)
		if (dpor_dependent(&dpor_steps(dpor)[sequence->steps[i]].op, &self->op))
			return false;
	return true;
}

/*
 * notdep(first) . second: what follows `first` and does not depend on it, with the other one in its place
 * among these. What comes behind that does not depend on it, or it would depend on `first`.
 */
static void other_order(
	struct dpor *dpor, uint32_t first, uint32_t second, struct dpor_sequence *sequence)
{
	*sequence = (struct dpor_sequence){.steps = dpor_scratch(dpor)};
	for (uint32_t i = first + 1; i < dpor->depth; i++) {
		if (i == second)
			sequence->steps[sequence->count++] = second;
		else if (!dpor_steps(dpor)[i].is_value && !dpor_happens_before(dpor, first, i))
			sequence->steps[sequence->count++] = i;
		if (i == second)
			sequence->core = sequence->count;
	}
	if (second < dpor->depth)
		return;
	sequence->steps[sequence->count++] = second; /* one that was left */
	sequence->core = sequence->count;
}

static bool reverse(struct dpor *dpor, uint32_t first, uint32_t second)
{
	struct dpor_sequence sequence;

	dpor_note_racy(dpor, &dpor_steps(dpor)[first].op);
	dpor_note_racy(dpor, &dpor_steps(dpor)[second].op);
	other_order(dpor, first, second, &sequence);
	return is_stuck(dpor, first, second, &sequence) || dpor_add_order(dpor, first, &sequence);
}

/*
 * Has `first` given what `second` took, of several alike that are there to be had: a count of a semaphore, or
 * bytes, or room for them? It might have taken an earlier one. So what stands in its way is not who gave this
 * one, without which it could not have moved, but who took that: `first` does not order the two.
 */
static bool gave_one_of_many(const struct dpor_op *first, const struct dpor_op *second)
{
	if (!(second->flags & OP_MAYBLOCK) || first->kind == second->kind)
		return false;
	return dpor_class_of(second) == OBJECT_SEM || dpor_class_of(second) == OBJECT_FD;
}

/* A shard settles the order of some: the second waited for the first, so what comes before that one is ordered, too. */
static inline bool is_settled_pair(const struct dpor_step *first, const struct dpor_step *second)
{
	return first->leads & second->follows;
}

/* The steps that race with this one: dependent, and nothing between them orders them. True: all settled. */
static bool reverse_races_of(struct dpor *dpor, uint32_t second)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	const uint32_t *past = dpor_own_past(dpor, second);
	uint32_t ordered[DPOR_THREADS];
	struct dpor_look_back look;
	bool is_settled = true;
	uint32_t first;

	dpor_clock_copy(dpor, ordered, past);
	dpor_look_back_begin(dpor, &look, second);
	while ((first = dpor_look_back_next(dpor, &look, past, steps[second].op.thread)) !=
		DPOR_NONE) {
		if (steps[first].ordinal <= ordered[steps[first].op.thread] ||
			!dpor_dependent(&steps[first].op, &steps[second].op) ||
			!has_other_order(&steps[first], &steps[second]))
			continue;
		if (!is_settled_pair(&steps[first], &steps[second]))
			is_settled &= reverse(dpor, first, second);
		if (!gave_one_of_many(&steps[first].op, &steps[second].op))
			dpor_clock_join(dpor, ordered, dpor_clock(dpor, first));
	}
	return is_settled;
}

uint32_t dpor_first_race(struct dpor *dpor, uint32_t second,
	bool (*is_wanted)(const struct dpor_op *first, const struct dpor_op *second))
{
	const struct dpor_step *steps = dpor_steps(dpor);
	const uint32_t *past = dpor_own_past(dpor, second);
	uint32_t ordered[DPOR_THREADS];
	struct dpor_look_back look;
	uint32_t first;

	dpor_clock_copy(dpor, ordered, past);
	dpor_look_back_begin(dpor, &look, second);
	while ((first = dpor_look_back_next(dpor, &look, past, steps[second].op.thread)) !=
		DPOR_NONE) {
		if (steps[first].ordinal <= ordered[steps[first].op.thread] ||
			!dpor_dependent(&steps[first].op, &steps[second].op) ||
			!has_other_order(&steps[first], &steps[second]))
			continue;
		if (!is_settled_pair(&steps[first], &steps[second]) &&
			is_wanted(&steps[first].op, &steps[second].op))
			return first;
		dpor_clock_join(dpor, ordered, dpor_clock(dpor, first));
	}
	return DPOR_NONE;
}

/* ---- ops that were still to come ---- */

void dpor_note_left(struct dpor *dpor, const struct schedule_view *view)
{
	for (uint32_t i = 0; i < view->thread_count && i < DPOR_THREADS; i++) {
		if (view->pending[i].kind == OP_NONE)
			continue;
		dpor->left[dpor_slot_of(dpor, i)] = dpor_op_of(dpor, view, i);
		dpor->left_slots |= UINT64_C(1) << dpor_slot_of(dpor, i);
	}
	dpor->left_slots &= ~dpor->share.held;
	dpor->left_enabled = dpor_enabled_slots(dpor, view) & dpor->left_slots;
}

/* Was the last step one that nothing comes behind, not even what is about no object? */
static bool dpor_races_has_ended(struct dpor *dpor)
{
	return dpor->last_wide != DPOR_NONE && dpor_is_exit(&dpor_steps(dpor)[dpor->last_wide].op);
}

/* The pending op of a thread as if it were the last step of the run; behind all real ones. */
static uint32_t step_left(struct dpor *dpor, uint8_t slot)
{
	const uint32_t number = dpor->depth, last = dpor->last_step[slot];
	const uint32_t *bucket = dpor_bucket(dpor, &dpor->left[slot]);

	dpor_steps(dpor)[number] = (struct dpor_step){
		.op = dpor->left[slot],
		.previous = last,
		.ordinal = last == DPOR_NONE ? 1 : dpor_steps(dpor)[last].ordinal + 1,
		.follows = dpor_share_follows(dpor, &dpor->left[slot]),
		.alike = bucket ? *bucket : DPOR_NONE,
		.wide = bucket || dpor_races_has_ended(dpor) ? dpor->last_wide : DPOR_NONE,
	};
	return number;
}

static uint32_t last_real_step(struct dpor *dpor)
{
	uint32_t step = dpor->depth;

	while (step && dpor_steps(dpor)[step - 1].is_value)
		step--;
	return step ? step - 1 : DPOR_NONE;
}

/*
 * Whoever waits for ever has lost a race, too. And whoever could still have moved lost it to the step
 * after which the process ended.
 */
static void reverse_races_of_left(struct dpor *dpor, uint8_t slot)
{
	const uint32_t step = step_left(dpor, slot);
	const uint32_t end = last_real_step(dpor);

	(void)reverse_races_of(dpor, step); /* likewise */
	if (dpor->left_enabled >> slot & 1 && end != DPOR_NONE &&
		dpor_steps(dpor)[end].op.thread != slot) {
		struct dpor_sequence sequence = {
			.steps = dpor_scratch(dpor), .count = 1, .core = 1};

		sequence.steps[0] = step;
		if (dpor_steps(dpor)[end].enabled >> slot & 1)
			(void)dpor_add_order(dpor, end, &sequence); /* asked again in every run */
	}
}

/*
 * Each run has to be asked for all of its races, not only for those that are new in it: whether a sleeper
 * or a branch covers the other order may depend on what happened behind the race. It does not where a
 * thread that has been tried at `first` begins the core of the sequence, which is the same in all runs that share the
 * race, or where the first branch that takes in any sequence with this core does (is_begun_there):
 * then the race is *settled*. That one of the branches does (a source set) is not enough: sleepers speak for
 * sequences that they could stand before (weak initials), and rely on each to have come to the first such branch.
 */
void dpor_reverse_races(struct dpor *dpor)
{
	struct dpor_step *steps = dpor_steps(dpor);
	uint32_t *open = &dpor->open;

	while (*open != DPOR_NONE && !dpor->is_lost) {
		struct dpor_step *step = &steps[*open];

		if (reverse_races_of(dpor, *open))
			*open = step->open_before;
		else
			open = &step->open_before;
	}
	for (uint32_t i = dpor->first_new; i < dpor->depth && !dpor->is_lost; i++) {
		if (steps[i].is_value || !steps[i].has_other || reverse_races_of(dpor, i))
			continue;
		steps[i].open_before = dpor->open;
		dpor->open = i;
	}
	for (uint8_t slot = 0; slot < dpor->slot_count && !dpor->is_lost; slot++)
		if (dpor->left_slots >> slot & 1)
			reverse_races_of_left(dpor, slot);
}
