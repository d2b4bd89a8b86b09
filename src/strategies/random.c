/* Strategy `random`: each enabled thread is equally likely. The control of the other strategies. */
#include "base/rng.h"
#include "strategies/strategy.h"

struct random_walk {
	struct rng rng;
};

static void random_begin_run(void *state, uint64_t seed)
{
	struct random_walk *walk = state;

	rng_seed(&walk->rng, seed);
}

static struct thread_id random_choose(void *state, const struct schedule_view *view)
{
	struct random_walk *walk = state;
	uint32_t rank = 0;

	if (view->enabled_count > 1)
		rank = rng_below(&walk->rng, view->enabled_count);
	return (struct thread_id){(uint16_t)bitset_select(view->enabled, rank)};
}

const struct strategy strategy_random = {
	.name = "random",
	.summary = "every enabled thread is equally likely at every scheduling point",
	.state_bytes = sizeof(struct random_walk),
	.begin_run = random_begin_run,
	.choose = random_choose,
};
