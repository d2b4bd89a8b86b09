/* Tests the contract of strategy.h for every strategy of strategies.def. */
#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulated_program.h"

/* Two locks in either order, a condition variable, and writes: can pass, fail and deadlock. */
static const struct simulated_op parent_ops[] = {CREATE(1), CREATE(2), CREATE(3), LOCK(0),
	ADD(0, 1), SET(1, 1), BROADCAST(0), UNLOCK(0), JOIN(0), JOIN(1), JOIN(2)};
static const struct simulated_op forward_ops[] = {
	LOCK(0), LOCK(1), ADD(0, 1), UNLOCK(1), UNLOCK(0)};
static const struct simulated_op backward_ops[] = {
	LOCK(1), LOCK(0), READ(0), UNLOCK(0), UNLOCK(1), REFUSE(0, 1)};
static const struct simulated_op waiter_ops[] = {LOCK(0), WAIT(0, 0), ADD(2, 1), UNLOCK(0)};
static const struct simulated_code mixed_codes[] = {
	CODE(parent_ops), CODE(forward_ops), CODE(backward_ops), CODE(waiter_ops)};
static const struct simulated_program mixed = {
	.codes = mixed_codes, .code_count = 4, .initial_count = 1};

/* Main makes a thousand threads that share a lock, and joins the last. */
#define MANY 1000
static const struct simulated_op many_main_ops[] = {CREATE(1)};
static const struct simulated_op many_ops[] = {LOCK(0), ADD(0, 1), UNLOCK(0)};
static const struct simulated_code many_codes[] = {
	CODE_REPEATED(many_main_ops, MANY), CODE(many_ops)};
static const struct simulated_program many_threads = {
	.codes = many_codes, .code_count = 2, .initial_count = 1};

/* The maximum number of threads of a run; each does one op. */
static const struct simulated_op short_ops[] = {ADD(0, 1)};
static const struct simulated_code full_codes[] = {
	CODE_REPEATED(many_main_ops, THREAD_CAPACITY - 1), CODE(short_ops)};
static const struct simulated_program full = {
	.codes = full_codes, .code_count = 2, .initial_count = 1};

/* Strategies of which it is known; a new one need not be listed. */
static const struct strategy *const random_ones[] = {
	&strategy_random, &strategy_pct, &strategy_pos, &strategy_surw, &strategy_portfolio};
static const struct strategy *const fixed_ones[] = {&strategy_round_robin, &strategy_replay};

static void strategies__are_found_by_their_name(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		const char *name = strategies[i]->name;

		assert_ptr_equal(strategy_find(name, strlen(name)), strategies[i]);
		assert_null(strategy_find(name, strlen(name) - 1));
	}
	assert_ptr_equal(strategy_find("pct,depth=3", 3), &strategy_pct);
	assert_null(strategy_find("pctx", 4));
	assert_null(strategy_find("", 0));
}

static void strategies__bear_the_name_of_their_row(void **unused)
{
	static const char *const names[] = {
#define STRATEGY(symbol, name) name,
#include "strategies/strategies.def"
#undef STRATEGY
	};

	(void)unused;
	assert_int_equal(strategy_count, sizeof names / sizeof *names);
	for (uint32_t i = 0; i < strategy_count; i++) {
		assert_string_equal(strategies[i]->name, names[i]);
		assert_non_null(strategies[i]->summary);
		assert_null(strchr(strategies[i]->summary, '\n'));
	}
}

static void strategies__have_options_with_a_range_and_help(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		const struct strategy_option *option = strategies[i]->options;

		for (uint32_t count = 0; option && option->name; option++) {
			assert_true(option->least <= option->most);
			for (int64_t word = 0; option->words && word <= option->most; word++)
				assert_non_null(option->words[word]);
			assert_non_null(option->help);
			assert_true(++count <= STRATEGY_OPTIONS_MAX);
		}
	}
}

static void strategies__choose_only_enabled_threads(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		struct simulated_campaign campaign;
		uint32_t threads_most = 0; /* a run that fails may make fewer */

		simulated_campaign_init(&campaign, &mixed, strategies[i], 0, 1);
		for (uint32_t run = 0; run < 500; run++) {
			assert_int_not_equal(simulated_campaign_run(&campaign), OUTCOME_REFUSED);
			if (campaign.run.thread_count > threads_most)
				threads_most = campaign.run.thread_count;
		}
		assert_int_equal(threads_most, 4);
		simulated_campaign_release(&campaign);
	}
}

static void strategies__repeat_a_campaign_of_the_same_seed(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		struct simulated_campaign first, second;

		simulated_campaign_init(&first, &mixed, strategies[i], 0, 7);
		simulated_campaign_init(&second, &mixed, strategies[i], 0, 7);
		for (int run = 0; run < 200; run++) {
			(void)simulated_campaign_run(&first); /* the order is what counts */
			(void)simulated_campaign_run(&second);
			assert_int_equal(first.run.order_hash, second.run.order_hash);
		}
		simulated_campaign_release(&first);
		simulated_campaign_release(&second);
	}
}

