/* bounded finds what lies within its bounds, says when nothing is left, and finds nothing beyond. */
#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/bounded_campaign.h"

/* Runs until a failure or the end; true: it failed. */
static bool search(const struct simulated_program *program, const struct bounds *bounds,
	struct strategy_verdict *verdict)
{
	struct simulated_campaign campaign;
	bool has_failed = false;

	bounded_campaign_init(&campaign, program, bounds);
	while (!has_failed && !strategy_bounded.is_exhausted(campaign.state))
		has_failed = simulated_campaign_run(&campaign) == OUTCOME_ABORT;
	strategy_bounded.verdict(campaign.state, verdict);
	simulated_campaign_release(&campaign);
	return has_failed;
}

/* Between two reads of a variable somebody writes it: one preemption, one variable, two threads. */
static const struct simulated_op victim[] = {READ(0), ADVANCE(0, 1)};
static const struct simulated_op reader_twice[] = {ADVANCE(0, 0), ADVANCE(0, 2), REFUSE(0, 3)};
static const struct simulated_op between[] = {ADVANCE(0, 1)};
static const struct simulated_code atomicity_codes[] = {CODE(reader_twice), CODE(between)};
static const struct simulated_program atomicity = {
	.codes = atomicity_codes, .code_count = 2, .initial_count = 2};

static const struct simulated_op both_b[] = {ADVANCE(1, 0), ADD(2, 1)};

static void bounded__finds_what_is_within_its_bounds(void **state)
{
	struct strategy_verdict verdict;

	(void)state;
	assert_true(search(&atomicity, &(struct bounds){1, 1, 2, 0}, &verdict));
	assert_true(search(&atomicity, &(struct bounds){2, 0, 0, 0}, &verdict));
}

static void bounded__finds_nothing_beyond_them_and_says_so(void **state)
{
	struct strategy_verdict verdict;

	(void)state;
	assert_false(search(&atomicity, &(struct bounds){0, 1, 2, 0}, &verdict));
	assert_true(verdict.is_complete);
	assert_string_equal(verdict.scope, "with c ≤ 0, v ≤ 1, t ≤ 2");
	assert_true(verdict.missed == 0); /* two threads have two orders */
}

static void bounded__ends_where_no_variable_is_shared(void **state)
{
	static const struct simulated_code codes[] = {CODE(both_b), CODE(victim)};
	static const struct simulated_program apart = {
		.codes = codes, .code_count = 2, .initial_count = 2};
	struct strategy_verdict verdict;

	(void)state;
	assert_false(search(&apart, &(struct bounds){2, 0, 0, 0}, &verdict));
	assert_true(verdict.is_complete);
	assert_string_equal(verdict.scope, "");
}

static void bounded__repeats_nothing_when_it_widens_v(void **state)
{
	static const struct simulated_op first[] = {ADD(0, 1), ADD(1, 1), ADD(0, 1), ADD(1, 1)};
	static const struct simulated_code codes[] = {CODE(first), CODE(first), CODE(first)};
	static const struct simulated_program program = {
		.codes = codes, .code_count = 3, .initial_count = 3};
	struct strategy_verdict one, both, walk;

	(void)state;
	assert_false(search(&program, &(struct bounds){2, 1, 2, 0}, &one));
	assert_false(search(&program, &(struct bounds){2, 2, 2, 0}, &both));
	assert_false(search(&program, &(struct bounds){2, 0, 2, 0}, &walk));
	assert_true(one.runs < both.runs);
	assert_int_equal(walk.runs, both.runs);
	assert_string_equal(walk.scope, both.scope);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounded__finds_what_is_within_its_bounds),
		cmocka_unit_test(bounded__finds_nothing_beyond_them_and_says_so),
		cmocka_unit_test(bounded__ends_where_no_variable_is_shared),
		cmocka_unit_test(bounded__repeats_nothing_when_it_widens_v),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
