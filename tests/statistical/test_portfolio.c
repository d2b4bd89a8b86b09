/*
 * portfolio: whichever strategy suits a program, the mix has at least its share of that one's
 * success. Three programs, each made for another arm; the best arm's success is measured alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/simulated_program.h"
#include "support/statistics.h"

#define SHARE 16 /* an arm has one run in so many at least */
#define RUNS 24000

#define WALK READ(1), READ(1), READ(1), READ(1), READ(1)

/* Program for pct: a long walk between two neighbouring ops of the other thread. */
static const struct simulated_op walker[] = {WALK, WALK, WALK, WALK, ADVANCE(0, 1)};
static const struct simulated_op waylaid[] = {ADVANCE(0, 0), ADVANCE(0, 2), REFUSE(0, 3)};
static const struct simulated_code pct_codes[] = {CODE(waylaid), CODE(walker)};

/* Program for random and surw: the threads alternate six times, so five preemptions in the right
 * places. */
static const struct simulated_op even[] = {ADVANCE(0, 0), ADVANCE(0, 2), ADVANCE(0, 4)};
static const struct simulated_op odd[] = {
	ADVANCE(0, 1), ADVANCE(0, 3), ADVANCE(0, 5), REFUSE(0, 6)};
static const struct simulated_code turn_codes[] = {CODE(even), CODE(odd)};

/* Program for pos and surw: the last write of a busy thread must precede the first of an idle
 * one. */
#define BUSY(own) READ(own), READ(own), READ(own), READ(own), READ(own)
static const struct simulated_op busy[] = {BUSY(2), ADVANCE(0, 0), BUSY(2), ADVANCE(0, 1), BUSY(2)};
static const struct simulated_op idle[] = {ADVANCE(0, 2), REFUSE(0, 3)};
static const struct simulated_code busy_codes[] = {CODE(busy), CODE(idle)};

static const struct simulated_program programs[] = {
	{.codes = pct_codes, .code_count = 2, .initial_count = 2},
	{.codes = turn_codes, .code_count = 2, .initial_count = 2},
	{.codes = busy_codes, .code_count = 2, .initial_count = 2},
};

static uint64_t failures(const struct simulated_program *program, const struct strategy *strategy,
	int64_t option, uint64_t seed)
{
	struct simulated_campaign campaign;
	uint64_t count;

	simulated_campaign_init(&campaign, program, strategy, option, statistics_seed(seed));
	count = simulated_campaign_count(&campaign, RUNS, OUTCOME_ABORT);
	simulated_campaign_release(&campaign);
	return count;
}

static uint64_t best_arm(const struct simulated_program *program)
{
	static const struct {
		const struct strategy *strategy;
		int64_t option;
	} arms[] = {{&strategy_random, 0}, {&strategy_pct, 2}, {&strategy_pct, 3},
		{&strategy_pct, 5}, {&strategy_pos, 0}, {&strategy_surw, 0}};
	uint64_t best = 0;

	for (size_t i = 0; i < sizeof arms / sizeof *arms; i++) {
		const uint64_t count = failures(program, arms[i].strategy, arms[i].option, 1 + i);

		if (count > best)
			best = count;
	}
	return best;
}

static void portfolio__has_its_share_of_the_best_arm(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		const double rate = (double)best_arm(&programs[i]) / RUNS;
		const uint64_t count = failures(&programs[i], &strategy_portfolio, 0, 99);

		/* The test can distinguish the rates: finding none would fail it. */
		assert_true(binomial_at_most(0, RUNS, rate / SHARE) < STATISTICS_ALPHA);
		assert_true(binomial_at_most(count, RUNS, rate / SHARE) > STATISTICS_ALPHA);
	}
}

static void single_arms__do_not_have_their_share_everywhere(void **unused)
{
	const double walk_rate = (double)best_arm(&programs[0]) / RUNS;
	const double turn_rate = (double)best_arm(&programs[1]) / RUNS;
	const uint64_t walk = failures(&programs[0], &strategy_random, 0, 99);
	const uint64_t fixed = failures(&programs[1], &strategy_pct, 2, 99);

	(void)unused;
	assert_true(binomial_at_most(walk, RUNS, walk_rate / SHARE) < STATISTICS_ALPHA);
	assert_true(binomial_at_most(fixed, RUNS, turn_rate / SHARE) < STATISTICS_ALPHA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(portfolio__has_its_share_of_the_best_arm),
		cmocka_unit_test(single_arms__do_not_have_their_share_everywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
