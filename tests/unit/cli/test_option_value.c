#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/option_value.h"

static void test_number_parse__takes_whole_numbers_in_range(void **state)
{
	static const char *const wrong[] = {
		"", " 1", "+1", "-1", "1x", "0x10", "1.5", "101", "9", "18446744073709551616"};
	uint64_t number = 0;

	(void)state;
	assert_true(number_parse("10", 10, 100, &number));
	assert_int_equal(number, 10);
	assert_true(number_parse("100", 10, 100, &number));
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (number_parse(wrong[i], 10, 100, &number))
			fail_msg("\"%s\" was taken", wrong[i]);
	assert_int_equal(number, 100);
}

static void test_duration_parse__knows_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} right[] = {{"1", 1000000000}, {"0.5s", 500000000}, {"250ms", 250000000},
		{"2m", 120000000000}, {"2min", 120000000000}, {"1h", 3600000000000}};
	static const char *const wrong[] = {
		"", "s", "-1s", "1 s", "1d", "0s", "1e300", "nan", "inf", "1s2"};
	uint64_t ns = 7;

	(void)state;
	for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
		assert_true(duration_parse(right[i].text, &ns));
		assert_int_equal(ns, right[i].ns);
	}
	ns = 7;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (duration_parse(wrong[i], &ns))
			fail_msg("\"%s\" was taken", wrong[i]);
	assert_int_equal(ns, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number_parse__takes_whole_numbers_in_range),
		cmocka_unit_test(test_duration_parse__knows_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
