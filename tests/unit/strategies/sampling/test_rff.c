/* Tests rff: it reaches rare pairs of ops, ends every run, and does without what it cannot learn. */
#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/simulated_program.h"

/* The run fails if the checker reads variable 0 after one setter's write, and variable 1 before all
 * setters' writes. */
#define SETTERS 30
static const struct simulated_op setter[] = {SET(0, 1), SET(1, 1)};
static const struct simulated_op checker[] = {LEAVE(0, 0), EXPECT(1, 1)};
static const struct simulated_op create_setter[] = {CREATE(1)};
static const struct simulated_op create_checker[] = {CREATE(2)};
static const struct simulated_op creator[] = {CREATE(3), CREATE(4)};
static const struct simulated_code reorder_codes[] = {CODE(creator), CODE(setter), CODE(checker),
	CODE_REPEATED(create_setter, SETTERS), CODE(create_checker)};
static const struct simulated_program reorder = {
	.codes = reorder_codes, .code_count = 5, .initial_count = 1};

/* A delayed thread may hold the lock that all others need. */
static const struct simulated_op holder[] = {
	LOCK(0), ADD(0, 1), ADD(0, 1), UNLOCK(0), ADD(0, 1), LOCK(1), UNLOCK(1)};
static const struct simulated_op wanter[] = {
	ADD(0, 1), LOCK(0), ADD(0, 1), UNLOCK(0), LOCK(1), ADD(0, 1), UNLOCK(1)};
static const struct simulated_code blocking_codes[] = {CODE(holder), CODE(wanter), CODE(wanter)};
static const struct simulated_program blocking = {
	.codes = blocking_codes, .code_count = 3, .initial_count = 3};

/* More pairs than a lesson has room for. */
static const struct simulated_op many[] = {ADD(0, 1), ADD(1, 1), ADD(2, 1), ADD(3, 1), ADD(4, 1),
	ADD(5, 1), ADD(6, 1), ADD(7, 1), ADD(8, 1), ADD(9, 1), ADD(10, 1), ADD(11, 1), ADD(12, 1)};
static const struct simulated_code long_codes[] = {
	CODE_REPEATED(many, 300), CODE_REPEATED(many, 300), CODE_REPEATED(many, 300)};
static const struct simulated_program long_program = {
	.codes = long_codes, .code_count = 3, .initial_count = 3};

/* Returns how many of 100 campaigns fail within 20 runs. */
static unsigned campaigns_that_fail(const struct strategy *strategy)
{
	unsigned failed = 0;

	for (uint64_t seed = 1; seed <= 100; seed++) {
		struct simulated_campaign campaign;

		simulated_campaign_init(&campaign, &reorder, strategy, 0, seed);
		failed += simulated_campaign_count(&campaign, 20, OUTCOME_ABORT) != 0;
		simulated_campaign_release(&campaign);
	}
	return failed;
}

static void rff__reaches_rare_pairs(void **unused)
{
	(void)unused;
	assert_true(campaigns_that_fail(&strategy_rff) >= 90);
	assert_true(campaigns_that_fail(&strategy_pos) <= 60);
}

static void rff__ends_runs_whose_constraints_cannot_hold(void **unused)
{
	struct simulated_campaign campaign;

	(void)unused;
	simulated_campaign_init(&campaign, &blocking, &strategy_rff, 0, 1);
	assert_int_equal(simulated_campaign_count(&campaign, 2000, OUTCOME_PASSED), 2000);
	campaign.run.program = &reorder;
	assert_true(simulated_campaign_count(&campaign, 200, OUTCOME_PASSED) > 0);
	simulated_campaign_release(&campaign);
}

static void rff__does_without_pairs_that_it_has_no_room_for(void **unused)
{
	struct simulated_campaign campaign;

	(void)unused;
	simulated_campaign_init(&campaign, &long_program, &strategy_rff, 0, 1);
	assert_int_equal(simulated_campaign_count(&campaign, 20, OUTCOME_PASSED), 20);
	simulated_campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rff__reaches_rare_pairs),
		cmocka_unit_test(rff__ends_runs_whose_constraints_cannot_hold),
		cmocka_unit_test(rff__does_without_pairs_that_it_has_no_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
