/*
 * Strategy `portfolio`: a plan of random strategies, beside an exhaustive search
 * (docs/decisions/0022-portfolio.md). The plan depends on the number of the run and on what the
 * first runs show: the size of the program, and whether `uniform` can follow it.
 *
 * No single strategy is best for every bug. `uniform` needs the fewest schedules for most bugs, so it
 * makes 15 of 16 early planned runs and half of the later ones. The other arms share the rest in
 * rotation. Three of the first runs are the same for every seed: the threads in step, without
 * preemptions, and the newest thread first. bench/first-failure measures the arms and the mix.
 *
 * `dpor` makes the first runs of a round, and the plan the other runs. Each run of dpor follows
 * from the last one: one worker makes all of them. Its share is larger if the program has few orders.
 *
 * Early runs are few, so they teach more than their own arm: `uniform`, `surw` and `rff` learn from
 * all of them, and `dpor` learns the contended objects from the first two instead of its own
 * learning runs.
 */
#include "strategies/portfolio.h"

#include <string.h>

#include "base/hash.h"
#include "strategies/portfolio_internal.h"

#define STATE_ALIGNMENT 64u

static struct strategy_config portfolio_arm_config(
	const struct strategy_config *config, uint32_t arm)
{
	struct strategy_config own = {.thread_capacity = config ? config->thread_capacity : 0};
	const struct strategy_option *options = portfolio_arms[arm].strategy->options;

	for (uint32_t i = 0; options && options[i].name; i++)
		own.option[i] = options[i].standard;
	if (portfolio_arms[arm].option)
		own.option[0] = portfolio_arms[arm].option;
	if (portfolio_arms[arm].second)
		own.option[1] = portfolio_arms[arm].second;
	return own;
}

static size_t portfolio_layout(const struct strategy_config *config, uint64_t *offsets)
{
	size_t bytes = sizeof(struct portfolio);

	for (uint32_t i = 0; i <= START; i++) {
		const uint32_t arm = i == START ? ARM_SEARCH : i;
		const struct strategy_config own = portfolio_arm_config(config, arm);

		bytes = (bytes + STATE_ALIGNMENT - 1) / STATE_ALIGNMENT * STATE_ALIGNMENT;
		if (offsets)
			offsets[i] = bytes;
		bytes += strategy_state_bytes(portfolio_arms[arm].strategy, &own);
	}
	return bytes;
}

static size_t portfolio_state_bytes(const struct strategy_config *config)
{
	return portfolio_layout(config, NULL);
}

static void portfolio_begin_campaign(void *state, const struct strategy_config *config)
{
	struct portfolio *portfolio = state;

	(void)portfolio_layout(config, portfolio->arm_offset); /* only the offsets are used */
	portfolio->is_even = config->option[0];
	portfolio->is_observed = !portfolio->is_even;
	/* Shards would all make the same search. */
	portfolio->search.is_possible = !portfolio->is_even && config->shards <= 1;
	portfolio->search.is_observing = portfolio->search.is_possible;
	for (uint32_t i = 0; i < ARM_COUNT; i++) {
		const struct strategy_config own = portfolio_arm_config(config, i);

		strategy_begin_campaign(
			portfolio_arms[i].strategy, portfolio_arm_state(portfolio, i), &own);
	}
}

/* Called before the search's first run of a round. If this state has already made runs of the
 * round, their effect on the search is undone. */
static void portfolio_start_search(struct portfolio *portfolio)
{
	struct portfolio_search *search = &portfolio->search;
	void *state = portfolio_arm_state(portfolio, ARM_SEARCH);
	void *start = portfolio_arm_state(portfolio, START);

	strategy_dpor.search.tasks->copy(
		search->has_start ? state : start, search->has_start ? start : state);
	search->made = search->planned;
	search->has_start = true;
	search->is_broken = false;
}

/* Returns whether this state contains the search's earlier runs. If not, the search can prove
 * nothing. */
static bool portfolio_continues_search(struct portfolio *portfolio, uint32_t position)
{
	struct portfolio_search *search = &portfolio->search;

	if (position == 0)
		portfolio_start_search(portfolio);
	if (strategy_dpor.search.is_exhausted(portfolio_arm_state(portfolio, ARM_SEARCH)))
		return false;
	search->is_broken |= search->made != search->planned + position;
	return !search->is_broken;
}

