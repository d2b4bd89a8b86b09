/*
 * Watchdogs of the target: an alarm, a timer, or a thread in a timed wait that ends the process in
 * failure when its time is up. Virtual time reaches such a deadline when no thread is enabled; the
 * watchdog then only reports a failure that the blocked threads cause.
 *
 * A failure is attributed to a watchdog only if:
 * - virtual time jumped because no thread was enabled, and only the thread that ends the run has
 *   moved since; and
 * - the other threads are blocked permanently: on a cycle of locks and joins, or on a lost signal.
 *   Any untimed wait counts if a signal ended the run and no thread was in a timed wait.
 *
 * Runs in the moving thread, or in a signal handler on its behalf.
 */
#include <signal.h>

#include "base/text.h"
#include "engine/engine.h"
#include "engine/engine_internal.h"

void engine_note_idle(uint64_t deadline_ns)
{
	engine.idle = (struct engine_idle_state){.step = engine.step,
		.clock_ns = engine.clock_ns,
		.has_limit = deadline_ns != ENGINE_FOREVER};
}

const struct engine_op *engine_blocked_op(const struct engine_thread *thread)
{
	if (thread->state != THREAD_ALIVE)
		return NULL;
	if (!thread->op)
		return thread->interrupted;
	return engine_wake_reason(thread) || engine_must_drain(thread, thread->op) ? NULL
										   : thread->op;
}

static bool watchdog_is_untimed(const struct engine_op *op)
{
	switch (op_descriptions[op->kind].object) {
	case OBJECT_FD:
	case OBJECT_CHILD:
		return false;
	default:
		return op->deadline_ns == ENGINE_FOREVER && !op->is_shared &&
		       op->kind != OP_SIGNAL_WAIT;
	}
}

/* Returns whether the thread has not moved since no thread was enabled. A thread in a signal
 * handler counts as not moved. */
static bool watchdog_has_not_moved(const struct engine_thread *thread)
{
	return thread->interrupted || thread->last_moved <= engine.idle.step;
}

static void watchdog_keep_blocked(struct outcome *outcome)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < outcome->wait_count; i++) {
		const struct engine_thread *thread =
			&engine.threads[outcome->waits[i].waiter.index];
		const struct engine_op *op = engine_blocked_op(thread);

		if (op && watchdog_is_untimed(op) && watchdog_has_not_moved(thread))
			outcome->waits[count++] = outcome->waits[i];
	}
	outcome->wait_count = count;
}

static bool watchdog_is_certain(const struct outcome *outcome, bool is_signal)
{
	if (is_signal && !engine.idle.has_limit)
		return true;
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		if (outcome->waits[i].is_on_cycle || outcome->waits[i].lost_signals ||
			thread_same(outcome->waits[i].holder, outcome->waits[i].waiter))
			return true;
	return false;
}

static void watchdog_add_thread(struct text *text, const struct engine_thread *thread)
{
	if (thread->id.index == 0) {
		text_add(text, "main");
		return;
	}
	watchdog_add_thread(text, &engine.threads[thread->parent.index]);
	text_add(text, ".");
	text_number(text, thread->ordinal);
}

static void watchdog_add_ending(struct text *text, const struct outcome *ending)
{
	if (ending->kind == OUTCOME_CRASH) {
		text_add(text, ending->code == SIGALRM ? "SIGALRM" : "signal ");
		if (ending->code != SIGALRM)
			text_number(text, (uint64_t)ending->code);
		return;
	}
	watchdog_add_thread(text, &engine.threads[ending->thread.index]);
	if (ending->kind == OUTCOME_ABORT) {
		text_add(text, " aborted");
	} else {
		text_add(text, " exited with status ");
		text_number(text, (uint64_t)ending->code);
	}
	if (engine.current->interrupted)
		text_add(text, " in a signal handler");
}

/* Describes the watchdog, for example: "a watchdog ended the run: main.2 aborted at 30.0 s of
 * virtual time, when no other thread could move" */
static void watchdog_describe(struct outcome *outcome, const struct outcome *ending)
{
	struct text text;

	text_init(&text, outcome->text, sizeof outcome->text);
	text_add(&text, "a watchdog ended the run: ");
	watchdog_add_ending(&text, ending);
	text_add(&text, " at ");
	text_number(&text, engine.clock_ns / 1000000000);
	text_add(&text, ".");
	text_number(&text, engine.clock_ns / 100000000 % 10);
	text_add(&text, " s of virtual time, when no other thread could move");
}

void engine_blame_blocked(struct outcome *outcome)
{
	const struct outcome ending = {.kind = outcome->kind,
		.thread = outcome->thread,
		.code = outcome->code,
		.step = outcome->step,
		.clock_ns = outcome->clock_ns};
	const bool is_signal = ending.kind == OUTCOME_CRASH || engine.current->interrupted;

	if (!engine.is_live || engine.clock_ns <= engine.idle.clock_ns ||
		engine.run.tolerated >> OUTCOME_DEADLOCK & 1)
		return;
	engine_collect_waits(outcome);
	watchdog_keep_blocked(outcome);
	if (!outcome->wait_count || !watchdog_is_certain(outcome, is_signal)) {
		outcome->wait_count = outcome->waits_left_out = 0;
		return;
	}
	engine_set_stuck(outcome);
	outcome->step = ending.step;
	outcome->clock_ns = ending.clock_ns;
	watchdog_describe(outcome, &ending);
}
