/*
 * Leases: accesses to memory that a strategy leaves to the moving thread without being asked at each. They are steps
 * like all others, but nothing is announced and nobody decides. While there is a lease nothing changes that
 * a decision could depend on: whatever else happens ends it first (engine_settle()). Runs in the moving thread.
 */
#include "engine/engine.h"
#include "engine/engine_internal.h"

/*
 * Further ones are asked for anew: who watches from outside for progress, or waits for a turn, sees a step of the
 * usual kind every so often.
 */
#define LEASE_MOST 4096

void engine_take_lease(void)
{
	const struct engine_run *run = &engine.run;
	uint64_t lease;

	if (!engine.episodes || !engine.episodes->wants_lease || !run->strategy ||
		!run->strategy->lease || engine.host.performed || engine.host.observe ||
		engine.deciding || engine.yielder_count || engine.attention)
		return;
	lease = run->strategy->lease(
		run->strategy_state, &engine.view, engine.episodes->is_focused);
	if (lease > LEASE_MOST)
		lease = LEASE_MOST;
	if (engine.step + lease >= run->step_limit)
		return;
	engine.episodes->lease = engine.lease_given = (int64_t)lease;
}

void engine_settle(void)
{
	const struct engine_run *run = &engine.run;
	const uint64_t used = engine_lease_used();

	if (!engine.lease_given)
		return;
	engine.lease_given = engine.episodes->lease = 0;
	if (!used)
		return;
	run->strategy->went_on(run->strategy_state, &engine.view, used);
	if (run->recording)
		schedule_add_more(run->recording, engine.current->id, (uint32_t)used);
	engine.step += used;
	engine.current->last_moved = engine.step;
	engine.clock_reads = 0;
	if (run->heartbeat)
		*run->heartbeat = engine.step - 1;
}

void engine_end_lease(void)
{
	const int64_t left =
		engine.lease_given && engine.episodes->lease > 0 ? engine.episodes->lease : 0;

	if (!left)
		return;
	engine.lease_given -= left;
	engine.episodes->lease = 0;
}