/* Arms that learn from runs of other arms: early uniform, surw and rff, and the search before its first run. */
static void portfolio_begin_observing(struct portfolio *portfolio)
{
	portfolio->observers = 0;
	for (uint32_t arm = 0; arm < ARM_COUNT; arm++) {
		const struct strategy_learning *learning = &portfolio_arms[arm].strategy->learning;
		void *state = portfolio_arm_state(portfolio, arm);

		if (arm == portfolio->arm ||
			!(arm == ARM_SEARCH ? portfolio->search.is_observing
					    : arm < LEARNERS && portfolio->is_observed))
			continue;
		portfolio->observers |= 1u << arm;
		if (learning->begin_position)
			learning->begin_position(state, portfolio->position);
		learning->observe(state);
	}
}

static void portfolio_begin_run(void *state, uint64_t seed)
{
	struct portfolio *portfolio = state;
	struct portfolio_turn turn = portfolio->plan[portfolio->position];
	const struct strategy *strategy;
	void *arm_state;

	if (turn.arm == ARM_SEARCH && !portfolio_continues_search(portfolio, turn.position))
		turn.arm = ARM_RANDOM;
	strategy = portfolio_arms[turn.arm].strategy;
	arm_state = portfolio_arm_state(portfolio, turn.arm);
	portfolio->arm = turn.arm;
	portfolio->is_running = true;
	/* A separate random stream: an arm chooses here as it does alone with the same seed. */
	rng_seed(&portfolio->values, hash_pair(seed, ARM_COUNT));
	if (strategy->learning.begin_position)
		strategy->learning.begin_position(arm_state, turn.position);
	strategy->begin_run(arm_state, seed);
	portfolio_begin_observing(portfolio);
}

/* Returns true in runs of the systematic search and of the fixed schedules. These runs have interruption
 * points before file calls only (docs/decisions/0030-interruption-points.md): with more points, a thread that
 * reads the same memory in a loop would no longer wait for the other threads. */
static bool portfolio_is_unvaried(const void *state)
{
	return ((const struct portfolio *)state)->arm >= ARM_IN_STEP;
}

static struct thread_id portfolio_choose(void *state, const struct schedule_view *view)
{
	struct portfolio *portfolio = state;

	return portfolio_arms[portfolio->arm].strategy->choose(
		portfolio_arm_state(portfolio, portfolio->arm), view);
}

static void portfolio_executed(
	void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct portfolio *portfolio = state;
	const struct strategy *strategy = portfolio_arms[portfolio->arm].strategy;

	portfolio->search.has_children |= view->pending[thread.index].kind == OP_CHILD_WAIT;
	portfolio->has_drains |= view->pending[thread.index].kind == OP_DRAIN;
	if (strategy->executed)
		strategy->executed(portfolio_arm_state(portfolio, portfolio->arm), view, thread);
	for (uint32_t rest = portfolio->observers; rest; rest &= rest - 1) {
		const uint32_t arm = (uint32_t)__builtin_ctz(rest);

		portfolio_arms[arm].strategy->executed(
			portfolio_arm_state(portfolio, arm), view, thread);
	}
}

static void portfolio_ending(void *state, const struct schedule_view *view)
{
	struct portfolio *portfolio = state;
	const struct strategy *strategy = portfolio_arms[portfolio->arm].strategy;

	if (strategy->ending)
		strategy->ending(portfolio_arm_state(portfolio, portfolio->arm), view);
	if (portfolio->observers >> ARM_SEARCH & 1)
		strategy_dpor.ending(portfolio_arm_state(portfolio, ARM_SEARCH), view);
}

static uint32_t portfolio_choose_value(void *state, uint32_t count)
{
	struct portfolio *portfolio = state;
	const struct strategy *strategy = portfolio_arms[portfolio->arm].strategy;

	if (strategy->choose_value)
		return strategy->choose_value(
			portfolio_arm_state(portfolio, portfolio->arm), count);
	return rng_below(&portfolio->values, count);
}

