/* How the time of a suite is shared among its cases, and the order of its findings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "commands/test/test_share.h"

#define SECOND UINT64_C(1000000000)

static void test_share__waiting_cases_are_first(void **state)
{
	struct test_case cases[] = {{.state = CASE_LIVE, .novel = 100, .spent_ns = 1},
		{.state = CASE_SINGLE}, {.state = CASE_WAITING}};
	const struct test_suite suite = {.cases = cases, .count = 3, .total = 3};

	(void)state;
	assert_int_equal(test_share_next(&suite), 2);
	cases[2].state = CASE_BROKEN;
	assert_int_equal(test_share_next(&suite), 0);
	cases[0].state = CASE_COMPLETE;
	assert_int_equal(test_share_next(&suite), 3);
}

static void test_share__new_pairs_of_locations_attract_time(void **state)
{
	struct test_case cases[] = {
		{.state = CASE_LIVE, .novel = 10, .spent_ns = SECOND, .runs = 100},
		{.state = CASE_LIVE, .novel = 30, .spent_ns = 2 * SECOND, .runs = 100},
		{.state = CASE_LIVE, .novel = 60, .spent_ns = SECOND, .kinds = 2, .runs = 100}};
	const struct test_suite suite = {.cases = cases, .count = 3, .total = 3};

	(void)state;
	assert_int_equal(test_share_next(&suite), 1);
	cases[1].novel = 0;
	assert_int_equal(test_share_next(&suite), 0);
}

/* Cases that show nothing new get turns of about the same total time. */
static void test_share__nothing_new_shares_evenly(void **state)
{
	struct test_case cases[3] = {
		{.state = CASE_LIVE}, {.state = CASE_LIVE}, {.state = CASE_LIVE}};
	const struct test_suite suite = {.cases = cases, .count = 3, .total = 3};

	(void)state;
	for (int turn = 0; turn < 300; turn++)
		cases[test_share_next(&suite)].spent_ns += SECOND;
	for (int i = 0; i < 3; i++)
		assert_int_equal(cases[i].spent_ns, 100 * SECOND);
}

static void test_share__first_slices_of_waiting_cases_are_reserved(void **state)
{
	struct test_case cases[] = {
		{.state = CASE_WAITING}, {.state = CASE_WAITING}, {.state = CASE_LIVE}};
	const struct test_suite suite = {.cases = cases, .count = 3, .total = 3};

	(void)state;
	assert_int_equal(test_share_campaign_ns(&suite, SECOND, 10 * SECOND), 8 * SECOND);
	assert_int_equal(test_share_campaign_ns(&suite, SECOND, 2 * SECOND), SECOND);
	assert_int_equal(test_share_campaign_ns(&suite, SECOND, UINT64_MAX), UINT64_MAX);
	/* With a number of schedules, a slice has no length. */
	assert_int_equal(test_share_campaign_ns(&suite, UINT64_MAX / 8, 2 * SECOND), 2 * SECOND);
	cases[0].state = cases[1].state = CASE_LIVE;
	assert_int_equal(test_share_campaign_ns(&suite, SECOND, 10 * SECOND), 10 * SECOND);
}

static void test_share__slices(void **state)
{
	struct test_case test = {.state = CASE_WAITING};
	const uint64_t first_ns = test_share_first_ns(120 * SECOND, 200);

	(void)state;
	assert_int_equal(first_ns, 150000000);
	assert_int_equal(test_share_first_ns(SECOND, 1000), 50000000);
	assert_int_equal(test_share_first_ns(0, 1000), 2 * SECOND);
	assert_int_equal(test_share_slice_ns(&test, first_ns, 120 * SECOND), first_ns);
	test.state = CASE_LIVE;
	test.slice_ns = SECOND;
	assert_int_equal(test_share_slice_ns(&test, first_ns, 120 * SECOND), 2 * SECOND);
	assert_int_equal(test_share_slice_ns(&test, first_ns, 8 * SECOND), SECOND);
}

static void test_suite__ranks_and_joins_findings(void **state)
{
	struct test_suite suite = {0};
	char status[] = "exit: the program ended with status 1", crash[] = "crash";
	struct test_finding finding = {.id = "F1",
		.title = status,
		.kind = OUTCOME_EXIT,
		.is_repeatable = true,
		.is_own_code = true};

	(void)state;
	assert_true(test_suite_add(&suite, "", "", "one"));
	assert_true(test_suite_add(&suite, "", "", "two"));
	assert_false(test_suite_add(&suite, "", "", "two"));
	(void)test_suite_add_finding(&suite, 0, &finding);
	(void)test_suite_add_finding(&suite, 1, &finding);
	(void)test_suite_add_finding(&suite, 1, &finding);
	assert_int_equal(suite.finding_count, 2); /* equal statuses have different reasons */
	finding.kind = OUTCOME_CRASH;
	finding.title = crash;
	finding.is_own_code = false;
	(void)test_suite_add_finding(&suite, 0, &finding);
	(void)test_suite_add_finding(&suite, 1, &finding);
	assert_int_equal(suite.finding_count, 3);
	assert_int_equal(suite.findings[2].case_count, 2);
	test_suite_rank(&suite);
	assert_int_equal(suite.findings[2].kind, OUTCOME_CRASH); /* in a library */
	suite.findings[2].is_own_code = true;
	test_suite_rank(&suite);
	assert_int_equal(suite.findings[0].kind, OUTCOME_CRASH);
	suite.cases[1].runs = 10;
	suite.cases[1].failures = 3; /* the crash is of both cases, the second status of this one */
	suite.findings[0].case_count = 1;
	test_suite_rank(&suite);
	assert_int_equal(suite.findings[0].cases[0], 1);
	test_suite_release(&suite);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_share__waiting_cases_are_first),
		cmocka_unit_test(test_share__new_pairs_of_locations_attract_time),
		cmocka_unit_test(test_share__nothing_new_shares_evenly),
		cmocka_unit_test(test_share__first_slices_of_waiting_cases_are_reserved),
		cmocka_unit_test(test_share__slices),
		cmocka_unit_test(test_suite__ranks_and_joins_findings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
