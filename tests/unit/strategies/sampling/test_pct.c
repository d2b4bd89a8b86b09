#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/simulated_program.h"

/* Three threads that never wait: every switch before a thread's end is a change of priority. */
static const struct simulated_op steps[] = {ADD(0, 1), ADD(1, 1), ADD(0, 1), ADD(1, 1)};
static const struct simulated_code free_codes[] = {CODE(steps), CODE(steps), CODE(steps)};
static const struct simulated_program free_program = {
	.codes = free_codes, .code_count = 3, .initial_count = 3};

static const struct simulated_code long_codes[] = {
	CODE_REPEATED(steps, 40), CODE_REPEATED(steps, 40)};
static const struct simulated_program long_program = {
	.codes = long_codes, .code_count = 2, .initial_count = 2};

static void pct__learns_before_it_draws_changes(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct simulated_campaign campaign;

		simulated_campaign_init(&campaign, &free_program, &strategy_pct, 5, seed);
		(void)simulated_campaign_run(&campaign); /* passes */
		assert_int_equal(campaign.run.preemption_count, 0);
		simulated_campaign_release(&campaign);
	}
}

static void pct__preempts_less_often_than_its_depth(void **unused)
{
	(void)unused;
	for (int64_t depth = 2; depth <= 6; depth++) {
		struct simulated_campaign campaign;
		uint64_t most = 0;

		simulated_campaign_init(&campaign, &long_program, &strategy_pct, depth, 1);
		for (int run = 0; run < 2000; run++) {
			(void)simulated_campaign_run(&campaign); /* passes */
			if (campaign.run.preemption_count > most)
				most = campaign.run.preemption_count;
		}
		/* Two threads: each change but one past the end, or of the lower thread, preempts. */
		assert_int_equal(most, depth - 1);
		simulated_campaign_release(&campaign);
	}
}

static void pct__guarantees_by_what_it_measured(void **unused)
{
	struct simulated_campaign campaign;
	struct strategy_guarantee guarantee;

	(void)unused;
	simulated_campaign_init(&campaign, &free_program, &strategy_pct, 3, 1);
	assert_false(strategy_pct.guarantee(campaign.state, &guarantee));
	assert_true(guarantee.probability == 0);
	(void)simulated_campaign_run(&campaign); /* passes */
	assert_true(strategy_pct.guarantee(campaign.state, &guarantee));
	assert_int_equal(guarantee.depth, 3);
	assert_int_equal(guarantee.threads, 3);
	/* Contested: all steps but those of the thread that is left, and the position past the end. */
	assert_int_equal(guarantee.steps, 2 * 4 + 1);
	assert_true(guarantee.probability > 0.999 / (3 * 81));
	assert_true(guarantee.probability < 1.001 / (3 * 81));
	simulated_campaign_release(&campaign);
}

static void pct__learns_nothing_from_a_run_that_was_cut_off(void **unused)
{
	const struct run_summary livelock = {
		.thread_count = 100, .step_count = 1000000, .outcome = OUTCOME_LIVELOCK};
	struct simulated_campaign campaign;
	struct strategy_guarantee before, after;

	(void)unused;
	simulated_campaign_init(&campaign, &free_program, &strategy_pct, 3, 1);
	(void)simulated_campaign_run(&campaign); /* passes */
	assert_true(strategy_pct.guarantee(campaign.state, &before));
	campaign.run.program = &long_program;
	campaign.run.seed = 1;
	simulated_run(&campaign.run);
	strategy_end_single_run(&strategy_pct, campaign.state, &livelock);
	assert_true(strategy_pct.guarantee(campaign.state, &after));
	assert_int_equal(after.threads, before.threads);
	assert_int_equal(after.steps, before.steps);
	simulated_campaign_release(&campaign);
}

/* Runs in which a priority fell, of a program that a first, much longer run was not like. */
static uint32_t preempted_after_long_run(uint32_t first, uint32_t count)
{
	struct simulated_campaign campaign;
	uint32_t preempted = 0;

	simulated_campaign_init(&campaign, &long_program, &strategy_pct, 2, 3);
	(void)simulated_campaign_run(&campaign); /* passes; k is now 160 */
	campaign.run.program = &free_program;
	for (uint32_t run = 0; run < first + count; run++) {
		(void)simulated_campaign_run(&campaign); /* passes */
		preempted += run >= first && campaign.run.preemption_count > 0;
	}
	simulated_campaign_release(&campaign);
	return preempted;
}

static void pct__forgets_one_odd_long_run(void **unused)
{
	(void)unused;
	/* k = 160 hits one of 8 points in 1 of 20 runs; k = 8 or a little more in most. */
	assert_in_range(preempted_after_long_run(0, 10), 0, 4);
	assert_in_range(preempted_after_long_run(100, 100), 20, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pct__learns_before_it_draws_changes),
		cmocka_unit_test(pct__preempts_less_often_than_its_depth),
		cmocka_unit_test(pct__guarantees_by_what_it_measured),
		cmocka_unit_test(pct__learns_nothing_from_a_run_that_was_cut_off),
		cmocka_unit_test(pct__forgets_one_odd_long_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
