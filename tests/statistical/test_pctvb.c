/*
 * pctvb keeps its guarantee. It finds a bug about a rarely used variable more often than pct, for
 * which all accesses are equally likely places (the paper's figure 6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/simulated_program.h"
#include "support/statistics.h"

/* Variable 1 is used all the time by both, and does not matter. */
#define WALK READ(1), READ(1), READ(1), READ(1), READ(1)
#define LONG_WALK WALK, WALK, WALK, WALK, WALK, WALK

/* Depth 2: the other's op falls between two neighbouring ops on variable 0. */
static const struct simulated_op victim[] = {
	LONG_WALK, ADVANCE(0, 0), ADVANCE(0, 2), REFUSE(0, 3), LONG_WALK};
static const struct simulated_op intruder[] = {LONG_WALK, ADVANCE(0, 1), LONG_WALK};
static const struct simulated_op bystander[] = {ADD(1, 1), READ(2), READ(1)};
static const struct simulated_code codes[] = {CODE(victim), CODE(intruder), CODE(bystander)};
static const struct simulated_program rare = {.codes = codes, .code_count = 3, .initial_count = 3};

/*
 * Two variables, three threads: its writer runs between the first two ops of `reader` on each
 * variable, but the second writer not before. Stops of the reader alone do it, if it continues
 * between the writers.
 */
static const struct simulated_op reader[] = {
	ADVANCE(0, 0), ADVANCE(0, 2), LEAVE(0, 1), ADVANCE(3, 0), ADVANCE(3, 2), REFUSE(3, 3)};
static const struct simulated_op writer[] = {ADVANCE(0, 1)};
static const struct simulated_op later_writer[] = {ADVANCE(3, 1)};
static const struct simulated_code both_codes[] = {CODE(reader), CODE(writer), CODE(later_writer)};
static const struct simulated_program both = {
	.codes = both_codes, .code_count = 3, .initial_count = 3};

/* Counts failures of depth 3, with v = 2; `threads`: t, 0: not given. */
static uint64_t count_failures_of_both(
	uint64_t runs, int64_t threads, struct strategy_guarantee *guarantee)
{
	struct simulated_campaign campaign;
	uint64_t failures;

	simulated_campaign_init(&campaign, &both, &strategy_pctvb, 3, statistics_seed(2));
	campaign.config.option[1] = 2;
	campaign.config.option[2] = threads;
	strategy_begin_campaign(&strategy_pctvb, campaign.state, &campaign.config);
	(void)simulated_campaign_count(&campaign, 3, OUTCOME_ABORT); /* learns; not counted */
	failures = simulated_campaign_count(&campaign, runs, OUTCOME_ABORT);
	assert_true(strategy_pctvb.guarantee(campaign.state, guarantee));
	simulated_campaign_release(&campaign);
	return failures;
}

static void pctvb__meets_its_bound_of_threads(void **unused)
{
	const uint64_t runs = 200000;
	struct strategy_guarantee guarantee;
	uint64_t failures = count_failures_of_both(runs, 3, &guarantee);

	(void)unused;
	assert_int_equal(guarantee.variables, 2);
	assert_int_equal(guarantee.order_threads, 3);
	assert_true(binomial_at_most(0, runs, guarantee.probability) < STATISTICS_ALPHA);
	assert_true(binomial_at_most(failures, runs, guarantee.probability) > STATISTICS_ALPHA);
	/* Falls below all threads let the second writer run too early: they would need a stop more. */
	failures = count_failures_of_both(runs, 0, &guarantee);
	assert_int_equal(guarantee.order_threads, 0);
	assert_int_equal(failures, 0);
}

static uint64_t count_failures(
	const struct strategy *strategy, uint64_t runs, struct strategy_guarantee *guarantee)
{
	struct simulated_campaign campaign;
	uint64_t failures;

	simulated_campaign_init(&campaign, &rare, strategy, 2, statistics_seed(1));
	(void)simulated_campaign_count(&campaign, 3, OUTCOME_ABORT); /* learns; not counted */
	failures = simulated_campaign_count(&campaign, runs, OUTCOME_ABORT);
	if (guarantee)
		assert_true(strategy->guarantee(campaign.state, guarantee));
	simulated_campaign_release(&campaign);
	return failures;
}

static void pctvb__meets_its_bound(void **unused)
{
	const uint64_t runs = 20000;
	struct strategy_guarantee guarantee;
	const uint64_t failures = count_failures(&strategy_pctvb, runs, &guarantee);

	(void)unused;
	assert_int_equal(guarantee.variables, 1);
	assert_int_equal(guarantee.variable_total, 2);
	assert_true(binomial_at_most(0, runs, guarantee.probability) < STATISTICS_ALPHA);
	assert_true(binomial_at_most(failures, runs, guarantee.probability) > STATISTICS_ALPHA);
}

static void pctvb__finds_rare_variables_four_times_as_often_as_pct(void **unused)
{
	const uint64_t runs = 20000;
	const uint64_t of_pct = count_failures(&strategy_pct, runs, NULL);
	const uint64_t of_pctvb = count_failures(&strategy_pctvb, runs, NULL);
	const double wanted = 4 * (double)of_pct / (double)runs;

	(void)unused;
	assert_true(of_pct > 0);
	assert_true(binomial_at_most(of_pctvb, runs, wanted) > STATISTICS_ALPHA);
	/* pct itself does not pass for it. */
	assert_true(binomial_at_most(of_pct, runs, wanted) < STATISTICS_ALPHA);
}

static void round_robin__does_not_meet_the_bound(void **unused)
{
	const uint64_t runs = 20000;
	struct strategy_guarantee guarantee;
	uint64_t failures;

	(void)unused;
	(void)count_failures(&strategy_pctvb, 10, &guarantee);
	failures = count_failures(&strategy_round_robin, runs, NULL);
	assert_true(binomial_at_most(failures, runs, guarantee.probability) < STATISTICS_ALPHA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pctvb__meets_its_bound),
		cmocka_unit_test(pctvb__meets_its_bound_of_threads),
		cmocka_unit_test(pctvb__finds_rare_variables_four_times_as_often_as_pct),
		cmocka_unit_test(round_robin__does_not_meet_the_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
