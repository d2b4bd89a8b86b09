/*
 * Strategy `round_robin`: the schedule without preemptions, a control and a cheap first run. When
 * the current thread is not enabled, the next enabled thread by index runs, cyclically.
 */
#include "strategies/strategy.h"

static size_t round_robin_state_bytes(const struct strategy_config *config)
{
	(void)config; /* the strategy has no options */
	return sizeof(
		/* the strategy needs no state, but a block of 0 bytes is not permitted */
		uint64_t);
}

static void round_robin_begin_run(void *state, uint64_t seed)
{
	(void)state;
	(void)seed; /* the strategy makes no random choices */
}

static struct thread_id round_robin_choose(void *state, const struct schedule_view *view)
{
	const uint32_t current = view->current.index;
	uint32_t next;

	(void)state;
	if (current >= view->thread_count)
		return view_default(view);
	next = view_next_enabled(view, current);
	if (next == view->thread_count)
		next = view_next_enabled(view, 0);
	return (struct thread_id){(uint16_t)next};
}

const struct strategy strategy_round_robin = {
	.name = "round_robin",
	.summary = "no preemptions: a thread runs until it blocks, then the next one runs",
	.state_bytes = round_robin_state_bytes,
	.begin_run = round_robin_begin_run,
	.choose = round_robin_choose,
};
