/* The scheduling point. engine_decide() makes every decision; engine_transfer_to() blocks the
 * calling thread. Runs in the target's moving thread. */
#include "engine/engine.h"

#include "base/bug.h"
#include "base/hash.h"
#include "base/hot_state.h"
#include "engine/c11.h"
#include "engine/engine_internal.h"

HOT_STATE struct engine engine;

static inline void engine_take_signals(void)
{
	if (__builtin_expect(engine.attention, 0) && engine.host.route_signals) {
		engine.attention = 0;
		engine.host.route_signals();
	}
}

/* Another process that ends a wait may have sent a signal before. Its handler runs before the wait
 * returns. */
static inline void engine_take_earlier_signals(const struct engine_op *op)
{
	const uint8_t class = op_descriptions[op->kind].object;

	if (__builtin_expect(engine.attention, 0) &&
		(op->is_shared || class == OBJECT_FD || class == OBJECT_CHILD))
		engine_take_signals();
}

static void engine_wait_for_enabled(void)
{
	bool is_idle = false;

	do {
		engine_take_signals();
		if (engine.enabled_count)
			break;
		engine.idle_periods += !is_idle;
		is_idle = true;
		engine_clock_idle();
	} while (!engine.enabled_count);
}

static void engine_account(struct engine_thread *next, bool is_stalled)
{
	const struct engine_run *run = &engine.run;
	const struct engine_thread *self = engine.current;
	unsigned flags = is_stalled ? SEGMENT_STALLS : 0;

	if (next != self && bitset_has(engine.view.enabled, self->id.index) &&
		engine_wake_reason(self))
		flags |= SEGMENT_PREEMPTS;
	if (run->strategy->executed)
		run->strategy->executed(run->strategy_state, &engine.view, next->id);
	next->steps++;
	if (run->recording)
		schedule_add_steps(run->recording, next->id, flags, 1);
	engine_note_step(next, next->op);
	if (run->heartbeat)
		*run->heartbeat = engine.step;
}

static struct engine_thread *engine_release(struct engine_thread *next)
{
	next->last_moved = engine.step;
	if (next->yielded_at) {
		next->yielded_at = 0;
		engine.yielder_count--;
	}
	if (__builtin_expect(next->slice, 0))
		engine_use_slice(next);
	return next;
}

static struct engine_thread *engine_choose(void)
{
	struct engine_thread *next;

	engine_evaluate_changed();
	if (__builtin_expect(!engine.enabled_count || engine.attention, 0))
		engine_wait_for_enabled();
	if (__builtin_expect(engine.step >= engine.due_step, 0))
		engine_clock_pass();
	engine_offer();
	if (__builtin_expect(engine.run.stall_ns && engine.run.strategy, 0))
		engine_offer_stalls();
	engine.has_woken = false;
	engine_update_view();
	if (engine.run.strategy) {
		struct thread_id chosen;
		bool is_stalled;

		if (engine.deciding)
			engine.deciding(&engine.view);
		chosen = engine.run.strategy->choose(engine.run.strategy_state, &engine.view);

		BUG_ON(chosen.index >= engine.thread_count ||
			(!bitset_has(engine.view.enabled, chosen.index) &&
				!view_may_stall(&engine.view, chosen.index)));
		next = &engine.threads[chosen.index];
		/* the thread leaves the spin point without a step: see engine_spin_point() */
		if (engine.pending[chosen.index].kind == OP_SPIN)
			return engine_release(next);
		is_stalled = !engine_wake_reason(next);
		engine_account(next, is_stalled);
		if (__builtin_expect(is_stalled, 0))
			engine_stall(next);
	} else {
		next = &engine.threads[view_default(&engine.view).index];
	}
	engine.step++;
	if (__builtin_expect(engine.step >= engine.run.step_limit, 0))
		engine_end_at_limit(next->op->site);
	return engine_release(next);
}

/* Chooses the next thread to move. The caller has announced its op, or has ended. */
static struct engine_thread *engine_decide(void)
{
	struct engine_thread *next;

	while ((next = engine_choose())->state == THREAD_DRAINER)
		engine_drain(next);
	return next;
}

