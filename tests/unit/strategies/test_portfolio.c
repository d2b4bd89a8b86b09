#include "strategies/portfolio.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "strategies/strategy.h"
#include "support/simulated_program.h"

#define ARMS 9	 /* those of the plan */
#define CYCLE 16 /* after the early runs, each arm has at least one of this number of runs */
#define EARLY 64
#define FIRST 32
#define LONG_SEARCH (16 * 4096 + 64) /* a search without end is given up by then */

/* 116 bits: far more orders than runs. */
static const struct simulated_op shared[] = {ADD(0, 1), ADD(0, 1)};
static const struct simulated_code many_codes[] = {
	CODE_REPEATED(shared, 30), CODE_REPEATED(shared, 30)};
static const struct simulated_program many_orders = {
	.codes = many_codes, .code_count = 2, .initial_count = 2};

/* Two threads with two writes each have six orders. */
static const struct simulated_code few_codes[] = {
	CODE_REPEATED(shared, 1), CODE_REPEATED(shared, 1)};
static const struct simulated_program few_orders = {
	.codes = few_codes, .code_count = 2, .initial_count = 2};

/* 10 bits: too many orders for the first runs, and few enough for a large share of them. */
static const struct simulated_code some_codes[] = {
	CODE_REPEATED(shared, 3), CODE_REPEATED(shared, 3)};
static const struct simulated_program some_orders = {
	.codes = some_codes, .code_count = 2, .initial_count = 2};

/* 29 bits: a program of middle size. */
static const struct simulated_code more_codes[] = {
	CODE_REPEATED(shared, 8), CODE_REPEATED(shared, 8)};
static const struct simulated_program more_orders = {
	.codes = more_codes, .code_count = 2, .initial_count = 2};

/* Runs by arm. */
struct tally {
	const char *names[16];
	uint64_t runs[16];
	uint32_t count;
};

/* The runs after the first `skipped` ones. */
static struct tally tally_runs(
	const struct simulated_program *program, uint64_t skipped, uint64_t run_count)
{
	struct simulated_campaign campaign;
	struct tally tally = {0};

	simulated_campaign_init(&campaign, program, &strategy_portfolio, 0, 1);
	assert_int_equal(simulated_campaign_count(&campaign, skipped, OUTCOME_PASSED), skipped);
	for (uint64_t run = 0; run < run_count; run++) {
		const char *name;
		uint32_t at = 0;

		assert_int_equal(simulated_campaign_run(&campaign), OUTCOME_PASSED);
		name = portfolio_arm_name(campaign.state);
		while (at < tally.count && strcmp(tally.names[at], name) != 0)
			at++;
		assert_true(at < 16);
		tally.count += at == tally.count;
		tally.names[at] = name;
		tally.runs[at]++;
	}
	simulated_campaign_release(&campaign);
	return tally;
}

static uint64_t runs_of_arm(const struct tally *tally, const char *name)
{
	for (uint32_t i = 0; i < tally->count; i++)
		if (strcmp(tally->names[i], name) == 0)
			return tally->runs[i];
	return 0;
}

static void portfolio__names_arms_that_can_be_written_as_such(void **unused)
{
	const struct tally tally = tally_runs(&many_orders, LONG_SEARCH, CYCLE);

	(void)unused;
	assert_int_equal(tally.count, ARMS);
	for (uint32_t i = 0; i < tally.count; i++)
		assert_non_null(strategy_find(tally.names[i], strcspn(tally.names[i], ",")));
}

static void portfolio__gives_most_early_runs_to_uniform(void **unused)
{
	const struct tally tally = tally_runs(&more_orders, 0, EARLY);
	const uint64_t planned = EARLY - runs_of_arm(&tally, "dpor");

	(void)unused;
	assert_string_equal(tally.names[0], "surw");
	assert_in_range(runs_of_arm(&tally, "dpor"), EARLY / 8, EARLY / 4);
	assert_int_equal(runs_of_arm(&tally, "uniform"), planned - planned / 16 - 3);
	assert_int_equal(runs_of_arm(&tally, "rff"), 0);
	assert_int_equal(runs_of_arm(&tally, "pct,depth=3"), 1);
}

