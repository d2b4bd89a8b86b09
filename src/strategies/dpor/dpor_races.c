/* Finds the races of a run of dpor and the sequences that reverse them; dpor.c cites the paper. */
#include "strategies/dpor/dpor_order.h"

/* Returns whether the op names the thread that `join` joins: it joins or detaches that thread, or sends it a signal or a
 * request for cancellation. Each of these fails after the join. */
static bool dpor_races_uses_joined(const struct dpor_op *op, const struct dpor_op *join)
{
	return op->object == join->object && op->kind != OP_THREAD_BEGIN &&
	       op->kind != OP_THREAD_EXIT;
}

/*
 * Can `second` happen before `first`? The function returns false if `first` enables `second`: - A
 * release enables the acquisition; the race is with the previous acquisition. - The end of a thread
 * enables its join, and its creation enables the thread. Neither holds if a signal interrupts the acquisition or the
 * join: the thread then runs its handler in this step. - An earlier end of the process shows no
 * more than a later one. A thread that was
 *   disabled before the end was not prevented by the end.
 */
static bool dpor_races_has_other_order(
	const struct dpor_step *first, const struct dpor_step *second)
{
	const bool waits = second->op.flags & OP_MAYBLOCK && !(second->op.flags & OP_INTERRUPTION);

	if (dpor_is_exit(&second->op))
		return false;
	if (dpor_is_exit(&first->op))
		return first->enabled >> second->op.thread & 1;
	if (first->op.kind == OP_THREAD_CREATE)
		return false;
	if (second->op.kind == OP_THREAD_JOIN && waits)
		return dpor_races_uses_joined(&first->op, &second->op);
	if ((first->op.flags & OP_RELEASE || first->op.kind == OP_COND_WAIT) && waits &&
		second->op.flags & OP_ACQUIRE)
		return false;
	return first->op.kind != OP_ONCE_DONE || !waits;
}

