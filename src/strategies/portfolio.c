/*
 * Strategy `portfolio`: a mix of the other strategies, weighted by success.
 *
 * No single strategy is best for every bug, and the best one is not known in advance. The first run
 * has no preemptions (round_robin) and finds failures that occur without any. After it, one run in
 * four goes to the arms in turn. Each arm thus keeps a share of at least 1/(4*arms). The other
 * three go to the arm with the highest upper confidence bound (UCB1: Auer, Cesa-Bianchi, Fischer,
 * "Finite-time Analysis of the Multiarmed Bandit Problem", Machine Learning 47, 2002, section 2).
 * The reward is novelty: a run gains 1 if its partial order of ops is new in the campaign.
 *
 * Deviations:
 * - Novelty decreases over time, so accounts are halved periodically and old gains fade.
 * - One decision applies to three runs.
 * - The decisions of a round are made before it. Each assumes that the runs before it have the mean
 *   result of their arm (Desautels, Krause, Burdick, "Parallelizing Exploration-Exploitation
 *   Tradeoffs in Gaussian Process Bandit Optimization", JMLR 15, 2014).
 * - All arithmetic uses integers, because the target may have floating-point traps enabled.
 *
 * The partial order is stored as a hash (order_hash.h). A Bloom filter (Bloom, CACM 13(7), 1970)
 * stores the orders seen. It is cleared at a fill level at which new orders would often be mistaken
 * for known ones.
 */
#include "strategies/portfolio.h"

#include "base/hash.h"
#include "base/rng.h"
#include "strategies/integer_log.h"
#include "strategies/order_hash.h"
#include "strategies/strategy.h"

struct portfolio_arm {
	const struct strategy *strategy;
	const char *text;
	int64_t option; /* value of the first option, if not the default */
};

/* The first arm is only for the first run. Depth 2 is cheap and frequent; depth 5 reaches bugs that
 * depth 3 cannot. */
static const struct portfolio_arm arms[] = {
	{&strategy_round_robin, "round_robin", 0},
	{&strategy_random, "random", 0},
	{&strategy_pct, "pct,depth=2", 2},
	{&strategy_pct, "pct,depth=3", 3},
	{&strategy_pct, "pct,depth=5", 5},
	{&strategy_rpro, "rpro", 0},
	{&strategy_pos, "pos", 0},
	{&strategy_surw, "surw", 0},
};

#define ARM_COUNT ((uint32_t)(sizeof arms / sizeof *arms))
#define FIRST_ARM 1u /* index of the first arm that takes part after the first run */
#define PLAYED_ARMS (ARM_COUNT - FIRST_ARM)
#define CYCLE 4u /* one run of CYCLE rotates among the arms; the others use the best arm */
#define STATE_ALIGNMENT 64u
#define PLAYS_BEFORE_FADING 4096u

/* 2 MiB: stores four million orders before it is cleared; the rate of false "seen" results stays
 * below 15 %. */
#define FILTER_BITS (UINT32_C(1) << 24)
#define FILTER_FULL (FILTER_BITS / 4)
struct portfolio_account {
	uint64_t plays; /* with fading */
	uint64_t gains; /* with fading; at most `plays` */
};

struct portfolio_turn {
	uint16_t arm;
	uint16_t place; /* among the runs of its arm in this round */
};

struct portfolio {
	struct rng values; /* for arms without choose_value() */
	uint64_t runs;	   /* number of runs in earlier rounds */
	uint32_t place;	   /* place of the run in its round */
	uint32_t arm;	   /* arm of the current or last run */
	uint32_t best;	   /* arm of the last decision */
	uint32_t remembered;
	bool is_running; /* between begin_run and end_run */
	struct portfolio_account account[ARM_COUNT];
	uint64_t arm_offset[ARM_COUNT]; /* offset of the arm's state from the start of this block */
	struct portfolio_turn plan[STRATEGY_ROUND_MOST]; /* by place */
	uint64_t lessons[STRATEGY_ROUND_MOST];		 /* hash of the run's order, by place */
	struct order_hash order;
	/* Only used in the state that learns from rounds. */
	uint64_t filter[FILTER_BITS / 64];
};