/* Records the order of two conflicting ops: `next` performs its own while `self` could, too. */
static void engine_cover(const struct engine_thread *self, const struct engine_thread *next)
{
	const struct pending_op *later = &engine.pending[self->id.index];
	const struct pending_op *first = &engine.pending[next->id.index];
	const bool is_swapped = later->site < first->site;
	uint64_t pair;

	if (!view_is_enabled(&engine.view, self->id.index) || !op_dependent(later, first) ||
		later->site == first->site)
		return;
	pair = is_swapped ? hash_pair(later->site, first->site)
			  : hash_pair(first->site, later->site);
	bitset_add(engine.run.covered,
		((uint32_t)pair * 2 + is_swapped) & (engine.run.covered_words * 64 - 1));
}

static void engine_transfer_to(struct engine_thread *next)
{
	struct engine_thread *self = engine.current;

	if (next == self)
		return;
	if (engine.run.covered)
		engine_cover(self, next);
	engine_begin_slice();
	engine_exchange_views(self, next);
	engine.current = next;
	engine.host.executor->transfer(self, next);
}

void engine_leave_processor(void)
{
	struct engine_thread *self = engine.current;
	struct engine_thread *next;

	engine_settle();
	next = engine_decide();
	engine_begin_slice();
	engine_exchange_views(self, next);
	engine.current = next;
	engine.host.executor->finish(self, next);
}

/* The part of engine_conclude() for waits that a time limit, a signal or another event may have ended, and not
 * only that the op became ready. */
static enum engine_result engine_conclude_early(
	struct engine_thread *self, const struct engine_op *op, uint8_t reason, bool *again)
{
	if (reason & WAKE_CANCEL) {
		/* the cancelling thread happens-before this */
		engine_note(OP_TEST_CANCEL, self, op->site);
		if (!(op->interruptions & INTERRUPT_CANCEL) && engine.host.cancel_now)
			engine.host.cancel_now();
		return WAIT_CANCELLED;
	}
	if (reason & WAKE_SIGNAL) {
		const struct engine_op *outer = self->interrupted;
		bool has_run;

		self->interrupted = op;
		has_run = engine.host.deliver_signals && engine.host.deliver_signals(self);
		self->interrupted = outer;
		if (has_run && (!(reason & WAKE_READY) || op->is_guess) &&
			op->interruptions & INTERRUPT_SIGNAL)
			return WAIT_INTERRUPTED;
		*again = true;
		return WAIT_DONE;
	}
	if (reason & WAKE_READY)
		return WAIT_DONE;
	self->has_timed_out = !op->is_timeout_only;
	return WAIT_TIMED_OUT;
}

/* Returns the result of an op whose wait has ended; `reason` says why it ended. If *again is set, there is
 * no result yet: the thread must wait again, so the caller announces the op once more. */
static inline enum engine_result engine_conclude(
	struct engine_thread *self, const struct engine_op *op, uint8_t reason, bool *again)
{
	*again = false;
	return __builtin_expect(reason == WAKE_READY, 1)
		       ? WAIT_DONE
		       : engine_conclude_early(self, op, reason, again);
}

/* Performs an op while only one thread exists: before the first thread creation, and in a forked
 * child. There is no choice, and nothing is recorded. */
static enum engine_result engine_perform_alone(struct engine_op *op)
{
	struct engine_thread *self = engine.current;

	for (;;) {
		bool again;
		uint8_t reason;
		enum engine_result result;

		engine_announce(self, op);
		engine_wait_for_enabled();
		reason = engine_wake_reason(self);
		engine_withdraw(self);
		result = engine_conclude(self, op, reason, &again);
		if (!again)
			return result;
	}
}

/* Returns whether the wait has already expired. In a polling loop, such a wait must not delay the
 * thread that it waits for. */
static bool engine_waits_for_no_time(const struct engine_op *op, const struct engine_thread *self)
{
	return op->deadline_ns <= engine.clock_ns &&
	       (op->is_timeout_only || (op->ready && !op->ready(op, self)));
}

/* Fast path: the strategy continues with the moving thread, whose op is ready. The step equals
 * one through engine_decide(), but nothing is announced and no other thread is evaluated. */
