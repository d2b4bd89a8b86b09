/*
 * rpro keeps its guarantee: a deadlock of depth d and radius r shows at least with the probability
 * that the strategy itself states, with the n and k that it measured. In a long program with a
 * narrow bug, the deadlock shows far more often than under pct, which is the control.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "strategies/sampling/rpro.h"
#include "support/simulated_program.h"
#include "support/statistics.h"

/* Lock operations before and behind the bug, each thread on a lock of its own. */
#define PAIR(lock) LOCK(lock), UNLOCK(lock)
#define LITTLE(lock) PAIR(lock), PAIR(lock), PAIR(lock), PAIR(lock), PAIR(lock)
#define MUCH(lock)                                                                                 \
	LITTLE(lock), LITTLE(lock), LITTLE(lock), LITTLE(lock), LITTLE(lock), LITTLE(lock)

/* Both threads wait for each other here. Otherwise the radius would include the other thread's
 * whole past. */
#define REACH_ONE POST(0), TAKE(1)
#define REACH_OTHER POST(1), TAKE(0)

/* Depth 2: two locks in opposite orders. */
static const struct simulated_op one_2[] = {
	MUCH(10), REACH_ONE, LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0), MUCH(10)};
static const struct simulated_op other_2[] = {
	MUCH(11), REACH_OTHER, LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1), MUCH(11)};
/* Depth 3: the inner locks are only reached through a lock (2) that both must pass in turn; after
 * the deadlock of the paper's figure 4. */
static const struct simulated_op one_3[] = {MUCH(10), REACH_ONE, LOCK(2), LOCK(1), UNLOCK(1),
	LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0), UNLOCK(2), MUCH(10)};
static const struct simulated_op other_3[] = {MUCH(11), REACH_OTHER, LOCK(2), UNLOCK(2), LOCK(1),
	LOCK(0), UNLOCK(0), UNLOCK(1), MUCH(11)};

static const struct simulated_code codes_2[] = {CODE(one_2), CODE(other_2)};
static const struct simulated_code codes_3[] = {CODE(one_3), CODE(other_3)};
static const struct simulated_program deadlock_2 = {
	.codes = codes_2, .code_count = 2, .initial_count = 2};
static const struct simulated_program deadlock_3 = {
	.codes = codes_3, .code_count = 2, .initial_count = 2};

static void begin(struct simulated_campaign *campaign, const struct simulated_program *program,
	int64_t depth, int64_t radius, enum rpro_events events)
{
	simulated_campaign_init(campaign, program, &strategy_rpro, depth, statistics_seed(1));
	campaign->config.option[1] = radius;
	campaign->config.option[2] = events;
	campaign->config.option[3] = depth ? 0 : 2;
	memset(campaign->state, 0, campaign->state_bytes);
	strategy_begin_campaign(&strategy_rpro, campaign->state, &campaign->config);
	(void)simulated_campaign_run(campaign); /* learns; not counted */
}

static void assert_reaches_bound(const struct simulated_program *program, int64_t depth,
	int64_t radius, enum rpro_events events, uint64_t runs)
{
	struct simulated_campaign campaign;
	struct strategy_guarantee guarantee;
	uint64_t failures;

	begin(&campaign, program, depth, radius, events);
	failures = simulated_campaign_count(&campaign, runs, OUTCOME_DEADLOCK);
	assert_true(strategy_rpro.guarantee(campaign.state, &guarantee));
	/* Finding none would refute it. */
	assert_true(binomial_at_most(0, runs, guarantee.probability) < STATISTICS_ALPHA);
	assert_true(binomial_at_most(failures, runs, guarantee.probability) > STATISTICS_ALPHA);
	simulated_campaign_release(&campaign);
}

static void rpro__meets_its_bound_at_depth_2(void **unused)
{
	(void)unused;
	assert_reaches_bound(&deadlock_2, 2, 0, RPRO_EVENTS_ACQUIRE, 10000);
	assert_reaches_bound(&deadlock_2, 2, 0, RPRO_EVENTS_ALL, 20000);
}

static void rpro__meets_its_bound_at_depth_3(void **unused)
{
	(void)unused;
	assert_reaches_bound(&deadlock_3, 3, 4, RPRO_EVENTS_ACQUIRE, 60000);
	assert_reaches_bound(&deadlock_3, 3, 8, RPRO_EVENTS_ALL, 120000);
}

static uint64_t count_grid(const struct simulated_program *program, uint64_t runs)
{
	struct simulated_campaign campaign;
	uint64_t failures;

	begin(&campaign, program, 0, 0, RPRO_EVENTS_ACQUIRE);
	failures = simulated_campaign_count(&campaign, runs, OUTCOME_DEADLOCK);
	simulated_campaign_release(&campaign);
	return failures;
}

static uint64_t count_pct(const struct simulated_program *program, int64_t depth, uint64_t runs)
{
	struct simulated_campaign campaign;
	uint64_t failures;

	simulated_campaign_init(&campaign, program, &strategy_pct, depth, statistics_seed(1));
	(void)simulated_campaign_run(&campaign); /* learns; not counted */
	failures = simulated_campaign_count(&campaign, runs, OUTCOME_DEADLOCK);
	simulated_campaign_release(&campaign);
	return failures;
}

static void rpro__grid_beats_pct_where_the_bug_is_narrow(void **unused)
{
	const uint64_t runs = 20000;
	const uint64_t grid = count_grid(&deadlock_3, runs);
	const uint64_t control = count_pct(&deadlock_3, 3, runs);
	const double rate = (double)grid / (double)runs;

	(void)unused;
	print_message("grid %llu, pct %llu of %llu\n", (unsigned long long)grid,
		(unsigned long long)control, (unsigned long long)runs);
	/* pct at an eighth of the grid's rate would find so few with a chance below alpha. */
	assert_true(grid > 50);
	assert_true(binomial_at_most(control, runs, rate / 8) < STATISTICS_ALPHA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rpro__meets_its_bound_at_depth_2),
		cmocka_unit_test(rpro__meets_its_bound_at_depth_3),
		cmocka_unit_test(rpro__grid_beats_pct_where_the_bug_is_narrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