/* After five runs of a list, the leaders take turns. */
static void portfolio__shares_runs_of_large_programs_between_uniform_and_rff(void **unused)
{
	const struct tally tally = tally_runs(&many_orders, 0, EARLY);
	const uint64_t led = runs_of_arm(&tally, "uniform") - 2 + runs_of_arm(&tally, "rff");

	(void)unused;
	assert_in_range(runs_of_arm(&tally, "dpor"), EARLY / 16, EARLY / 8);
	assert_in_range(led, EARLY * 3 / 4, EARLY - 5);
	assert_in_range(runs_of_arm(&tally, "rff"), led / 2 - 1, led / 2 + 1);
}

static void portfolio__begins_with_fixed_schedules(void **unused)
{
	const struct tally tally = tally_runs(&many_orders, 0, 8);

	(void)unused;
	assert_string_equal(tally.names[1], "round_robin,steps=1");
	assert_int_equal(runs_of_arm(&tally, "round_robin,steps=1"), 1);
	assert_int_equal(runs_of_arm(&tally, "round_robin,order=newest"), 1);
}

/* Far more threads than a descent can follow. */
static const struct simulated_op create[] = {CREATE(1)};
static const struct simulated_code create_codes[] = {CODE_REPEATED(create, 40), CODE(shared)};
static const struct simulated_program many_threads = {
	.codes = create_codes, .code_count = 2, .initial_count = 1};

static void portfolio__gives_turns_of_uniform_to_rff_if_it_is_not_able(void **unused)
{
	const struct tally tally = tally_runs(&many_threads, 0, EARLY);

	(void)unused;
	assert_int_equal(runs_of_arm(&tally, "uniform"), 0);
	assert_in_range(runs_of_arm(&tally, "rff"), EARLY * 3 / 4, EARLY - 4);
}

static void portfolio__searches_more_in_small_programs(void **unused)
{
	const struct tally some = tally_runs(&some_orders, 0, FIRST);
	const struct tally many = tally_runs(&many_orders, 0, FIRST);

	(void)unused;
	assert_in_range(runs_of_arm(&some, "dpor"), FIRST / 2, FIRST * 3 / 4);
	assert_in_range(runs_of_arm(&many, "dpor"), FIRST / 12, FIRST / 8);
}

static struct strategy_verdict search(
	const struct simulated_program *program, int64_t is_even, uint32_t shards, uint64_t runs)
{
	struct strategy_config config = {
		.option = {is_even}, .thread_capacity = THREAD_CAPACITY, .shards = shards};
	struct simulated_campaign campaign;
	struct strategy_verdict verdict = {0};

	simulated_campaign_init(&campaign, program, &strategy_portfolio, 0, 1);
	memset(campaign.state, 0, campaign.state_bytes);
	strategy_begin_campaign(&strategy_portfolio, campaign.state, &config);
	assert_int_equal(simulated_campaign_count(&campaign, runs, OUTCOME_PASSED), runs);
	strategy_portfolio.search.verdict(campaign.state, &verdict);
	simulated_campaign_release(&campaign);
	return verdict;
}

static void portfolio__searches_small_programs_to_the_end(void **unused)
{
	const struct strategy_verdict verdict = search(&few_orders, 0, 0, EARLY);

	(void)unused;
	assert_true(verdict.is_complete);
	assert_int_equal(verdict.runs, 6);
	assert_false(search(&many_orders, 0, 0, EARLY).is_complete);
	assert_false(search(&few_orders, 1, 0, EARLY).is_complete);
	assert_false(search(&few_orders, 0, 2, EARLY).is_complete);
}

