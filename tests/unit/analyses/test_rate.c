/* Rates with their intervals, against values worked out elsewhere. */
#include "analyses/rate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void assert_interval(uint32_t failed, uint32_t runs, double low, double high)
{
	const struct rate rate = {.runs = runs, .failed = failed};
	double is_low, is_high;

	rate_interval(&rate, &is_low, &is_high);
	assert_float_equal(is_low, low, 5e-5);
	assert_float_equal(is_high, high, 5e-5);
}

static void test_rate__interval(void **state)
{
	(void)state;
	assert_interval(0, 0, 0, 1);
	assert_interval(0, 30, 0, 0.1135);
	assert_interval(30, 30, 0.8865, 1);
	assert_interval(15, 30, 0.3315, 0.6685);
	assert_interval(1, 10, 0.0179, 0.4042);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rate__interval)};

	return cmocka_run_group_tests_name("rate", tests, NULL, NULL);
}
