/* random: each enabled thread is equally likely, whatever their number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulated_program.h"
#include "support/statistics.h"

#define THREADS 6

static const struct simulated_op main_ops[] = {
	CREATE(1), CREATE(1), CREATE(1), CREATE(1), CREATE(1), JOIN(0)};
static const struct simulated_op worker_ops[] = {LOCK(0), ADD(0, 1), UNLOCK(0), LOCK(1), UNLOCK(1)};
static const struct simulated_code codes[] = {CODE(main_ops), CODE(worker_ops)};
static const struct simulated_program program = {
	.codes = codes, .code_count = 2, .initial_count = 1};

/* How often the enabled thread of each rank was chosen, by the number of enabled threads. */
struct ranks {
	uint64_t count[THREADS + 1][THREADS];
};

static void note_rank(void *context, const struct schedule_view *view, struct thread_id chosen)
{
	struct ranks *ranks = context;
	const uint64_t below = view->enabled[0] & ((UINT64_C(1) << chosen.index) - 1);

	ranks->count[view->enabled_count][__builtin_popcountll(below)]++;
}

static void measure(const struct strategy *strategy, struct ranks *ranks)
{
	struct simulated_campaign campaign;

	memset(ranks, 0, sizeof *ranks);
	simulated_campaign_init(&campaign, &program, strategy, 0, statistics_seed(1));
	campaign.run.observe = note_rank;
	campaign.run.context = ranks;
	assert_int_equal(simulated_campaign_count(&campaign, 5000, OUTCOME_PASSED), 5000);
	simulated_campaign_release(&campaign);
}

static void random__is_uniform_over_enabled_threads(void **unused)
{
	struct ranks ranks;

	(void)unused;
	measure(&strategy_random, &ranks);
	for (uint32_t enabled = 2; enabled < THREADS; enabled++)
		assert_true(
			chi_square_test(ranks.count[enabled], NULL, enabled) > STATISTICS_ALPHA);
}

static void round_robin__fails_the_test_of_uniformity(void **unused)
{
	struct ranks ranks;

	(void)unused;
	measure(&strategy_round_robin, &ranks);
	for (uint32_t enabled = 2; enabled < 4; enabled++)
		assert_true(
			chi_square_test(ranks.count[enabled], NULL, enabled) < STATISTICS_ALPHA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random__is_uniform_over_enabled_threads),
		cmocka_unit_test(round_robin__fails_the_test_of_uniformity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
