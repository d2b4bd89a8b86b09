/*
 * The plan of the portfolio: which arm makes a run. docs/decisions/0022-portfolio.md has the figures.
 *
 * `uniform` leads: it makes 15 of 16 early planned runs and half of the later ones. In large programs it makes
 * every second of them, and `rff` the others. If accesses to memory are no ops, `rff` leads, with 3 of 4 early
 * runs. The rotation makes the runs that are not the leaders'. The first planned runs are a list. The search
 * gets its share of each round first, by the size of the program.
 *
 * Bound: of ROTATION * LATE_PERIOD consecutive planned runs after the first EARLY_RUNS, every arm
 * of the rotation makes at least one. An arm that alone needs m runs on average needs at most about
 * EARLY_RUNS + 16 m planned runs here.
 */
#include "strategies/portfolio_internal.h"

/* dpor's longest run. Its memory, a megabyte, is cleared whenever the search begins again. */
#define SEARCH_STEPS 1024

const struct portfolio_arm portfolio_arms[ARM_COUNT] = {
	[ARM_SURW] = {&strategy_surw, "surw", 0, 0},
	[ARM_RFF] = {&strategy_rff, "rff", 0, 0},
	[ARM_UNIFORM] = {&strategy_uniform, "uniform", 0, 0},
	[ARM_POS] = {&strategy_pos, "pos", 0, 0},
	[ARM_RANDOM] = {&strategy_random, "random", 0, 0},
	[ARM_RPRO] = {&strategy_rpro, "rpro", 0, 0},
	[ARM_PCT_2] = {&strategy_pct, "pct,depth=2", 2, 0},
	[ARM_PCT_3] = {&strategy_pct, "pct,depth=3", 3, 0},
	[ARM_PCT_5] = {&strategy_pct, "pct,depth=5", 5, 0},
	[ARM_IN_STEP] = {&strategy_round_robin, "round_robin,steps=1", 1, 0},
	[ARM_NEWEST] = {&strategy_round_robin, "round_robin,order=newest", 0, 1},
	[ARM_UNPREEMPTED] = {&strategy_round_robin, "round_robin", 0, 0},
	[ARM_SEARCH] = {&strategy_dpor, "dpor", SEARCH_STEPS, 0},
};

#define EARLY_RUNS 64u	      /* most failures occur within this many runs */
#define EARLY_PERIOD 16u      /* one early run in this many is not the leader's */
#define PARTLY_ABLE_PERIOD 4u /* the same if accesses to memory are no ops */
#define LATE_PERIOD 2u	      /* one later run in this many is not the leader's */
#define OBSERVED_RUNS 32u     /* in rounds of at most 16, as many as teach a leader */
#define SEARCH_START 8u /* the first two runs teach the search; until here, other arms are better */
#define FIRST_RUNS 32u	/* in which a search of a small program is worth most of the runs */
#define SEARCH_SHARES 32u      /* denominator of the search's share of a round */
#define SEARCH_RUNS_MOST 4096u /* a program with more orders is too big */

static const uint8_t rotation[] = {
	ARM_PCT_3, ARM_SURW, ARM_PCT_2, ARM_RFF, ARM_RANDOM, ARM_POS, ARM_RPRO, ARM_PCT_5};
#define ROTATION ((uint32_t)(sizeof rotation / sizeof *rotation))
_Static_assert(PORTFOLIO_GUARANTEE_PERIOD == EARLY_RUNS, "of the arm pct,depth=3");
static const uint8_t even_rotation[] = {
	ARM_SURW, ARM_POS, ARM_RANDOM, ARM_RPRO, ARM_PCT_2, ARM_PCT_3, ARM_PCT_5};
#define EVEN_ROTATION ((uint32_t)(sizeof even_rotation / sizeof *even_rotation))

/* The first planned runs. */
static const uint8_t first_arms[] = {ARM_SURW, ARM_IN_STEP, ARM_UNIFORM, ARM_NEWEST, ARM_UNIFORM};
/* The same with store buffers: a run without preemptions delays each store as long as possible. */
static const uint8_t buffered_arms[] = {
	ARM_SURW, ARM_IN_STEP, ARM_UNIFORM, ARM_UNPREEMPTED, ARM_NEWEST};
#define FIRST_ARMS ((uint32_t)sizeof first_arms)
_Static_assert(sizeof buffered_arms == sizeof first_arms, "both replace the plan's first runs");

/*
 * The search's share and the leaders by size of the program. With few orders, the search needs the fewest
 * schedules; with many, it stays near the end of the run for too long. Its first dozen of runs are worth
 * more than later ones in programs of middle size. `uniform` needs more schedules than `rff` in many
 * programs with very many orders, and less than a tenth as many in some programs with fewer orders.
 */
struct portfolio_size {
	uint64_t bits; /* most order_bits() of surw of such a program */
	/* numerators of the search's share: first, early and late runs */
	uint32_t search_first, search_early, search_late;
	bool has_two_leaders; /* `uniform` and `rff` */
};

