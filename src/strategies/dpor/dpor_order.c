/* Happens-before in a run of dpor: clocks of steps, and iteration over earlier dependent steps. */
#include "strategies/dpor/dpor_order.h"

void dpor_widen(struct dpor *dpor)
{
	const uint32_t from = dpor->width;

	dpor->width += DPOR_LANES;
	for (uint32_t step = 0; step < dpor->step_count; step++)
		dpor_clear_lanes(dpor_clock(dpor, step) + from);
}

static bool dpor_order_is_aimed_at_one(const struct dpor_op *op)
{
	return op->second && dpor_is_aimed_at_threads(op);
}

void dpor_enlist(struct dpor *dpor, uint32_t step)
{
	struct dpor_step *self = &dpor_steps(dpor)[step];
	uint32_t *bucket = dpor_bucket(dpor, &self->op);

	self->previous_in_bucket = DPOR_NONE;
	self->wide = dpor->last_wide;
	if (!bucket)
		return;
	self->previous_in_bucket = *bucket;
	*bucket = step;
	if (dpor_is_wide(&self->op))
		dpor->last_wide = step;
	dpor->aimed_count += dpor_order_is_aimed_at_one(&self->op);
}

void dpor_strike(struct dpor *dpor, uint32_t step)
{
	const struct dpor_step *self = &dpor_steps(dpor)[step];
	uint32_t *bucket = dpor_bucket(dpor, &self->op);

	if (!bucket)
		return;
	*bucket = self->previous_in_bucket;
	if (dpor_is_wide(&self->op))
		dpor->last_wide = self->wide;
	dpor->aimed_count -= dpor_order_is_aimed_at_one(&self->op);
}

void dpor_look_back_begin(struct dpor *dpor, struct dpor_look_back *look, uint32_t step)
{
	const struct dpor_step *self = &dpor_steps(dpor)[step];

	*look = (struct dpor_look_back){.op = &self->op,
		.previous_in_bucket = self->previous_in_bucket,
		.wide = self->wide,
		.all_below = dpor_is_wide(&self->op) ? step : DPOR_NONE};
}

static uint32_t dpor_order_look_back_pass(struct dpor *dpor, struct dpor_look_back *look)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint32_t at;

	if (look->all_below != DPOR_NONE)
		return look->all_below ? --look->all_below : DPOR_NONE;
	if (look->previous_in_bucket == DPOR_NONE && look->wide == DPOR_NONE)
		return DPOR_NONE;
	at = look->wide == DPOR_NONE || (look->previous_in_bucket != DPOR_NONE &&
						look->previous_in_bucket > look->wide)
		     ? look->previous_in_bucket
		     : look->wide;
	if (look->previous_in_bucket == at)
		look->previous_in_bucket = steps[at].previous_in_bucket;
	if (look->wide == at)
		look->wide = steps[at].wide;
	return at;
}

/* Returns whether every op depends on both ops or on none. */
static bool dpor_order_look_back_is_equal(const struct dpor_op *a, const struct dpor_op *b)
{
	return a->object == b->object && a->kind == b->kind && a->flags == b->flags &&
	       a->second == b->second && a->untouched == b->untouched;
}

/* Returns whether each earlier op that depends on `later` depends on `op`, too, except ops that are aimed at the
 * thread of `later`. Both ops are plain and have one object, and `op` changes all bytes of it that `later` touches. */
static bool dpor_order_look_back_ends_at(const struct dpor_op *op, const struct dpor_op *later)
{
	return op->object == later->object && op->is_plain && later->is_plain &&
	       !(op->flags & OP_READ) && !op->buffer && !(op->untouched & ~later->untouched) &&
	       !(later->flags & ~op->flags & OP_SEQUENTIAL);
}

/* Ends the iteration, except for ops that are aimed at one thread. */
static void dpor_order_end_look_back(const struct dpor *dpor, struct dpor_look_back *look)
{
	look->previous_in_bucket = look->all_below = DPOR_NONE;
	if (!dpor->aimed_count)
		look->wide = DPOR_NONE;
}

