/* Tests surw besides its uniformity, which tests/statistical/test_surw.c tests. */
#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/simulated_program.h"

/* Objects 0 and 1 are shared, 2 and 3 are not. */
static const struct simulated_op left[] = {ADD(0, 1), ADD(2, 1), ADD(1, 1), ADD(2, 1), ADD(2, 1)};
static const struct simulated_op right[] = {ADD(3, 1), ADD(1, 1), ADD(3, 1), ADD(0, 1), ADD(3, 1)};
static const struct simulated_code codes[] = {CODE(left), CODE(right)};
static const struct simulated_program program = {
	.codes = codes, .code_count = 2, .initial_count = 2};

/* The same with many more ops on what is shared. */
static const struct simulated_code more_codes[] = {
	CODE_REPEATED(left, 50), CODE_REPEATED(right, 50)};
static const struct simulated_program more = {
	.codes = more_codes, .code_count = 2, .initial_count = 2};

/* The intended thread may wait for the other's lock while the other stands before a write. */
static const struct simulated_op holder[] = {
	LOCK(0), ADD(0, 1), ADD(0, 1), UNLOCK(0), ADD(0, 1), LOCK(1), UNLOCK(1)};
static const struct simulated_op wanter[] = {
	ADD(0, 1), LOCK(0), ADD(0, 1), UNLOCK(0), LOCK(1), ADD(0, 1), UNLOCK(1)};
static const struct simulated_code blocking_codes[] = {CODE(holder), CODE(wanter), CODE(wanter)};
static const struct simulated_program blocking = {
	.codes = blocking_codes, .code_count = 3, .initial_count = 3};

/* More pairs of thread and object than surw can learn. */
#define MANY 1000
static const struct simulated_op many_main_ops[] = {CREATE(1)};
static const struct simulated_op many_ops[] = {ADD(0, 1), ADD(1, 1), ADD(2, 1), ADD(3, 1),
	ADD(4, 1), ADD(5, 1), ADD(6, 1), ADD(7, 1), ADD(8, 1)};
static const struct simulated_code many_codes[] = {
	CODE_REPEATED(many_main_ops, MANY), CODE(many_ops)};
static const struct simulated_program many_threads = {
	.codes = many_codes, .code_count = 2, .initial_count = 1};

/*
 * Objects 0 to 9 are used under lock 0 alone, 10 freely. It fails when the thread with the long
 * path reaches 10 first, which hardly happens in runs that hold no thread back from it.
 */
#define GUARDED                                                                                    \
	LOCK(0), ADD(0, 1), ADD(1, 1), ADD(2, 1), ADD(3, 1), ADD(4, 1), ADD(5, 1), ADD(6, 1),      \
		ADD(7, 1), ADD(8, 1), ADD(9, 1), UNLOCK(0)
static const struct simulated_op near[] = {EXPECT(10, 0), GUARDED};
static const struct simulated_op far[] = {GUARDED, GUARDED, GUARDED, SET(10, 1)};
static const struct simulated_code guarded_codes[] = {CODE(near), CODE(far)};
static const struct simulated_program guarded = {
	.codes = guarded_codes, .code_count = 2, .initial_count = 2};

static void assert_all_pass(struct simulated_campaign *campaign, uint64_t runs)
{
	assert_int_equal(simulated_campaign_count(campaign, runs, OUTCOME_PASSED), runs);
}

static void surw__walks_at_random_before_it_knows_counts(void **unused)
{
	(void)unused;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct simulated_campaign weighted, random;

		simulated_campaign_init(&weighted, &program, &strategy_surw, 0, seed);
		simulated_campaign_init(&random, &program, &strategy_random, 0, seed);
		assert_all_pass(&weighted, 1);
		assert_all_pass(&random, 1);
		assert_int_equal(weighted.run.order_hash, random.run.order_hash);
		simulated_campaign_release(&weighted);
		simulated_campaign_release(&random);
	}
}

static void surw__ends_runs_that_do_more_than_was_learnt(void **unused)
{
	struct simulated_campaign campaign;

	(void)unused;
	simulated_campaign_init(&campaign, &program, &strategy_surw, 0, 1);
	assert_all_pass(&campaign, 10);
	campaign.run.program = &more;
	assert_all_pass(&campaign, 10);
	simulated_campaign_release(&campaign);
}

static void surw__ends_runs_that_do_less_than_was_learnt(void **unused)
{
	struct simulated_campaign campaign;

	(void)unused;
	simulated_campaign_init(&campaign, &more, &strategy_surw, 0, 1);
	assert_all_pass(&campaign, 10);
	campaign.run.program = &program;
	assert_all_pass(&campaign, 10);
	simulated_campaign_release(&campaign);
}

static void surw__continues_where_the_intended_thread_waits(void **unused)
{
	struct simulated_campaign campaign;

	(void)unused;
	simulated_campaign_init(&campaign, &blocking, &strategy_surw, 0, 1);
	assert_all_pass(&campaign, 2000);
	simulated_campaign_release(&campaign);
}

static void surw__does_without_what_it_cannot_keep(void **unused)
{
	struct simulated_campaign campaign;

	(void)unused;
	simulated_campaign_init(&campaign, &many_threads, &strategy_surw, 0, 1);
	assert_all_pass(&campaign, 3);
	simulated_campaign_release(&campaign);
}

/*
 * Lock 0 and object 10 are left, so half of the runs pick 10 and half of those fail: 100 of 400,
 * deviation 9. If the ten guarded objects counted, the share would be 1 in 24: 17. Fewer than 60
 * have a probability of 3e-6.
 */
static void surw__does_not_pick_what_a_lock_orders(void **unused)
{
	struct simulated_campaign campaign;

	(void)unused;
	simulated_campaign_init(&campaign, &guarded, &strategy_surw, 0, 1);
	assert_in_range(simulated_campaign_count(&campaign, 400, OUTCOME_ABORT), 60, 150);
	simulated_campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(surw__walks_at_random_before_it_knows_counts),
		cmocka_unit_test(surw__ends_runs_that_do_more_than_was_learnt),
		cmocka_unit_test(surw__ends_runs_that_do_less_than_was_learnt),
		cmocka_unit_test(surw__continues_where_the_intended_thread_waits),
		cmocka_unit_test(surw__does_without_what_it_cannot_keep),
		cmocka_unit_test(surw__does_not_pick_what_a_lock_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
