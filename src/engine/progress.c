/*
 * The end of a run at the limit of steps. A long computation and a livelock both reach the limit.
 * A run is a livelock only if its threads did nothing but wait during the second half of its steps.
 * Signs of progress are:
 *
 * - an op that changes shared state, except for locks;
 * - a critical section in which no try to lock another object fails;
 * - PROGRESS_OPS ops of a thread in a row, without a yield, a failed try or a read that spins.
 *
 * Each sign may also belong to a livelock. Such a run counts as unfinished: a false livelock would
 * be worse. Ops before the second half cost one comparison.
 *
 * A run that sleeps for SLEPT_NS in the second half is a livelock in spite of such signs: a loop that
 * counts its sleeps changes shared state, and no test waits that long for it.
 */
#include "engine/engine.h"
#include "engine/engine_internal.h"

#define PROGRESS_OPS 64
#define SLEPT_NS (UINT64_C(600) * 1000000000)

/* Returns whether the op may be part of a waiting loop. The result of a try is not known yet. */
static bool progress_is_neutral(const struct engine_op *op)
{
	switch (op->kind) {
	case OP_THREAD_TRYJOIN:
	case OP_TEST_CANCEL:
	case OP_SEM_TRYWAIT:
	case OP_COND_WAIT:
	case OP_FUTEX_BLOCK:
	case OP_SLEEP:
	case OP_FD_POLL:
	case OP_FENCE:
	case OP_AFTER_ENABLE:
	case OP_BEFORE_WAIT:
		return true;
	default:
		return op_descriptions[op->kind].flags & (OP_READ | OP_ACQUIRE | OP_PAUSE);
	}
}

/* Returns the time for which no thread was enabled, and that of the steps. */
static uint64_t progress_slept_ns(void)
{
	return engine_clock_ns() - engine_clock_accelerated_ns();
}

void engine_note_accesses(struct engine_thread *self, uint64_t count)
{
	if (engine.step < engine.run.step_limit / 2)
		return;
	if (!engine.half_ns)
		engine.half_ns = progress_slept_ns();
	if (self->ops_since_wait + count < PROGRESS_OPS)
		self->ops_since_wait += (uint8_t)count;
	else
		engine.has_progressed = true;
}

void engine_note_progress(struct engine_thread *self, const struct engine_op *op)
{
	const uint8_t flags = op_descriptions[op->kind].flags;

	if (flags & OP_PAUSE || op->is_timeout_only)
		engine_note_waiting(self);
	else
		engine_note_accesses(self, 1);
	if (flags & OP_ACQUIRE && !self->held_count)
		self->has_failed_try = false;
	if (flags & OP_RELEASE ? !self->has_failed_try : !progress_is_neutral(op))
		engine.has_progressed = true;
}

void engine_note_failed_try(struct engine_thread *self)
{
	self->has_failed_try = true;
	engine_note_waiting(self);
}

void engine_note_waiting(struct engine_thread *self)
{
	self->ops_since_wait = 0;
}

void engine_end_at_limit(uint64_t site)
{
	const bool has_slept = engine.half_ns && progress_slept_ns() - engine.half_ns >= SLEPT_NS;

	engine_fail(engine.has_progressed && !has_slept ? OUTCOME_STEP_LIMIT : OUTCOME_LIVELOCK,
		NULL, site);
}