/* A thread that was disabled before `first` remains disabled if no op moved ahead affects it. */
static bool dpor_races_remains_disabled(
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
 * The read of a waiting loop races with each write before which it can end the loop. Whether it can
 * is known only if the thread was about to read before `first`. If not, or if the read was blocked
 * there, `first` does not hide earlier writes.
 */
static bool dpor_races_may_wait(
	const struct dpor_step *steps, uint32_t first, const struct dpor_step *second)
{
	const bool was_pending = second->previous == DPOR_NONE || second->previous <= first;

	return dpor_is_wait_for_value(&second->op) &&
	       !(was_pending && steps[first].enabled >> second->op.thread & 1);
}

/*
 * Builds notdep(first) . second: the steps after `first` that do not depend on it, with `second` in
 * its position among them. Steps after `second` do not depend on it, because they would then depend on
 * `first`.
 */
static void dpor_races_other_order(
	struct dpor *dpor, uint32_t first, uint32_t second, struct dpor_sequence *sequence)
{
	*sequence = (struct dpor_sequence){.steps = dpor_scratch(dpor),
		.doubtful = dpor_races_may_wait(dpor_steps(dpor), first, &dpor_steps(dpor)[second])
				    ? second
				    : DPOR_NONE};
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
	sequence->steps[sequence->count++] = second; /* a pending op at the end of the run */
	sequence->core = sequence->count;
}

static bool dpor_races_reverse(struct dpor *dpor, uint32_t first, uint32_t second)
{
	struct dpor_sequence sequence;

	dpor_note_racy(dpor, &dpor_steps(dpor)[first].op);
	dpor_note_racy(dpor, &dpor_steps(dpor)[second].op);
	dpor_races_other_order(dpor, first, second, &sequence);
	return dpor_races_remains_disabled(dpor, first, second, &sequence) ||
	       dpor_add_order(dpor, first, &sequence);
}

/*
 * `first` provided one of several equivalent units (semaphore, bytes, space), and `second` consumes
 * a unit. The consumer of an earlier unit competes with `second`; `first` therefore does not order
 * the two.
 */
static bool dpor_races_is_one_of_many_units(
	const struct dpor_op *first, const struct dpor_op *second)
{
	if (!(second->flags & OP_MAYBLOCK) || first->kind == second->kind)
		return false;
	return dpor_class_of(second) == OBJECT_SEM || dpor_class_of(second) == OBJECT_FD;
}

/*
 * The thread of `first` already held the lock. No schedule has `second` between the outermost
 * acquisition and this one, so `first` does not hide the race with the outermost one.
 */
static bool dpor_races_is_nested_acquisition(const struct dpor_step *first)
{
	return first->op.flags & OP_ACQUIRE && first->nesting > 1;
}

/*
 * `first` is a signal, a request for cancellation or a fork while the thread of `second` was blocked. The thread could
 * not run before `first`, so `first` does not hide the race with the op that blocked it.
 */
static bool dpor_races_is_interruption_of_blocked(
	const struct dpor_step *first, const struct dpor_step *second)
{
	return dpor_is_aimed_at(&first->op, second->op.thread) && second->op.flags & OP_MAYBLOCK &&
	       !(first->enabled >> second->op.thread & 1);
}

/* The shard orders this pair: the second event waited, and follows earlier steps, too. */
static inline bool dpor_races_is_settled_pair(
	const struct dpor_step *first, const struct dpor_step *second)
{
	return first->leads & second->follows;
}

/* Races with dependent earlier steps that nothing in between orders. Returns true if all are
 * settled. */
static bool dpor_races_reverse_races_of(struct dpor *dpor, uint32_t second)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	const uint32_t *past = dpor_own_past(dpor, second);
	uint32_t ordered[DPOR_THREADS];
	struct dpor_look_back look;
	bool is_settled = true;
	uint32_t first;

	dpor_clock_copy(dpor, ordered, past);
	dpor_look_back_begin(dpor, &look, second);
	while ((first = dpor_look_back_next(dpor, &look, past)) != DPOR_NONE) {
		if (steps[first].ordinal <= ordered[steps[first].op.thread] ||
			!dpor_dependent(&steps[first].op, &steps[second].op) ||
			!dpor_races_has_other_order(&steps[first], &steps[second]))
			continue;
		if (!dpor_races_is_settled_pair(&steps[first], &steps[second]))
			is_settled &= dpor_races_reverse(dpor, first, second);
		if (!dpor_races_is_one_of_many_units(&steps[first].op, &steps[second].op) &&
			!dpor_races_is_nested_acquisition(&steps[first]) &&
			!dpor_races_is_interruption_of_blocked(&steps[first], &steps[second]) &&
			!dpor_races_may_wait(steps, first, &steps[second]))
			dpor_look_back_join(dpor, &look, ordered, first);
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
	while ((first = dpor_look_back_next(dpor, &look, past)) != DPOR_NONE) {
		if (steps[first].ordinal <= ordered[steps[first].op.thread] ||
			!dpor_dependent(&steps[first].op, &steps[second].op) ||
			!dpor_races_has_other_order(&steps[first], &steps[second]))
			continue;
		if (!dpor_races_is_settled_pair(&steps[first], &steps[second]) &&
			is_wanted(&steps[first].op, &steps[second].op))
			return first;
		if (!dpor_races_is_nested_acquisition(&steps[first]) &&
			!dpor_races_is_interruption_of_blocked(&steps[first], &steps[second]) &&
			!dpor_races_may_wait(steps, first, &steps[second]))
			dpor_look_back_join(dpor, &look, ordered, first);
	}
	return DPOR_NONE;
}

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

/* The pending op becomes a virtual last step of the run. */
static uint32_t dpor_races_step_left(struct dpor *dpor, uint8_t slot)
{
	const uint32_t number = dpor->depth, last = dpor->last_step[slot];
	const uint32_t *bucket = dpor_bucket(dpor, &dpor->left[slot]);

	dpor_steps(dpor)[number] = (struct dpor_step){
		.op = dpor->left[slot],
		.previous = last,
		.enabler = dpor_enabler(dpor, &dpor->left[slot]),
		.ordinal = last == DPOR_NONE ? 1 : dpor_steps(dpor)[last].ordinal + 1,
		.follows = dpor_share_follows(dpor, &dpor->left[slot]),
		.previous_in_bucket = bucket ? *bucket : DPOR_NONE,
		.wide = dpor->last_wide,
	};
	return number;
}

static uint32_t dpor_races_last_real_step(struct dpor *dpor)
{
	uint32_t step = dpor->depth;

	while (step && dpor_steps(dpor)[step - 1].is_value)
		step--;
	return step ? step - 1 : DPOR_NONE;
}

/* A thread blocked for ever has lost a race, too; an enabled one lost against the process's end. */
static void dpor_races_reverse_races_of_left(struct dpor *dpor, uint8_t slot)
{
	const uint32_t step = dpor_races_step_left(dpor, slot);
	const uint32_t end = dpor_races_last_real_step(dpor);

	(void)dpor_races_reverse_races_of(dpor, step);
	if (dpor->left_enabled >> slot & 1 && end != DPOR_NONE &&
		dpor_steps(dpor)[end].op.thread != slot) {
		struct dpor_sequence sequence = {
			.steps = dpor_scratch(dpor), .count = 1, .core = 1, .doubtful = DPOR_NONE};

		sequence.steps[0] = step;
		if (dpor_steps(dpor)[end].enabled >> slot & 1)
			(void)dpor_add_order(dpor, end, &sequence);
	}
}

/*
 * Every run must be examined for all of its races: later steps may decide whether a sleeper or a
 * branch covers the other order.
 *
 * A race is *settled* if coverage does not depend on them. Either a thread that sleeps at `first`
 * begins the core of the sequence, which is equal in all runs with the race. Alternatively, the
 * first branch that admits any sequence with this core begins the core (is_begun_there). A later
 * branch that begins the core (a source set) is not sufficient. Sleepers represent sequences before
 * which they could stand (weak initials). They rely on the fact that each such sequence has reached
 * the first such branch.
 */
void dpor_reverse_races(struct dpor *dpor)
{
	struct dpor_step *steps = dpor_steps(dpor);
	uint32_t *open = &dpor->open;

	while (*open != DPOR_NONE && !dpor->is_lost) {
		struct dpor_step *step = &steps[*open];

		if (dpor_races_reverse_races_of(dpor, *open))
			*open = step->open_before;
		else
			open = &step->open_before;
	}
	for (uint32_t i = dpor->first_new; i < dpor->depth && !dpor->is_lost; i++) {
		if (steps[i].is_value || !steps[i].has_other ||
			dpor_races_reverse_races_of(dpor, i))
			continue;
		steps[i].open_before = dpor->open;
		dpor->open = i;
	}
	for (uint8_t slot = 0; slot < dpor->slot_count && !dpor->is_lost; slot++)
		if (dpor->left_slots >> slot & 1)
			dpor_races_reverse_races_of_left(dpor, slot);
}
