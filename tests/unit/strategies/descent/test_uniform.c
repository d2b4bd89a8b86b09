/* Tests uniform: it draws orders evenly, ends every run, and says what it cannot learn. */
#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/simulated_program.h"

/* One of six orders fails: both writes of the busy thread precede those of the idle one. */
#define BUSY READ(2), READ(2), READ(2), READ(2), READ(2)
static const struct simulated_op busy[] = {BUSY, ADVANCE(0, 0), BUSY, ADVANCE(0, 1), BUSY};
static const struct simulated_op idle[] = {ADVANCE(0, 2), REFUSE(0, 3)};
static const struct simulated_code busy_codes[] = {CODE(busy), CODE(idle)};
static const struct simulated_program uneven = {
	.codes = busy_codes, .code_count = 2, .initial_count = 2};

/*
 * Eight threads count under a lock, one without. The write of the latter has 17 positions among their
 * reads and writes. Two of these positions make the count nine.
 */
static const struct simulated_op counts[] = {LOCK(0), READ(0), ADD(0, 1), UNLOCK(0)};
static const struct simulated_op counts_unlocked[] = {ADVANCE(0, 4)};
static const struct simulated_op starts[] = {CREATE(1), CREATE(1), CREATE(1), CREATE(1), CREATE(1),
	CREATE(1), CREATE(1), CREATE(1), CREATE(2), JOIN(0), JOIN(1), JOIN(2), JOIN(3), JOIN(4),
	JOIN(5), JOIN(6), JOIN(7), JOIN(8), REFUSE(0, 9)};
static const struct simulated_code guarded_codes[] = {
	CODE(starts), CODE(counts), CODE(counts_unlocked)};
static const struct simulated_program guarded = {
	.codes = guarded_codes, .code_count = 3, .initial_count = 1};

static const struct simulated_op holder[] = {
	LOCK(0), ADD(0, 1), ADD(0, 1), UNLOCK(0), ADD(0, 1), LOCK(1), UNLOCK(1)};
static const struct simulated_op wanter[] = {
	ADD(0, 1), LOCK(0), ADD(0, 1), UNLOCK(0), LOCK(1), ADD(0, 1), UNLOCK(1)};
static const struct simulated_code blocking_codes[] = {CODE(holder), CODE(wanter), CODE(wanter)};
static const struct simulated_program blocking = {
	.codes = blocking_codes, .code_count = 3, .initial_count = 3};
static const struct simulated_code more_codes[] = {
	CODE_REPEATED(holder, 20), CODE_REPEATED(wanter, 20), CODE(wanter)};
static const struct simulated_program more = {
	.codes = more_codes, .code_count = 3, .initial_count = 3};

/* No op is an access to memory. */
static const struct simulated_op locker[] = {LOCK(0), UNLOCK(0), LOCK(1), UNLOCK(1)};
static const struct simulated_code locking_codes[] = {CODE(locker), CODE(locker)};
static const struct simulated_program locking = {
	.codes = locking_codes, .code_count = 2, .initial_count = 2};

/* More steps than a lesson has room for. */
static const struct simulated_code long_codes[] = {
	CODE_REPEATED(holder, 200), CODE_REPEATED(wanter, 200)};
static const struct simulated_program long_program = {
	.codes = long_codes, .code_count = 2, .initial_count = 2};

/* More threads than a descent follows. */
static const struct simulated_op create[] = {CREATE(1)};
static const struct simulated_op member[] = {ADD(0, 1)};
static const struct simulated_code many_codes[] = {CODE_REPEATED(create, 40), CODE(member)};
static const struct simulated_program many_threads = {
	.codes = many_codes, .code_count = 2, .initial_count = 1};

static uint64_t failures(
	const struct simulated_program *program, const struct strategy *strategy, uint64_t runs)
{
	struct simulated_campaign campaign;
	uint64_t count;

	simulated_campaign_init(&campaign, program, strategy, 0, 1);
	count = simulated_campaign_count(&campaign, runs, OUTCOME_ABORT);
	simulated_campaign_release(&campaign);
	return count;
}

/* 100 of 600, deviation 9. Fewer than 60 or more than 140 have a probability below 2e-5. */
static void uniform__draws_each_order_as_often(void **unused)
{
	(void)unused;
	assert_in_range(failures(&uneven, &strategy_uniform, 600), 60, 140);
	assert_in_range(failures(&uneven, &strategy_random, 600), 0, 30);
}

/* 212 of 1800 if exactly even, deviation 14. The shares are approximate, so the interval is wide. */
static void uniform__counts_threads_that_await_a_lock(void **unused)
{
	(void)unused;
	assert_in_range(failures(&guarded, &strategy_uniform, 1800), 106, 318);
}

/* Runs `learnt` 20 times, then `then`. Returns how well what is learnt serves the strategy. */
static enum strategy_ability ability_after(
	const struct simulated_program *learnt, const struct simulated_program *then, uint64_t runs)
{
	struct simulated_campaign campaign;
	enum strategy_ability ability;

	simulated_campaign_init(&campaign, learnt, &strategy_uniform, 0, 1);
	assert_int_equal(strategy_uniform.learning.ability(campaign.state), NOT_ABLE);
	assert_int_equal(simulated_campaign_count(&campaign, 20, OUTCOME_PASSED), 20);
	campaign.run.program = then;
	assert_int_equal(simulated_campaign_count(&campaign, runs, OUTCOME_PASSED), runs);
	ability = strategy_uniform.learning.ability(campaign.state);
	simulated_campaign_release(&campaign);
	return ability;
}

static void uniform__ends_runs_that_block_or_differ_from_what_was_learnt(void **unused)
{
	(void)unused;
	assert_int_equal(ability_after(&blocking, &blocking, 2000), ABLE);
	assert_int_equal(ability_after(&blocking, &more, 20), ABLE);
	assert_int_equal(ability_after(&more, &blocking, 20), ABLE);
}

static void uniform__is_not_able_without_room_for_a_run(void **unused)
{
	(void)unused;
	assert_int_equal(ability_after(&long_program, &long_program, 5), NOT_ABLE);
	assert_int_equal(ability_after(&many_threads, &many_threads, 5), NOT_ABLE);
	assert_int_equal(ability_after(&blocking, &many_threads, 20), NOT_ABLE);
}

static void uniform__is_partly_able_without_accesses_to_memory(void **unused)
{
	(void)unused;
	assert_int_equal(ability_after(&locking, &locking, 20), PARTLY_ABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uniform__draws_each_order_as_often),
		cmocka_unit_test(uniform__counts_threads_that_await_a_lock),
		cmocka_unit_test(uniform__ends_runs_that_block_or_differ_from_what_was_learnt),
		cmocka_unit_test(uniform__is_not_able_without_room_for_a_run),
		cmocka_unit_test(uniform__is_partly_able_without_accesses_to_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
