/*
 * pct keeps its guarantee: a bug of depth d shows at least with the probability that the strategy
 * itself states. This is 1/(n*k^(d-1)) with the n and k that the strategy measured. Controls
 * without this guarantee must fail the same test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/simulated_program.h"
#include "support/statistics.h"

#define DISTANCE 20 /* ops that one thread must get through while the other stands still */

/*
 * Bugs by the number of orders they need: a variable counts the steps of the fatal sequence, and
 * its last step fails. `walk` is the distance.
 */
#define WALK READ(1), READ(1), READ(1), READ(1), READ(1)
#define LONG_WALK WALK, WALK, WALK, WALK

/* Depth 1: the walker gets to its end before the other takes its first step. */
static const struct simulated_op walker_1[] = {LONG_WALK, ADVANCE(0, 0)};
static const struct simulated_op other_1[] = {ADVANCE(0, 1), REFUSE(0, 2)};
/* Depth 2: the whole walk falls between two neighbouring ops of the other. */
static const struct simulated_op walker_2[] = {LONG_WALK, ADVANCE(0, 1)};
static const struct simulated_op other_2[] = {ADVANCE(0, 0), ADVANCE(0, 2), REFUSE(0, 3)};
/* Depth 3: and then the other's last op falls between two neighbouring ops of the walker. */
static const struct simulated_op walker_3[] = {
	LONG_WALK, ADVANCE(0, 1), ADVANCE(0, 3), REFUSE(0, 4)};
static const struct simulated_op other_3[] = {ADVANCE(0, 0), ADVANCE(0, 2)};
/* Takes part and changes nothing: makes n = 3. */
static const struct simulated_op bystander[] = {READ(2), READ(2), READ(2)};

static const struct simulated_code codes_1[] = {CODE(other_1), CODE(walker_1), CODE(bystander)};
static const struct simulated_code codes_2[] = {CODE(other_2), CODE(walker_2), CODE(bystander)};
static const struct simulated_code codes_3[] = {CODE(other_3), CODE(walker_3), CODE(bystander)};

static const struct simulated_program bugs[] = {
	{.codes = codes_1, .code_count = 3, .initial_count = 3},
	{.codes = codes_2, .code_count = 3, .initial_count = 3},
	{.codes = codes_3, .code_count = 3, .initial_count = 3},
};

/* After a first run, which learns n and k. */
static uint64_t count_failures(const struct simulated_program *program,
	const struct strategy *strategy, int64_t depth, uint64_t runs,
	struct strategy_guarantee *guarantee)
{
	struct simulated_campaign campaign;
	uint64_t failures;

	simulated_campaign_init(&campaign, program, strategy, depth, statistics_seed(1));
	(void)simulated_campaign_run(&campaign); /* learns; not counted */
	failures = simulated_campaign_count(&campaign, runs, OUTCOME_ABORT);
	if (guarantee)
		assert_true(strategy->guarantee(campaign.state, guarantee));
	simulated_campaign_release(&campaign);
	return failures;
}

static void pct__finds_depth_1_in_its_first_run_with_chance_1_of_n(void **unused)
{
	const uint64_t campaigns = 3000;
	uint64_t failures = 0;

	(void)unused;
	for (uint64_t seed = 0; seed < campaigns; seed++) {
		struct simulated_campaign campaign;

		simulated_campaign_init(
			&campaign, &bugs[0], &strategy_pct, 2, statistics_seed(seed));
		failures += simulated_campaign_run(&campaign) == OUTCOME_ABORT;
		simulated_campaign_release(&campaign);
	}
	/* The walker precedes the other in half of the orders of priorities: 1/2 >= 1/n. */
	assert_true(binomial_at_most(failures, campaigns, 0.5) > STATISTICS_ALPHA);
	assert_true(binomial_at_least(failures, campaigns, 0.5) > STATISTICS_ALPHA);
}

/* pct of the given depth meets what it states for `bug`; enough runs that finding none would fail. */
static void assert_reaches_bound(const struct simulated_program *bug, int64_t depth, uint64_t runs)
{
	struct strategy_guarantee guarantee;
	const uint64_t failures = count_failures(bug, &strategy_pct, depth, runs, &guarantee);

	assert_int_equal(guarantee.threads, 3);
	assert_in_range(guarantee.steps, DISTANCE, DISTANCE + 10);
	assert_true(binomial_at_most(0, runs, guarantee.probability) < STATISTICS_ALPHA);
	assert_true(binomial_at_most(failures, runs, guarantee.probability) > STATISTICS_ALPHA);
}

static void pct__meets_its_bound_at_depth_1(void **unused)
{
	(void)unused;
	assert_reaches_bound(&bugs[0], 2, 4000);
}

static void pct__meets_its_bound_at_depth_2(void **unused)
{
	(void)unused;
	assert_reaches_bound(&bugs[1], 2, 4000);
}

static void pct__meets_its_bound_at_depth_3(void **unused)
{
	(void)unused;
	assert_reaches_bound(&bugs[2], 3, 60000);
}

static void pct__meets_its_bound_with_depth_to_spare(void **unused)
{
	(void)unused;
	assert_reaches_bound(&bugs[0], 3, 60000);
	assert_reaches_bound(&bugs[1], 3, 60000);
}

static void controls__do_not_meet_the_bound_of_depth_2(void **unused)
{
	static const struct strategy *const controls[] = {&strategy_random, &strategy_round_robin};
	const uint64_t runs = 4000;
	struct strategy_guarantee guarantee;

	(void)unused;
	(void)count_failures(&bugs[1], &strategy_pct, 2, 100, &guarantee);
	for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
		const uint64_t failures = count_failures(&bugs[1], controls[i], 0, runs, NULL);

		assert_true(
			binomial_at_most(failures, runs, guarantee.probability) < STATISTICS_ALPHA);
	}
}

static void round_robin__finds_no_bug_that_needs_a_preemption(void **unused)
{
	(void)unused;
	assert_int_equal(count_failures(&bugs[1], &strategy_round_robin, 0, 100, NULL), 0);
	assert_int_equal(count_failures(&bugs[2], &strategy_round_robin, 0, 100, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pct__finds_depth_1_in_its_first_run_with_chance_1_of_n),
		cmocka_unit_test(pct__meets_its_bound_at_depth_1),
		cmocka_unit_test(pct__meets_its_bound_at_depth_2),
		cmocka_unit_test(pct__meets_its_bound_at_depth_3),
		cmocka_unit_test(pct__meets_its_bound_with_depth_to_spare),
		cmocka_unit_test(controls__do_not_meet_the_bound_of_depth_2),
		cmocka_unit_test(round_robin__finds_no_bug_that_needs_a_preemption),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
