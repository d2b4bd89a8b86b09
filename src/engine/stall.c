/*
 * Stalls (model/stall.h): in a run with stalls, the strategy may choose a thread in a timed wait
 * although other threads are enabled. Virtual time then jumps to the end of the wait, and the
 * enabled threads count as stalled. Whether a wait may end so depends on its length at its
 * beginning, hence only on the steps made.
 */
#include "base/bug.h"
#include "engine/engine.h"
#include "engine/engine_internal.h"

/* A thread that polls with short sleeps would otherwise make thousands of steps alone. */
#define STALLS_PER_RUN 16

static uint64_t stall_longest_ns(void)
{
	if (engine.run.stall_ns == STALL_ANY)
		return ENGINE_FOREVER;
	return engine.stall_count < STALLS_PER_RUN ? engine.run.stall_ns - engine.stalled_ns : 0;
}

static bool stall_may_end(const struct engine_thread *thread, uint64_t longest_ns)
{
	return thread->op && thread->op->deadline_ns != ENGINE_FOREVER &&
	       thread->op->deadline_ns > engine.clock_ns && !engine_wake_reason(thread) &&
	       !engine_must_drain(thread, thread->op) && thread->wait_ns <= longest_ns;
}

void engine_offer_stalls(void)
{
	const uint64_t longest_ns = stall_longest_ns();
	const bool is_separate = engine.run.strategy->follows_stalls;
	uint64_t *offered = is_separate ? engine.stallable : engine.offered;

	engine.view.stallable = NULL;
	if (engine.earliest_deadline == ENGINE_FOREVER || !longest_ns || engine.follows_priorities)
		return;
	for (uint32_t word = 0; word < BITSET_WORDS(engine.thread_count); word++)
		offered[word] = is_separate ? 0 : engine.view.enabled[word];
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		if (!stall_may_end(&engine.threads[i], longest_ns))
			continue;
		bitset_add(offered, i);
		engine.view.enabled_count += !is_separate;
	}
	if (is_separate)
		engine.view.stallable = offered;
	else
		engine.view.enabled = offered;
}

static void stall_record(const struct engine_thread *waiter, uint64_t duration_ns)
{
	struct stalls *stalls = engine.run.stalls;
	struct stall *stall;

	if (!stalls)
		return;
	stalls->total_ns += duration_ns;
	stalls->thread_count += bitset_count(engine.enabled, BITSET_WORDS(engine.thread_count));
	if (stalls->count++ >= STALLS_MOST)
		return;
	stall = &stalls->items[stalls->count - 1];
	*stall = (struct stall){.waiter = waiter->id,
		.op = waiter->op->kind,
		.site = waiter->op->site,
		.duration_ns = duration_ns};
	bitset_each (i, engine.enabled, engine.thread_count) {
		const struct engine_thread *thread = &engine.threads[i];

		if (stall->thread_count == STALL_THREADS_MOST)
			break;
		stall->threads[stall->thread_count++] =
			(struct stalled_thread){.thread = thread->id,
				.op = thread->op->kind,
				.site = thread->op->site,
				.last_moved = thread->last_moved};
	}
}

void engine_stall(struct engine_thread *waiter)
{
	const uint64_t deadline_ns = waiter->op->deadline_ns;
	const uint64_t now_ns = engine.clock_ns;

	BUG_ON(deadline_ns <= now_ns);
	stall_record(waiter, deadline_ns - now_ns);
	engine.stall_count++;
	if (engine.run.stall_ns != STALL_ANY)
		engine.stalled_ns += waiter->wait_ns;
	engine_clock_advance_to(deadline_ns);
	engine.timer_ns = 0; /* a timer may be due */
	engine_clock_pass();
}
