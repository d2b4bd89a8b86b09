/*
 * Strategy `pos`: partial order sampling.
 *
 * Yuan, Yang, Gu, "Partial Order Aware Concurrency Sampling", CAV 2018, section 3. Every pending op
 * has a random priority, and the enabled op with the highest priority is performed. Ops that raced
 * with it get a new priority: the result of one race does not affect the next.
 *
 * Deviation: the paper's race is between enabled events on one object, one of them a write; here
 * op_dependent() decides for every kind of object. A thread that is blocked on a lock keeps the
 * priority of its op, which was not compared since it was drawn.
 */
#include "base/rng.h"
#include "strategies/priority_table.h"
#include "strategies/strategy.h"

struct pos {
	struct rng rng;
	struct priority_table priorities;
};

static void pos_begin_run(void *state, uint64_t seed)
{
	struct pos *pos = state;

	rng_seed(&pos->rng, seed);
	priority_table_begin_run(&pos->priorities);
}

static inline void pos_draw(struct pos *pos, uint32_t thread)
{
	/* priority_table_raise() requires a priority above 0 */
	priority_table_raise(&pos->priorities, thread, rng_next(&pos->rng) | 1);
}

static inline void pos_add_threads(struct pos *pos, const struct schedule_view *view)
{
	while (pos->priorities.known < view->thread_count)
		pos_draw(pos, pos->priorities.known++);
}

static struct thread_id pos_choose(void *state, const struct schedule_view *view)
{
	struct pos *pos = state;

	pos_add_threads(pos, view);
	if (view->enabled_count == 1)
		return (struct thread_id){(uint16_t)view_next_enabled(view, 0)};
	return (struct thread_id){(uint16_t)priority_table_first(&pos->priorities, view)};
}

static void pos_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct pos *pos = state;
	const struct pending_op op = view->pending[thread.index];
	const uint32_t word_count = BITSET_WORDS(view->thread_count);

	pos_add_threads(pos, view);
	for (uint32_t word = 0; op.object && word < word_count; word++) {
		for (uint64_t rest = view->enabled[word]; rest; rest &= rest - 1) {
			const uint32_t other = word * 64 + (uint32_t)__builtin_ctzll(rest);

			if (op_dependent(&op, &view->pending[other]))
				pos_draw(pos, other);
		}
	}
	pos_draw(pos, thread.index);
}

const struct strategy strategy_pos = {
	.name = "pos",
	.summary =
		"random priority per pending op, drawn again for ops that conflict with the chosen one: samples partial orders evenly",
	.state_bytes = sizeof(struct pos),
	.begin_run = pos_begin_run,
	.choose = pos_choose,
	.executed = pos_executed,
};
