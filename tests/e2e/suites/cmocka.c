#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "transfers.h"

static void one_section(void **state)
{
	(void)state;
	assert_int_equal(balance_after(deposit_in_one_section), 20);
}

static void two_sections(void **state)
{
	(void)state;
	assert_int_equal(balance_after(deposit_in_two_sections), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_section), cmocka_unit_test(two_sections)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