static bool engine_keeps_current(struct engine_thread *self, const struct engine_op *op)
{
	const struct engine_run *run = &engine.run;

	if (!run->strategy || !run->strategy->fast_path.keeps_current || engine.deciding ||
		engine.attention || self->yielded_at || engine.follows_priorities ||
		engine.awaiting_count || self->signals_pending || self->is_cancel_requested ||
		op->deadline_ns != ENGINE_FOREVER || op->is_timeout_only ||
		op_descriptions[op->kind].flags & OP_PAUSE || engine.step >= engine.due_step ||
		engine.step + 1 >= run->step_limit || (op->ready && !op->ready(op, self)) ||
		engine_must_drain(self, op))
		return false;
	engine_update_view();
	if (!run->strategy->fast_path.keeps_current(run->strategy_state, &engine.view))
		return false;
	/* Names depend on the order of announcements: assign them as engine_announce() does. */
	if (!op->object && op->address)
		(void)engine_object_name(op->address);
	if (op->kind == OP_COND_WAIT)
		(void)engine_object_name((const void *)(uintptr_t)op->argument);
	if (run->recording)
		schedule_add_steps(run->recording, self->id, 0, 1);
	self->steps++;
	engine_note_step(self, op);
	if (run->heartbeat)
		*run->heartbeat = engine.step;
	engine.has_woken = false;
	self->last_moved = ++engine.step;
	return true;
}

/* The op has ended with this result: updates the memory model, and tells those that watch ops. */
static inline void engine_report_end(
	struct engine_thread *self, struct engine_op *op, enum engine_result result)
{
	if (__builtin_expect(engine.run.memory_model == MEMORY_MODEL_C11, 0))
		c11_synchronise(op);
	if (__builtin_expect(result != WAIT_DONE, 0) && engine.host.observe_result)
		engine.host.observe_result(self, op, result);
	if (__builtin_expect(engine.watches_uses, 0) && result == WAIT_DONE)
		engine_report_use(op);
	if (__builtin_expect(engine.host.performed != NULL, 0))
		engine_report_performed(self, op, result);
}

enum engine_result engine_perform(struct engine_op *op)
{
	/* Both are tail calls: below the caller's frame lies no frame with values of earlier calls. */
	return __builtin_expect(engine.loop.is_watched, 0) ? engine_perform_watched(op)
							   : engine_perform_now(op);
}

enum engine_result engine_perform_now(struct engine_op *op)
{
	struct engine_thread *self = engine.current;

	if (!engine.is_live) {
		if (!op->ready && op->deadline_ns == ENGINE_FOREVER && !engine.attention &&
			!self->signals_pending && !self->is_cancel_requested)
			return WAIT_DONE;
		return engine_perform_alone(op);
	}
	engine_settle();
	if (__builtin_expect(engine.run.memory_model == MEMORY_MODEL_C11, 0))
		c11_settle();
	engine_note_op(self, op);
	if (__builtin_expect(engine.step >= engine.run.step_limit / 2, 0))
		engine_note_progress(self, op);
	if (engine_keeps_current(self, op)) {
		engine_report_end(self, op, WAIT_DONE);
		return WAIT_DONE;
	}
	for (;;) {
		bool again;
		uint8_t reason;
		enum engine_result result;

		if (engine_waits_for_no_time(op, self)) {
			engine_delay(self);
			engine_clock_note_poll();
		} else if (op->kind == OP_SPIN) {
			engine_delay_spinner(self);
		} else if (op_descriptions[op->kind].flags & OP_PAUSE) {
			engine_delay_yielder(self);
		}
		/* Freed memory may look like a held lock, on which the wait would never end. */
		if (__builtin_expect(engine.watches_uses, 0) && op->ready && !op->ready(op, self))
			engine_report_use(op);
		engine_announce(self, op);
		if (!engine_wake_reason(self))
			self->free_yields_made = 0;
		engine_transfer_to(engine_decide());
		engine_take_earlier_signals(op);
		reason = engine_wake_reason(self);
		engine_withdraw(self);
		result = engine_conclude(self, op, reason, &again);
		if (again)
			continue;
		engine_report_end(self, op, result);
		if (op->kind == OP_LOAD || op->kind == OP_STORE)
			engine_take_lease();
		return result;
	}
}
