#include "strategies/sampling/rpro.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "strategies/strategy.h"
#include "support/simulated_program.h"

static const struct simulated_op locks[] = {LOCK(0), ADD(0, 1), UNLOCK(0), ADD(1, 1)};
static const struct simulated_code lock_codes[] = {
	CODE_REPEATED(locks, 20), CODE_REPEATED(locks, 20), CODE_REPEATED(locks, 20)};
static const struct simulated_program lock_program = {
	.codes = lock_codes, .code_count = 3, .initial_count = 3};

static const struct simulated_op steps[] = {ADD(0, 1), ADD(1, 1)};
static const struct simulated_code free_codes[] = {
	CODE_REPEATED(steps, 40), CODE_REPEATED(steps, 40)};
static const struct simulated_program free_program = {
	.codes = free_codes, .code_count = 2, .initial_count = 2};

static void run(struct simulated_campaign *campaign, int runs)
{
	for (int i = 0; i < runs; i++)
		assert_int_equal(simulated_campaign_run(campaign), OUTCOME_PASSED);
}

static void rpro__learns_before_it_draws_changes(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct simulated_campaign campaign;

		simulated_campaign_init(&campaign, &free_program, &strategy_rpro, 5, seed);
		run(&campaign, 1);
		assert_int_equal(campaign.run.preemption_count, 0);
		simulated_campaign_release(&campaign);
	}
}

static void rpro__counts_acquisitions_where_there_are_any(void **unused)
{
	struct simulated_campaign campaign;

	(void)unused;
	simulated_campaign_init(&campaign, &lock_program, &strategy_rpro, 3, 1);
	run(&campaign, 20);
	assert_int_equal(rpro_last_pair(campaign.state).events, RPRO_EVENTS_ACQUIRE);
	assert_in_range(rpro_length(campaign.state, RPRO_EVENTS_ACQUIRE), 1, 60);
	assert_true(rpro_length(campaign.state, RPRO_EVENTS_ALL) >
		    rpro_length(campaign.state, RPRO_EVENTS_ACQUIRE));
	simulated_campaign_release(&campaign);
	simulated_campaign_init(&campaign, &free_program, &strategy_rpro, 3, 1);
	run(&campaign, 20);
	assert_int_equal(rpro_last_pair(campaign.state).events, RPRO_EVENTS_ALL);
	assert_int_equal(rpro_length(campaign.state, RPRO_EVENTS_ACQUIRE), 0);
	simulated_campaign_release(&campaign);
}

static void rpro__walks_its_grid_outward(void **unused)
{
	struct simulated_campaign campaign;
	uint64_t near = 0;
	uint64_t far = 0;
	uint64_t runs = 0;

	(void)unused;
	simulated_campaign_init(&campaign, &lock_program, &strategy_rpro, 0, 1);
	run(&campaign, 6001);
	for (uint32_t i = 0; i < rpro_pair_count(campaign.state); i++) {
		const struct rpro_pair pair = rpro_pair(campaign.state, i);

		runs += pair.runs;
		if (pair.depth == 3 && pair.radius == 1 && !pair.has_many_windows)
			near = pair.runs;
		if (pair.depth == 6 && pair.radius == 32 && !pair.has_many_windows)
			far = pair.runs;
		/* Beyond the length of the program there is nothing new. */
		if (pair.radius > 256)
			assert_int_equal(pair.runs, 0);
	}
	assert_int_equal(runs, 6000);
	assert_true(near > 100);
	assert_true(far < near / 10);
	simulated_campaign_release(&campaign);
}

/* Most preemptions in one of 500 runs with depth 3, radius 2 and that many windows. */
static uint64_t most_preemptions(int64_t windows)
{
	struct simulated_campaign campaign;
	uint64_t most = 0;

	simulated_campaign_init(&campaign, &free_program, &strategy_rpro, 3, 1);
	campaign.config.option[1] = 2;
	campaign.config.option[3] = windows;
	memset(campaign.state, 0, campaign.state_bytes);
	strategy_begin_campaign(&strategy_rpro, campaign.state, &campaign.config);
	for (int i = 0; i < 500; i++) {
		run(&campaign, 1);
		if (campaign.run.preemption_count > most)
			most = campaign.run.preemption_count;
	}
	simulated_campaign_release(&campaign);
	return most;
}

static void rpro__has_depth_less_one_changes_per_window(void **unused)
{
	(void)unused;
	assert_int_equal(most_preemptions(0), 2);
	assert_true(most_preemptions(1) > 6);
}

static void rpro__promises_what_its_options_say(void **unused)
{
	struct simulated_campaign campaign;
	struct strategy_guarantee guarantee;
	double expected;

	(void)unused;
	simulated_campaign_init(&campaign, &free_program, &strategy_rpro, 4, 1);
	campaign.config.option[1] = 2;
	campaign.config.option[2] = RPRO_EVENTS_ALL;
	memset(campaign.state, 0, campaign.state_bytes);
	strategy_begin_campaign(&strategy_rpro, campaign.state, &campaign.config);
	assert_false(strategy_rpro.guarantee(campaign.state, &guarantee));
	run(&campaign, 1);
	assert_true(strategy_rpro.guarantee(campaign.state, &guarantee));
	assert_int_equal(guarantee.threads, 2);
	assert_int_equal(guarantee.radius, 2);
	/* One thread runs to its end first; alone, the other is not contested. */
	assert_int_equal(guarantee.steps, 80 + 1);
	expected = 1.0 / (2.0 * 81 * 4 * 4);
	assert_true(guarantee.probability > 0.999 * expected);
	assert_true(guarantee.probability < 1.001 * expected);
	simulated_campaign_release(&campaign);
}

static void rpro__refuses_a_radius_without_meaning(void **unused)
{
	const struct strategy_config senseless = {.option = {2, 5, 0}};
	const struct strategy_config good = {.option = {3, 5, 0}};
	const struct strategy_config none = {.option = {0, 0, 0}};

	(void)unused;
	assert_non_null(strategy_rpro.check(&senseless));
	assert_null(strategy_rpro.check(&good));
	assert_null(strategy_rpro.check(&none));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rpro__learns_before_it_draws_changes),
		cmocka_unit_test(rpro__counts_acquisitions_where_there_are_any),
		cmocka_unit_test(rpro__walks_its_grid_outward),
		cmocka_unit_test(rpro__has_depth_less_one_changes_per_window),
		cmocka_unit_test(rpro__promises_what_its_options_say),
		cmocka_unit_test(rpro__refuses_a_radius_without_meaning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
