#include "strategies/portfolio.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "strategies/strategy.h"
#include "support/simulated_program.h"

#define SHARE 28 /* each arm has one run in so many at least */
#define ARMS 7	 /* besides round_robin */

/* Threads that share nothing: one partial order, whatever the schedule. */
static const struct simulated_op first_own[] = {ADD(1, 1), ADD(1, 1), ADD(1, 1)};
static const struct simulated_op second_own[] = {ADD(2, 1), ADD(2, 1), ADD(2, 1)};
static const struct simulated_code apart_codes[] = {CODE(first_own), CODE(second_own)};
static const struct simulated_program apart = {
	.codes = apart_codes, .code_count = 2, .initial_count = 2};

/* Readers only. */
static const struct simulated_op reads[] = {READ(1), READ(1), READ(1)};
static const struct simulated_code reader_codes[] = {CODE(reads), CODE(reads)};
static const struct simulated_program readers = {
	.codes = reader_codes, .code_count = 2, .initial_count = 2};

/* One write and two other threads that read twice: 3 * 3 places among their reads. */
static const struct simulated_op write_once[] = {ADD(0, 1)};
static const struct simulated_op read_twice[] = {READ(0), READ(0)};
static const struct simulated_code nine_codes[] = {
	CODE(write_once), CODE(read_twice), CODE(read_twice)};
static const struct simulated_program nine_orders = {
	.codes = nine_codes, .code_count = 3, .initial_count = 3};

/* Two threads that write twice each: 6 orders, all of them different partial orders. */
static const struct simulated_op shared[] = {ADD(0, 1), ADD(0, 1)};
static const struct simulated_code shared_codes[] = {CODE(shared), CODE(shared)};
static const struct simulated_program six_orders = {
	.codes = shared_codes, .code_count = 2, .initial_count = 2};

/* Far more orders than runs. Few preemptions make few of them, free walks make a new one always. */
static const struct simulated_code many_codes[] = {
	CODE_REPEATED(shared, 30), CODE_REPEATED(shared, 30)};
static const struct simulated_program many_orders = {
	.codes = many_codes, .code_count = 2, .initial_count = 2};

/* One thread writes at once, the other between long walks: a random walk mixes only their starts. */
#define WALK READ(1), READ(1), READ(1), READ(1), READ(1), READ(1), READ(1), READ(1)
static const struct simulated_op hasty[] = {ADD(0, 1)};
static const struct simulated_op slow[] = {WALK, ADD(0, 1)};
static const struct simulated_code skewed_codes[] = {
	CODE_REPEATED(hasty, 10), CODE_REPEATED(slow, 10)};
static const struct simulated_program skewed_orders = {
	.codes = skewed_codes, .code_count = 2, .initial_count = 2};

/* Runs by arm. */
struct tally {
	const char *names[16];
	uint64_t runs[16];
	uint32_t count;
};

static struct tally tally_runs(const struct simulated_program *program, uint64_t run_count)
{
	struct simulated_campaign campaign;
	struct tally tally = {0};

	simulated_campaign_init(&campaign, program, &strategy_portfolio, 0, 1);
	(void)simulated_campaign_run(&campaign); /* the first run is round_robin's */
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

static void portfolio__begins_without_preemptions(void **unused)
{
	struct simulated_campaign campaign;

	(void)unused;
	simulated_campaign_init(&campaign, &many_orders, &strategy_portfolio, 0, 1);
	(void)simulated_campaign_run(&campaign); /* passes */
	assert_string_equal(portfolio_arm_name(campaign.state), "round_robin");
	assert_int_equal(campaign.run.preemption_count, 0);
	simulated_campaign_release(&campaign);
}

static void portfolio__names_arms_that_can_be_written_as_such(void **unused)
{
	const struct tally tally = tally_runs(&many_orders, 10 * SHARE);

	(void)unused;
	assert_int_equal(tally.count, ARMS);
	for (uint32_t i = 0; i < tally.count; i++)
		assert_non_null(strategy_find(tally.names[i], strcspn(tally.names[i], ",")));
}

static void portfolio__lets_no_arm_starve(void **unused)
{
	const uint64_t run_count = 100 * SHARE;
	const struct tally tally = tally_runs(&many_orders, run_count);

	(void)unused;
	assert_int_equal(tally.count, ARMS);
	for (uint32_t i = 0; i < tally.count; i++)
		assert_true(tally.runs[i] >= run_count / SHARE);
}

static void portfolio__gives_more_runs_to_what_shows_more(void **unused)
{
	const struct tally many = tally_runs(&many_orders, 20000);
	const struct tally skewed = tally_runs(&skewed_orders, 20000);

	(void)unused;
	/* An even split would be 2857 runs, the round alone 714. */
	assert_in_range(runs_of_arm(&many, "random"), 2500, 20000);
	assert_in_range(runs_of_arm(&many, "pct,depth=2"), 714, 2000);
	assert_in_range(runs_of_arm(&skewed, "random"), 714, 2000);
	assert_in_range(runs_of_arm(&skewed, "surw"), 4000, 20000);
}

/* Orders that are the same partial order show nothing new, so all arms stay equal. */
static void assert_even(const struct simulated_program *program)
{
	const struct tally tally = tally_runs(program, 20000);

	assert_int_equal(tally.count, ARMS);
	for (uint32_t i = 0; i < tally.count; i++)
		assert_in_range(tally.runs[i], 2500, 3200);
}

static void portfolio__counts_a_partial_order_once(void **unused)
{
	(void)unused;
	assert_even(&apart);
	assert_even(&readers);
	assert_even(&six_orders);
	assert_even(&nine_orders);
}

static void portfolio__makes_the_choices_of_the_arm_alone(void **unused)
{
	struct simulated_campaign together;
	struct simulated_run alone = {.program = &many_orders, .strategy = &strategy_random};
	uint64_t state[64];
	uint32_t compared = 0;

	(void)unused;
	assert_true(strategy_random.state_bytes(NULL) <= sizeof state);
	alone.state = state;
	simulated_campaign_init(&together, &many_orders, &strategy_portfolio, 0, 5);
	for (int run = 0; run < 100; run++) {
		(void)simulated_campaign_run(&together); /* passes */
		if (strcmp(portfolio_arm_name(together.state), "random") != 0)
			continue;
		alone.seed = together.run.seed;
		simulated_run(&alone);
		assert_int_equal(alone.order_hash, together.run.order_hash);
		compared++;
	}
	assert_in_range(compared, 5, 100);
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
	assert_true(guarantee.probability * SHARE * 2 * (double)guarantee.steps *
			    (double)guarantee.steps >
		    0.999);
	assert_true(guarantee.probability * SHARE * 2 * (double)guarantee.steps *
			    (double)guarantee.steps <
		    1.001);
	simulated_campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(portfolio__begins_without_preemptions),
		cmocka_unit_test(portfolio__names_arms_that_can_be_written_as_such),
		cmocka_unit_test(portfolio__lets_no_arm_starve),
		cmocka_unit_test(portfolio__gives_more_runs_to_what_shows_more),
		cmocka_unit_test(portfolio__counts_a_partial_order_once),
		cmocka_unit_test(portfolio__makes_the_choices_of_the_arm_alone),
		cmocka_unit_test(portfolio__guarantees_by_the_share_of_pct),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