/* Counts the runs, of 200, that have another order under another seed. */
static uint32_t count_different(const struct strategy *strategy)
{
	struct simulated_campaign first, second;
	uint32_t different = 0;

	simulated_campaign_init(&first, &mixed, strategy, 0, 7);
	simulated_campaign_init(&second, &mixed, strategy, 0, 8);
	for (int run = 0; run < 200; run++) {
		(void)simulated_campaign_run(&first); /* the order is what counts */
		(void)simulated_campaign_run(&second);
		different += first.run.order_hash != second.run.order_hash;
	}
	simulated_campaign_release(&first);
	simulated_campaign_release(&second);
	return different;
}

static void strategies__differ_between_seeds_when_random(void **unused)
{
	(void)unused;
	/* Most runs have more than ten likely orders. */
	for (size_t i = 0; i < sizeof random_ones / sizeof *random_ones; i++)
		assert_in_range(count_different(random_ones[i]), 100, 200);
	for (size_t i = 0; i < sizeof fixed_ones / sizeof *fixed_ones; i++)
		assert_int_equal(count_different(fixed_ones[i]), 0);
}

static void strategies__keep_no_addresses_in_their_state(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		struct simulated_campaign still, moved;

		simulated_campaign_init(&still, &mixed, strategies[i], 0, 3);
		simulated_campaign_init(&moved, &mixed, strategies[i], 0, 3);
		for (int run = 0; run < 60; run++) {
			(void)simulated_campaign_run(&still); /* the order is what counts */
			(void)simulated_campaign_run(&moved);
			assert_int_equal(still.run.order_hash, moved.run.order_hash);
			/* Less and less often: some states are of a hundred megabytes. */
			if (!(run & (run + 1)))
				simulated_campaign_relocate(&moved);
		}
		simulated_campaign_release(&still);
		simulated_campaign_release(&moved);
	}
}

static void strategies__continue_after_a_run_that_died(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		struct simulated_campaign campaign;

		simulated_campaign_init(&campaign, &mixed, strategies[i], 0, 11);
		for (uint32_t run = 0; run < 100; run++) {
			campaign.run.crash_after = run % 3 ? 0 : 1 + run % 11;
			(void)simulated_campaign_run(&campaign); /* some die, some do not */
			assert_false(campaign.run.has_false_choice);
			if (campaign.run.step_count == campaign.run.crash_after)
				assert_int_equal(campaign.run.outcome, OUTCOME_CRASH);
		}
		simulated_campaign_release(&campaign);
	}
}

static void strategies__take_over_from_another_hand(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		struct simulated_campaign campaign;

		simulated_campaign_init(&campaign, &mixed, strategies[i], 0, 5);
		for (uint32_t run = 0; run < 100; run++) {
			campaign.run.prefix_steps = run % 20;
			(void)simulated_campaign_run(&campaign); /* any outcome is fine */
			assert_false(campaign.run.has_false_choice);
		}
		simulated_campaign_release(&campaign);
	}
}

static void strategies__carry_a_thousand_threads(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		struct simulated_campaign campaign;

		simulated_campaign_init(&campaign, &many_threads, strategies[i], 0, 2);
		assert_int_equal(simulated_campaign_count(&campaign, 3, OUTCOME_PASSED), 3);
		assert_int_equal(campaign.run.thread_count, MANY + 1);
		assert_int_equal(campaign.run.step_count, MANY + 4 * MANY);
		simulated_campaign_release(&campaign);
	}
}

static void strategies__carry_as_many_threads_as_a_run_may_have(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		struct simulated_campaign campaign;

		simulated_campaign_init(&campaign, &full, strategies[i], 0, 2);
		assert_int_equal(simulated_campaign_run(&campaign), OUTCOME_PASSED);
		assert_int_equal(campaign.run.thread_count, THREAD_CAPACITY);
		simulated_campaign_release(&campaign);
	}
}

/* Tasks travel between processes, and states of such searches are saved. */
static void strategies__with_tasks_validate_their_states(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++)
		if (strategies[i]->search.tasks || strategies[i]->search.is_exhausted)
			assert_non_null(strategies[i]->search.is_valid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strategies__are_found_by_their_name),
		cmocka_unit_test(strategies__with_tasks_validate_their_states),
		cmocka_unit_test(strategies__bear_the_name_of_their_row),
		cmocka_unit_test(strategies__have_options_with_a_range_and_help),
		cmocka_unit_test(strategies__choose_only_enabled_threads),
		cmocka_unit_test(strategies__repeat_a_campaign_of_the_same_seed),
		cmocka_unit_test(strategies__differ_between_seeds_when_random),
		cmocka_unit_test(strategies__keep_no_addresses_in_their_state),
		cmocka_unit_test(strategies__continue_after_a_run_that_died),
		cmocka_unit_test(strategies__take_over_from_another_hand),
		cmocka_unit_test(strategies__carry_a_thousand_threads),
		cmocka_unit_test(strategies__carry_as_many_threads_as_a_run_may_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