uint32_t dpor_look_back_next(struct dpor *dpor, struct dpor_look_back *look, const uint32_t *past)
{
	uint32_t at;

	while ((at = dpor_order_look_back_pass(dpor, look)) != DPOR_NONE) {
		const struct dpor_step *step = &dpor_steps(dpor)[at];

		if (step->is_value)
			continue;
		if (step->op.thread != look->op->thread && step->ordinal > past[step->op.thread])
			return at;
		if (step->op.thread == look->op->thread &&
			dpor_order_look_back_is_equal(&step->op, look->op))
			return DPOR_NONE;
		if (dpor_order_look_back_ends_at(&step->op, look->op))
			dpor_order_end_look_back(dpor, look);
	}
	return DPOR_NONE;
}

void dpor_look_back_join(
	struct dpor *dpor, struct dpor_look_back *look, uint32_t *clock, uint32_t step)
{
	dpor_clock_join(dpor, clock, dpor_clock(dpor, step));
	if (dpor_order_look_back_ends_at(&dpor_steps(dpor)[step].op, look->op))
		dpor_order_end_look_back(dpor, look);
}

/* Returns dpor_step.nesting. A failed try counts as an acquisition, which only costs runs. */
static uint8_t dpor_order_nesting(struct dpor *dpor, uint32_t step)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	const struct dpor_step *self = &steps[step];
	const struct dpor_step *previous =
		self->previous == DPOR_NONE ? NULL : &steps[self->previous];
	const enum object_class class = dpor_class_of(&self->op);
	uint32_t at = self->previous_in_bucket;
	uint8_t before;

	if (class != OBJECT_MUTEX && class != OBJECT_RWLOCK && class != OBJECT_FILE)
		return 0;
	while (at != DPOR_NONE &&
		(steps[at].op.thread != self->op.thread || steps[at].op.object != self->op.object))
		at = steps[at].previous_in_bucket;
	before = at == DPOR_NONE ? 0 : steps[at].nesting;
	if (self->op.flags & OP_RELEASE)
		return before && class != OBJECT_FILE ? before - 1 : 0;
	if (!(self->op.flags & OP_ACQUIRE) || before == UINT8_MAX)
		return before;
	/* The wait on a condition variable has released the mutex, which this step takes again. */
	if (previous && (previous->op.kind == OP_COND_WAIT || previous->op.kind == OP_COND_WAKE))
		return before;
	return before + 1;
}

/*
 * A thread leaves a barrier, or reads a lock for which a writer waits, after the step that made it enabled: the last one before
 * which it was disabled. Where both ops are enabled they are independent, so dpor_dependent() does not order them.
 */
static void dpor_order_join_opening_step(struct dpor *dpor, uint32_t step, uint32_t *clock)
{
	const struct dpor_step *steps = dpor_steps(dpor), *self = &steps[step];

	if (self->op.kind != OP_BARRIER_LEAVE && self->op.kind != OP_RWLOCK_RDLOCK)
		return;
	/* The first step of each thread is its begin, so this thread has a previous step. */
	for (uint32_t at = self->previous_in_bucket; at != DPOR_NONE && at > self->previous;
		at = steps[at].previous_in_bucket)
		if (steps[at].op.object == self->op.object &&
			!(steps[at].enabled >> self->op.thread & 1)) {
			dpor_clock_join(dpor, clock, dpor_clock(dpor, at));
			return;
		}
}

void dpor_note_step(struct dpor *dpor, uint32_t step)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	struct dpor_step *self = &dpor_steps(dpor)[step];
	const uint32_t *past = dpor_own_past(dpor, step);
	uint32_t *clock = dpor_clock(dpor, step);
	struct dpor_look_back look;
	uint32_t other;

	dpor_clock_copy(dpor, clock, past);
	clock[self->op.thread] = self->ordinal;
	self->has_other = false;
	self->nesting = dpor_order_nesting(dpor, step);
	dpor_look_back_begin(dpor, &look, step);
	while ((other = dpor_look_back_next(dpor, &look, past)) != DPOR_NONE) {
		if (steps[other].ordinal <= clock[steps[other].op.thread] ||
			!dpor_dependent(&steps[other].op, &self->op))
			continue;
		dpor_look_back_join(dpor, &look, clock, other);
		self->has_other = true;
	}
	dpor_order_join_opening_step(dpor, step, clock);
}