static void portfolio_end_run(void *state, const struct run_summary *summary)
{
	struct portfolio *portfolio = state;
	const struct strategy *strategy = portfolio_arms[portfolio->arm].strategy;

	if (!portfolio->is_running)
		return;
	portfolio->is_running = false;
	/* A tainted run is made again. */
	if (portfolio->arm == ARM_SEARCH && summary->outcome != OUTCOME_TAINTED)
		portfolio->search.made++;
	if (strategy->end_run)
		strategy->end_run(portfolio_arm_state(portfolio, portfolio->arm), summary);
	for (uint32_t rest = portfolio->observers; rest; rest &= rest - 1) {
		const uint32_t arm = (uint32_t)__builtin_ctz(rest);

		if (portfolio_arms[arm].strategy->end_run)
			portfolio_arms[arm].strategy->end_run(
				portfolio_arm_state(portfolio, arm), summary);
	}
}

static void portfolio_begin_position(void *state, uint32_t position)
{
	((struct portfolio *)state)->position = position;
}

static void portfolio_copy_search(struct portfolio *to, const struct portfolio *from)
{
	to->search = from->search;
	strategy_dpor.search.tasks->copy(
		portfolio_arm_state(to, ARM_SEARCH), portfolio_arm_state_of(from, ARM_SEARCH));
}

static void portfolio_gather(void *state, const void *other, uint32_t position, uint32_t count)
{
	const struct portfolio *from = other;
	struct portfolio *portfolio = state;
	const bool has_children = portfolio->search.has_children || from->search.has_children;
	uint32_t first[ARM_COUNT] = {0}, runs[ARM_COUNT] = {0};

	for (uint32_t i = position; i < position + count; i++) {
		const struct portfolio_turn turn = portfolio->plan[i];

		if (!runs[turn.arm]++)
			first[turn.arm] = turn.position;
	}
	for (uint32_t arm = 0; portfolio->is_observed && arm < LEARNERS; arm++) {
		first[arm] = position;
		runs[arm] = count;
	}
	for (uint32_t arm = 0; arm < ARM_COUNT; arm++)
		if (runs[arm] && portfolio_arms[arm].strategy->learning.gather)
			portfolio_arms[arm].strategy->learning.gather(
				portfolio_arm_state(portfolio, arm),
				portfolio_arm_state_of(from, arm), first[arm], runs[arm]);
	if (runs[ARM_SEARCH] || portfolio->search.is_observing)
		portfolio_copy_search(portfolio, from);
	portfolio->search.has_children = has_children;
	if (from->has_drains)
		portfolio->has_drains = true;
}

static void portfolio_learn_search(struct portfolio *portfolio, uint32_t runs)
{
	struct portfolio_search *search = &portfolio->search;
	struct strategy_verdict verdict = {0};

	strategy_dpor.search.verdict(portfolio_arm_state(portfolio, ARM_SEARCH), &verdict);
	/* A search that has begun again has made no runs yet. */
	search->has_changed = runs || search->is_observing || !search->made;
	search->is_complete = !search->is_broken && verdict.is_complete;
	search->is_over |= search->is_broken || verdict.is_complete || verdict.missing;
	search->planned = search->made;
	search->has_start = false;
}

static void portfolio_learn(void *state, uint32_t count, uint32_t next)
{
	struct portfolio *portfolio = state;
	uint32_t planned[ARM_COUNT];
	uint32_t runs[ARM_COUNT] = {0};

	for (uint32_t i = 0; i < count; i++)
		runs[portfolio->plan[i].arm]++;
	portfolio->runs += count - runs[ARM_SEARCH];
	portfolio_learn_search(portfolio, runs[ARM_SEARCH]);
	for (uint32_t arm = 0; portfolio->is_observed && arm < LEARNERS; arm++)
		runs[arm] = count;
	for (uint32_t arm = 0; arm < LEARNERS; arm++)
		if (runs[arm])
			portfolio_arms[arm].strategy->learning.learn(
				portfolio_arm_state(portfolio, arm), runs[arm], next);
	if (runs[ARM_SURW])
		portfolio->order_bits =
			strategy_surw.learning.order_bits(portfolio_arm_state(portfolio, ARM_SURW));
	portfolio_plan(portfolio, next, planned);
	for (uint32_t arm = LEARNERS; arm < ARM_COUNT; arm++)
		if ((runs[arm] || planned[arm]) && portfolio_arms[arm].strategy->learning.learn)
			portfolio_arms[arm].strategy->learning.learn(
				portfolio_arm_state(portfolio, arm), runs[arm], planned[arm]);
}