static inline void *portfolio_arm_state(struct portfolio *portfolio, uint32_t arm)
{
	return (char *)portfolio + portfolio->arm_offset[arm];
}

static struct strategy_config portfolio_arm_config(
	const struct strategy_config *config, uint32_t arm)
{
	struct strategy_config own = {.thread_capacity = config->thread_capacity};
	const struct strategy_option *options = arms[arm].strategy->options;

	for (uint32_t i = 0; options && options[i].name; i++)
		own.option[i] = options[i].standard;
	if (arms[arm].option)
		own.option[0] = arms[arm].option;
	return own;
}

/* Size of the whole block; stores the arms' offsets in `offsets` unless it is NULL. */
static size_t portfolio_layout(const struct strategy_config *config, uint64_t *offsets)
{
	size_t bytes = sizeof(struct portfolio);

	for (uint32_t i = 0; i < ARM_COUNT; i++) {
		const struct strategy_config own = portfolio_arm_config(config, i);

		bytes = (bytes + STATE_ALIGNMENT - 1) / STATE_ALIGNMENT * STATE_ALIGNMENT;
		if (offsets)
			offsets[i] = bytes;
		bytes += arms[i].strategy->state_bytes(&own);
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

	(void)portfolio_layout(config, portfolio->arm_offset); /* only the offsets are needed */
	for (uint32_t i = 0; i < ARM_COUNT; i++) {
		const struct strategy_config own = portfolio_arm_config(config, i);

		arms[i].strategy->begin_campaign(portfolio_arm_state(portfolio, i), &own);
	}
	portfolio->best = FIRST_ARM;
}

static uint64_t root(uint64_t value)
{
	uint64_t result = 0;

	for (uint64_t bit = UINT64_C(1) << 62; bit; bit >>= 2) {
		if (value >= result + bit) {
			value -= result + bit;
			result = (result >> 1) + bit;
		} else {
			result >>= 1;
		}
	}
	return result;
}

/* Mean gain plus sqrt(2 ln N / plays), times 2^16. Planned runs count with the mean gain. */
static uint64_t portfolio_bound(
	const struct portfolio_account *account, uint64_t planned, uint64_t log_total)
{
	uint64_t mean = UINT64_C(1) << 16;

	if (!account->plays && !planned)
		return UINT64_MAX;
	if (account->plays)
		mean = (account->gains << 16) / account->plays;
	return mean + root((2 * log_total << 16) / (account->plays + planned));
}

static uint32_t portfolio_best_arm(const struct portfolio *portfolio, const uint64_t *planned)
{
	uint64_t total = 1;
	uint64_t best_bound = 0;
	uint64_t log_total;
	uint32_t best = FIRST_ARM;

	for (uint32_t i = FIRST_ARM; i < ARM_COUNT; i++)
		total += portfolio->account[i].plays + planned[i];
	log_total = log_scaled(total);
	for (uint32_t i = FIRST_ARM; i < ARM_COUNT; i++) {
		const uint64_t bound =
			portfolio_bound(&portfolio->account[i], planned[i], log_total);

		if (bound > best_bound) {
			best_bound = bound;
			best = i;
		}
	}
	return best;
}

/* The arm of run `number` after the first. */
static uint32_t portfolio_pick(
	struct portfolio *portfolio, uint64_t number, const uint64_t *planned)
{
	if (number % CYCLE == 0)
		return FIRST_ARM + (uint32_t)(number / CYCLE % PLAYED_ARMS);
	if (number % CYCLE == 1)
		portfolio->best = portfolio_best_arm(portfolio, planned);
	return portfolio->best;
}

/* Plans the arms of the next round. `planned` receives the number of runs of each arm. */
static void portfolio_plan(struct portfolio *portfolio, uint32_t places, uint64_t *planned)
{
	for (uint32_t arm = 0; arm < ARM_COUNT; arm++)
		planned[arm] = 0;
	for (uint32_t place = 0; place < places; place++) {
		const uint32_t arm =
			portfolio_pick(portfolio, portfolio->runs + place - 1, planned);

		portfolio->plan[place] = (struct portfolio_turn){
			.arm = (uint16_t)arm, .place = (uint16_t)planned[arm]++};
	}
}

static void portfolio_begin_run(void *state, uint64_t seed)
{
	struct portfolio *portfolio = state;
	const struct portfolio_turn turn = portfolio->plan[portfolio->place];
	const struct strategy *strategy = arms[turn.arm].strategy;
	void *arm_state = portfolio_arm_state(portfolio, turn.arm);

	portfolio->arm = turn.arm;
	order_hash_begin(&portfolio->order);
	portfolio->is_running = true;
	/* A separate random stream: an arm makes the same choices here as alone with the same
	 * seed. */
	rng_seed(&portfolio->values, hash_pair(seed, ARM_COUNT));
	if (strategy->learning.begin_place)
		strategy->learning.begin_place(arm_state, turn.place);
	strategy->begin_run(arm_state, seed);
}

static struct thread_id portfolio_choose(void *state, const struct schedule_view *view)
{
	struct portfolio *portfolio = state;

	return arms[portfolio->arm].strategy->choose(
		portfolio_arm_state(portfolio, portfolio->arm), view);
}

static void portfolio_executed(
	void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct portfolio *portfolio = state;
	const struct strategy *strategy = arms[portfolio->arm].strategy;

	order_hash_add(&portfolio->order, view, thread);
	if (strategy->executed)
		strategy->executed(portfolio_arm_state(portfolio, portfolio->arm), view, thread);
}

static uint32_t portfolio_choose_value(void *state, uint32_t count)
{
	struct portfolio *portfolio = state;
	const struct strategy *strategy = arms[portfolio->arm].strategy;
	uint32_t value;

	if (strategy->choose_value)
		value = strategy->choose_value(
			portfolio_arm_state(portfolio, portfolio->arm), count);
	else
		value = rng_below(&portfolio->values, count);
	order_hash_add_value(&portfolio->order, value);
	return value;
}

static bool portfolio_remember(struct portfolio *portfolio, uint64_t order)
{
	const uint32_t first = (uint32_t)order % FILTER_BITS;
	const uint32_t second = (uint32_t)(order >> 32) % FILTER_BITS;

	if (bitset_has(portfolio->filter, first) && bitset_has(portfolio->filter, second))
		return false;
	if (portfolio->remembered == FILTER_FULL) {
		for (uint32_t i = 0; i < FILTER_BITS / 64; i++)
			portfolio->filter[i] = 0;
		portfolio->remembered = 0;
	}
	bitset_add(portfolio->filter, first);
	bitset_add(portfolio->filter, second);
	portfolio->remembered++;
	return true;
}

static void portfolio_end_run(void *state, const struct run_summary *summary)
{
	struct portfolio *portfolio = state;
	const struct strategy *strategy = arms[portfolio->arm].strategy;

	if (!portfolio->is_running)
		return;
	portfolio->is_running = false;
	if (strategy->end_run)
		strategy->end_run(portfolio_arm_state(portfolio, portfolio->arm), summary);
	portfolio->lessons[portfolio->place] = portfolio->order.value;
}

static void portfolio_begin_place(void *state, uint32_t place)
{
	((struct portfolio *)state)->place = place;
}

static void portfolio_gather(void *state, const void *other, uint32_t place, uint32_t count)
{
	const struct portfolio *from = other;
	struct portfolio *portfolio = state;
	uint32_t first[ARM_COUNT] = {0}, runs[ARM_COUNT] = {0};

	for (uint32_t i = place; i < place + count; i++) {
		const struct portfolio_turn turn = portfolio->plan[i];

		portfolio->lessons[i] = from->lessons[i];
		if (!runs[turn.arm]++)
			first[turn.arm] = turn.place;
	}
	for (uint32_t arm = 0; arm < ARM_COUNT; arm++)
		if (runs[arm] && arms[arm].strategy->learning.gather)
			arms[arm].strategy->learning.gather(portfolio_arm_state(portfolio, arm),
				(const char *)from + portfolio->arm_offset[arm], first[arm],
				runs[arm]);
}

/* Halves the accounts periodically, so that old gains fade. */
static void portfolio_fade(struct portfolio *portfolio)
{
	uint64_t plays = 0;

	for (uint32_t i = FIRST_ARM; i < ARM_COUNT; i++)
		plays += portfolio->account[i].plays;
	if (plays < PLAYS_BEFORE_FADING)
		return;
	for (uint32_t i = FIRST_ARM; i < ARM_COUNT; i++) {
		portfolio->account[i].plays /= 2;
		portfolio->account[i].gains /= 2;
	}
}

static void portfolio_learn(void *state, uint32_t count, uint32_t next)
{
	struct portfolio *portfolio = state;
	uint64_t planned[ARM_COUNT];
	uint32_t runs[ARM_COUNT] = {0};

	for (uint32_t i = 0; i < count; i++) {
		struct portfolio_account *account = &portfolio->account[portfolio->plan[i].arm];

		runs[portfolio->plan[i].arm]++;
		account->plays++;
		if (portfolio_remember(portfolio, portfolio->lessons[i]))
			account->gains++;
		portfolio_fade(portfolio);
	}
	portfolio->runs += count;
	portfolio_plan(portfolio, next, planned);
	for (uint32_t arm = 0; arm < ARM_COUNT; arm++)
		if ((runs[arm] || planned[arm]) && arms[arm].strategy->learning.learn)
			arms[arm].strategy->learning.learn(portfolio_arm_state(portfolio, arm),
				runs[arm], (uint32_t)planned[arm]);
}

static void portfolio_share(void *state, const void *other)
{
	const struct portfolio *from = other;
	struct portfolio *portfolio = state;

	portfolio->runs = from->runs;
	for (uint32_t arm = 0; arm < ARM_COUNT; arm++) {
		portfolio->account[arm] = from->account[arm];
		if (arms[arm].strategy->learning.share)
			arms[arm].strategy->learning.share(portfolio_arm_state(portfolio, arm),
				(const char *)from + portfolio->arm_offset[arm]);
	}
	for (uint32_t i = 0; i < STRATEGY_ROUND_MOST; i++)
		portfolio->plan[i] = from->plan[i];
}

/*
 * The best guarantee of the arms of depth 3 or more (as pct alone), scaled by the share that every
 * arm keeps: one run in CYCLE * PLAYED_ARMS.
 */
static bool portfolio_guarantee(const void *state, struct strategy_guarantee *out)
{
	const struct portfolio *portfolio = state;
	struct strategy_guarantee best = {0};

	for (uint32_t i = FIRST_ARM; i < ARM_COUNT; i++) {
		struct strategy_guarantee own;

		if (arms[i].strategy->guarantee && arms[i].option >= 3 &&
			arms[i].strategy->guarantee(
				(const char *)portfolio + portfolio->arm_offset[i], &own) &&
			own.probability > best.probability)
			best = own;
	}
	if (best.probability <= 0)
		return false;
	*out = best;
	out->probability /= CYCLE * PLAYED_ARMS;
	out->formula = "1/(28*n*k^(d-1))";
	_Static_assert(CYCLE * PLAYED_ARMS == 28, "the formula's text names the share");
	return true;
}

const char *portfolio_arm_name(const void *state)
{
	const struct portfolio *portfolio = state;

	return arms[portfolio->arm].text;
}

const struct strategy strategy_portfolio = {
	.name = "portfolio",
	.summary = "mixes the others and gives more runs to those that show new interleavings (the "
		   "default)",
	.state_bytes = portfolio_state_bytes,
	.begin_campaign = portfolio_begin_campaign,
	.begin_run = portfolio_begin_run,
	.choose = portfolio_choose,
	.executed = portfolio_executed,
	.choose_value = portfolio_choose_value,
	.end_run = portfolio_end_run,
	.guarantee = portfolio_guarantee,
	.learning = {.begin_place = portfolio_begin_place,
		.gather = portfolio_gather,
		.learn = portfolio_learn,
		.share = portfolio_share},
};
