#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "platform/platform.h"

static void call_name__knows_calls(void **state)
{
	(void)state;
	assert_string_equal(platform_call_name(SYS_read), "read");
	assert_string_equal(platform_call_name(SYS_munmap), "munmap");
	assert_string_equal(platform_call_name(SYS_close_range), "close_range");
}

static void call_name__is_null_for_other_numbers(void **state)
{
	(void)state;
	assert_null(platform_call_name(-1));
	assert_null(platform_call_name(400)); /* the kernel leaves 335 to 423 free */
	assert_null(platform_call_name(1000000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(call_name__knows_calls),
		cmocka_unit_test(call_name__is_null_for_other_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
