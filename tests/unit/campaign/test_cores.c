#include "campaign/cores.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_cores__rounds_a_quota_up(void **unused)
{
	(void)unused;
	assert_int_equal(cores_of_quota("200000 100000\n"), 2);
	assert_int_equal(cores_of_quota("150000 100000\n"), 2);
	assert_int_equal(cores_of_quota("50000 100000\n"), 1);
}

static void test_cores__knows_when_there_is_no_quota(void **unused)
{
	(void)unused;
	assert_int_equal(cores_of_quota("max 100000\n"), 0);
	assert_int_equal(cores_of_quota("100000\n"), 0);
	assert_int_equal(cores_of_quota("100000 0\n"), 0);
	assert_int_equal(cores_of_quota(""), 0);
}

static void test_cores__keeps_to_the_affinity(void **unused)
{
	cpu_set_t before, one;
	int first = 0;

	(void)unused;
	assert_true(cores_available() >= 1);
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	while (!CPU_ISSET(first, &before))
		first++;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	assert_int_equal(cores_available(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
	assert_true(cores_available() <= (unsigned)CPU_COUNT(&before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cores__rounds_a_quota_up),
		cmocka_unit_test(test_cores__knows_when_there_is_no_quota),
		cmocka_unit_test(test_cores__keeps_to_the_affinity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
