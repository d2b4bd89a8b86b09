#include "plan/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND UINT64_C(1000000000)

static uint64_t seconds_ago(uint64_t seconds)
{
	return platform_monotonic_ns() - seconds * SECOND;
}

static void test_budget_allows__runs_and_time(void **state)
{
	const struct budget budget = {.runs = 10, .time_ns = 100 * SECOND};

	(void)state;
	assert_true(budget_allows(&budget, 9, seconds_ago(0)));
	assert_false(budget_allows(&budget, 10, seconds_ago(0)));
	assert_false(budget_allows(&budget, 0, seconds_ago(100)));
}

static void test_budget_allows__some_runs_of_slow_programs(void **state)
{
	const struct budget budget = {
		.runs = 10, .time_ns = 100 * SECOND, .slow_runs = 5, .slow_time_ns = 1000 * SECOND};

	(void)state;
	assert_true(budget_allows(&budget, 4, seconds_ago(101)));
	assert_false(budget_allows(&budget, 5, seconds_ago(101)));
	assert_false(budget_allows(&budget, 0, seconds_ago(1000)));
	assert_false(budget_allows(&budget, 10, seconds_ago(0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_budget_allows__runs_and_time),
		cmocka_unit_test(test_budget_allows__some_runs_of_slow_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