static const struct portfolio_size sizes[] = {
	{.bits = 13, .search_first = 24, .search_early = 4, .search_late = 8},
	{.bits = 26, .search_first = 8, .search_early = 8, .search_late = 4},
	{.bits = 40, .search_first = 8, .search_early = 8, .search_late = 2},
	{.bits = UINT64_MAX,
		.search_first = 4,
		.search_early = 2,
		.search_late = 2,
		.has_two_leaders = true},
};

static const struct portfolio_size *portfolio_size(const struct portfolio *portfolio)
{
	const struct portfolio_size *size = sizes;

	while (portfolio->order_bits > size->bits)
		size++;
	return size;
}

static enum strategy_ability portfolio_ability(const struct portfolio *portfolio, uint16_t arm)
{
	const struct strategy_learning *learning = &portfolio_arms[arm].strategy->learning;

	return learning->ability ? learning->ability(portfolio_arm_state_of(portfolio, arm)) : ABLE;
}

/* Returns the period of the rotation: of so many planned runs, the rotation's arms make the last one, and
 * the leader makes the others. */
static uint64_t portfolio_period(const struct portfolio *portfolio, uint64_t number)
{
	if (number >= EARLY_RUNS)
		return LATE_PERIOD;
	return portfolio_ability(portfolio, ARM_UNIFORM) == PARTLY_ABLE ? PARTLY_ABLE_PERIOD
									: EARLY_PERIOD;
}

/* The arm of a planned run that the rotation does not make. */
static uint16_t portfolio_leader(const struct portfolio *portfolio, uint64_t number)
{
	const uint64_t turn = number - number / portfolio_period(portfolio, number);

	if (portfolio_ability(portfolio, ARM_UNIFORM) != ABLE)
		return ARM_RFF;
	return portfolio_size(portfolio)->has_two_leaders && turn % 2 ? ARM_RFF : ARM_UNIFORM;
}

static uint16_t portfolio_planned_arm(const struct portfolio *portfolio, uint64_t number)
{
	const uint64_t period = portfolio_period(portfolio, number);
	const uint64_t position = number < EARLY_RUNS ? number : number - EARLY_RUNS;

	/* Without rff and uniform: they prefer rare orders, which then accompany too many failures. */
	if (portfolio->is_even)
		return even_rotation[number % EVEN_ROTATION];
	if (number < FIRST_ARMS)
		return portfolio->has_drains ? buffered_arms[number] : first_arms[number];
	if (position % period == period - 1)
		return rotation[position / period % ROTATION];
	return portfolio_leader(portfolio, number);
}

/* The arm of a planned run. `rff` makes the runs in which `uniform` could only do a random walk. */
static uint16_t portfolio_able_arm(const struct portfolio *portfolio, uint64_t number)
{
	const uint16_t arm = portfolio_planned_arm(portfolio, number);

	return portfolio_ability(portfolio, arm) == NOT_ABLE ? ARM_RFF : arm;
}

/* Returns the number of the search's runs in the next round of at most `positions` runs. */
static uint32_t portfolio_search_share(const struct portfolio *portfolio, uint32_t positions)
{
	const struct portfolio_size *size = portfolio_size(portfolio);
	const struct portfolio_search *search = &portfolio->search;
	const uint64_t runs = portfolio->runs + search->planned;
	uint64_t due;
	uint32_t share;

	if (!search->is_possible || search->has_children || search->is_over ||
		runs < SEARCH_START ||
		search->planned >= SEARCH_RUNS_MOST * (search->is_repeated ? 2 : 1))
		return 0;
	share = search->is_repeated ? SEARCH_SHARES / 2
		: runs < FIRST_RUNS ? size->search_first
		: runs < EARLY_RUNS ? size->search_early
				    : size->search_late;
	/* The difference of two totals, so that rounds of one run have the same share. */
	due = runs - SEARCH_START;
	return (uint32_t)((due + positions) * share / SEARCH_SHARES - due * share / SEARCH_SHARES);
}

void portfolio_plan(struct portfolio *portfolio, uint32_t positions, uint32_t *planned)
{
	const uint32_t search = portfolio_search_share(portfolio, positions);

	for (uint32_t arm = 0; arm < ARM_COUNT; arm++)
		planned[arm] = 0;
	portfolio->search.runs = search;
	portfolio->search.is_observing = portfolio->search.is_possible && positions == 1 &&
					 !portfolio->search.planned && !search;
	portfolio->is_observed =
		!portfolio->is_even &&
		portfolio->runs + portfolio->search.planned + positions <= OBSERVED_RUNS;
	for (uint32_t position = 0; position < positions; position++) {
		const uint16_t arm = position < search
					     ? ARM_SEARCH
					     : portfolio_able_arm(portfolio,
						       portfolio->runs + position - search);

		portfolio->plan[position] =
			(struct portfolio_turn){.arm = arm, .position = (uint16_t)planned[arm]++};
		if (portfolio->is_observed && arm < LEARNERS)
			portfolio->plan[position].position = (uint16_t)position;
	}
}