/* `dpor` alone begins with two learning runs; in the portfolio it learns from the first two runs of the campaign. */
static void portfolio__searches_without_learning_runs(void **unused)
{
	struct simulated_campaign campaign;
	struct strategy_verdict verdict = {0};
	uint32_t search_runs = 0;

	(void)unused;
	simulated_campaign_init(&campaign, &few_orders, &strategy_portfolio, 0, 1);
	for (int run = 0; run < EARLY && !verdict.is_complete; run++) {
		assert_int_equal(simulated_campaign_run(&campaign), OUTCOME_PASSED);
		search_runs += strcmp(portfolio_arm_name(campaign.state), "dpor") == 0;
		strategy_portfolio.search.verdict(campaign.state, &verdict);
	}
	assert_true(verdict.is_complete);
	assert_in_range(search_runs, 6, 7); /* a round may end later than the search */
	simulated_campaign_release(&campaign);
}

static void portfolio__lets_no_arm_starve(void **unused)
{
	const struct tally tally = tally_runs(&many_orders, LONG_SEARCH + CYCLE, 100 * CYCLE);

	(void)unused;
	assert_int_equal(tally.count, ARMS);
	for (uint32_t i = 0; i < tally.count; i++)
		assert_true(tally.runs[i] >= 99);
	assert_in_range(runs_of_arm(&tally, "uniform"), 25 * CYCLE - 1, 25 * CYCLE + 1);
	assert_in_range(runs_of_arm(&tally, "rff"), 31 * CYCLE,
		32 * CYCLE); /* also a sixteenth as others */
}

static void portfolio__makes_the_choices_of_the_arm_alone(void **unused)
{
	struct simulated_campaign together;
	struct simulated_run alone = {.program = &many_orders, .strategy = &strategy_random};
	uint64_t state[64];
	uint32_t compared = 0;

	(void)unused;
	assert_true(strategy_state_bytes(&strategy_random, NULL) <= sizeof state);
	alone.state = state;
	simulated_campaign_init(&together, &many_orders, &strategy_portfolio, 0, 5);
	for (int run = 0; run < 400; run++) {
		(void)simulated_campaign_run(&together); /* passes */
		if (strcmp(portfolio_arm_name(together.state), "random") != 0)
			continue;
		alone.seed = together.run.seed;
		simulated_run(&alone);
		assert_int_equal(alone.order_hash, together.run.order_hash);
		compared++;
	}
	assert_in_range(compared, 5, 400);
	simulated_campaign_release(&together);
}

static void portfolio__guarantees_by_the_share_of_pct(void **unused)
{
	struct simulated_campaign campaign;
	struct strategy_guarantee guarantee;

	(void)unused;
	simulated_campaign_init(&campaign, &many_orders, &strategy_portfolio, 0, 1);
	assert_false(strategy_portfolio.guarantee(campaign.state, &guarantee));
	(void)simulated_campaign_count(&campaign, 200, OUTCOME_PASSED);
	assert_true(strategy_portfolio.guarantee(campaign.state, &guarantee));
	assert_int_equal(guarantee.depth, 3);
	assert_int_equal(guarantee.threads, 2);
	assert_true(guarantee.probability * 128 * 2 * (double)guarantee.steps *
			    (double)guarantee.steps >
		    0.999);
	assert_true(guarantee.probability * 128 * 2 * (double)guarantee.steps *
			    (double)guarantee.steps <
		    1.001);
	simulated_campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(portfolio__names_arms_that_can_be_written_as_such),
		cmocka_unit_test(portfolio__gives_most_early_runs_to_uniform),
		cmocka_unit_test(portfolio__shares_runs_of_large_programs_between_uniform_and_rff),
		cmocka_unit_test(portfolio__begins_with_fixed_schedules),
		cmocka_unit_test(portfolio__gives_turns_of_uniform_to_rff_if_it_is_not_able),
		cmocka_unit_test(portfolio__searches_more_in_small_programs),
		cmocka_unit_test(portfolio__searches_small_programs_to_the_end),
		cmocka_unit_test(portfolio__searches_without_learning_runs),
		cmocka_unit_test(portfolio__lets_no_arm_starve),
		cmocka_unit_test(portfolio__makes_the_choices_of_the_arm_alone),
		cmocka_unit_test(portfolio__guarantees_by_the_share_of_pct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