static void portfolio_share(void *state, const void *other)
{
	const struct portfolio *from = other;
	struct portfolio *portfolio = state;

	portfolio->runs = from->runs;
	portfolio->order_bits = from->order_bits;
	portfolio->is_observed = from->is_observed;
	portfolio->has_drains = from->has_drains;
	for (uint32_t arm = 0; arm < ARM_COUNT; arm++)
		if (portfolio_arms[arm].strategy->learning.share)
			portfolio_arms[arm].strategy->learning.share(
				portfolio_arm_state(portfolio, arm),
				portfolio_arm_state_of(from, arm));
	if (from->search.has_changed)
		portfolio_copy_search(portfolio, from);
	else
		portfolio->search = from->search;
	for (uint32_t i = 0; i < STRATEGY_ROUND_MOST; i++)
		portfolio->plan[i] = from->plan[i];
}

static uint32_t portfolio_ordered(const void *state)
{
	return ((const struct portfolio *)state)->search.runs;
}

static void portfolio_begin_again(void *state)
{
	struct portfolio *portfolio = state;
	const struct strategy_config config = portfolio_arm_config(NULL, ARM_SEARCH);
	void *search = portfolio_arm_state(portfolio, ARM_SEARCH);

	if (!portfolio->search.made)
		return;
	memset(search, 0, strategy_state_bytes(&strategy_dpor, &config));
	strategy_begin_campaign(&strategy_dpor, search, &config);
	portfolio->search = (struct portfolio_search){.is_possible = portfolio->search.is_possible,
		.has_children = portfolio->search.has_children,
		.is_repeated = portfolio->search.is_complete || portfolio->search.is_repeated};
}

static void portfolio_verdict(const void *state, struct strategy_verdict *out)
{
	const struct portfolio *portfolio = state;

	strategy_dpor.search.verdict(portfolio_arm_state_of(portfolio, ARM_SEARCH), out);
	out->is_complete &= portfolio->search.is_complete;
}

/* Gives the guarantee of pct's depth 3 (its default), scaled by the share of that arm beside a
 * search. */
static bool portfolio_guarantee(const void *state, struct strategy_guarantee *out)
{
	const struct portfolio *portfolio = state;

	for (uint32_t i = 0; i < ARM_COUNT; i++) {
		if (portfolio_arms[i].option != 3)
			continue;
		if (!portfolio_arms[i].strategy->guarantee(
			    portfolio_arm_state_of(portfolio, i), out))
			return false;
		/* The search makes at most half of all runs after the first FIRST_RUNS, so this arm keeps at
		 * least half of its share of the plan. */
		out->probability /= 2 * PORTFOLIO_GUARANTEE_PERIOD;
		out->formula = "1/(128*n*k^(d-1))";
		_Static_assert(
			PORTFOLIO_GUARANTEE_PERIOD == 64, "the formula's text names the share");
		return out->probability > 0;
	}
	return false;
}

const char *portfolio_arm_name(const void *state)
{
	const struct portfolio *portfolio = state;

	return portfolio_arms[portfolio->arm].text;
}

static const struct strategy_option portfolio_options[] = {
	{"even", 0, 1, 1,
		"1: all arms but rff and uniform make equally many runs, as for `raddle explain`, which compares failed "
		"with passed runs",
		NULL},
	{0},
};

const struct strategy strategy_portfolio = {
	.name = "portfolio",
	.summary = "mixes other strategies by a plan in which uniform leads (the default)",
	.options = portfolio_options,
	.state_bytes_for = portfolio_state_bytes,
	.begin_campaign = portfolio_begin_campaign,
	.begin_run = portfolio_begin_run,
	.is_unvaried = portfolio_is_unvaried,
	.choose = portfolio_choose,
	.executed = portfolio_executed,
	.ending = portfolio_ending,
	.choose_value = portfolio_choose_value,
	.end_run = portfolio_end_run,
	.guarantee = portfolio_guarantee,
	.learning = {.begin_position = portfolio_begin_position,
		.gather = portfolio_gather,
		.learn = portfolio_learn,
		.share = portfolio_share,
		.ordered = portfolio_ordered,
		.begin_again = portfolio_begin_again},
	.search = {.verdict = portfolio_verdict},
};
