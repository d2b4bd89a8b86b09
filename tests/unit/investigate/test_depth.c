#include "investigate/depth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_depth__is_kept_where_the_preemptions_explain_it(void **state)
{
	const struct failure failure = {.preemptions = 2};
	struct depth depth = {.depth = 3, .radius = 7};

	(void)state;
	depth_fit_to_schedule(&depth, &failure);
	assert_int_equal(depth.depth, 3);
	assert_int_equal(depth.radius, 7);
}

static void test_depth__is_unknown_where_it_needs_more_changes_than_preemptions(void **state)
{
	const struct failure failure = {.preemptions = 3};
	struct depth depth = {.depth = 6, .radius = 1};

	(void)state;
	depth_fit_to_schedule(&depth, &failure);
	assert_int_equal(depth.depth, 0);
	assert_int_equal(depth.radius, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_depth__is_kept_where_the_preemptions_explain_it),
		cmocka_unit_test(
			test_depth__is_unknown_where_it_needs_more_changes_than_preemptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
