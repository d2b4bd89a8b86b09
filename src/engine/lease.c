/* Leases: accesses of the moving thread without calls of the strategy. Each access counts as a
 * step, but no op is announced and no decision is made. Every event on which a decision could
 * depend first ends the lease (engine_settle()). */
#include "engine/engine.h"
#include "engine/engine_internal.h"

/* Largest lease. The watchdog and spin points need a regular step from time to time. */
#define LEASE_MOST 4096

/* Returns whether the next decisions offer the same threads as the last one, although threads are
 * delayed (fairness.c). The moving thread has moved last, so only the other threads determine the
 * longest-delayed one. */
static bool lease_engine_offer_stays(void)
{
	const struct engine_thread *self = engine.current;
	const uint32_t count = engine.thread_count;
	uint64_t oldest;

	engine_forget_spins();
	oldest = self->last_moved;
	if (self->yielded_at || engine.view.thread_count != count)
		return false;
	bitset_each (i, engine.enabled, count) {
		if (engine.threads[i].last_moved < oldest)
			oldest = engine.threads[i].last_moved;
	}
	bitset_each (i, engine.enabled, count) {
		if (bitset_has(engine.view.enabled, i) !=
			(engine.threads[i].yielded_at <= oldest + 1))
			return false;
	}
	return true;
}

void engine_take_lease(void)
{
	const struct engine_run *run = &engine.run;
	uint64_t lease;

	if (!engine.epochs || !engine.epochs->wants_lease || engine.follows_priorities ||
		!run->strategy || !run->strategy->fast_path.lease || engine.host.performed ||
		engine.host.observe || engine.deciding || engine.attention ||
		engine.loop.is_watched || engine.awaiting_count || engine.step >= engine.due_step ||
		(engine.yielder_count && !lease_engine_offer_stays()))
		return;
	lease = run->strategy->fast_path.lease(
		run->strategy_state, &engine.view, engine.epochs->is_focused);
	if (lease > LEASE_MOST)
		lease = LEASE_MOST;
	/* At due_step deadlines expire and periods end (clock.c), so that step must be a regular
	 * one. */
	if (lease > engine.due_step - engine.step)
		lease = engine.due_step - engine.step;
	if (engine.step + lease >= run->step_limit)
		return;
	engine.epochs->lease = engine.lease_given = (int64_t)lease;
}

void engine_settle_lease(void)
{
	const struct engine_run *run = &engine.run;
	const uint64_t used = engine_lease_used();

	engine.lease_given = engine.epochs->lease = 0;
	if (!used)
		return;
	run->strategy->fast_path.end_lease(run->strategy_state, &engine.view, used);
	if (run->recording)
		schedule_add_steps(run->recording, engine.current->id, 0, (uint32_t)used);
	engine.step += used;
	engine_note_accesses(engine.current, used);
	engine.current->last_moved = engine.step;
	if (run->heartbeat)
		*run->heartbeat = engine.step - 1;
}

void engine_end_lease(void)
{
	const int64_t left =
		engine.lease_given && engine.epochs->lease > 0 ? engine.epochs->lease : 0;

	if (!left)
		return;
	engine.lease_given -= left;
	engine.epochs->lease = 0;
}
