#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explore/schemes/tasks.h"
#include "platform/platform.h"

#define SECOND UINT64_C(1000000000)

/* The owner has explored for a second at least, and spent `handling_ns` of this time on tasks. */
static uint64_t rest_ns(uint32_t worker_count, uint64_t handling_ns)
{
	struct tasks tasks = {.handling_ns = handling_ns};
	struct campaign campaign = {.tasks = &tasks, .worker_count = worker_count};

	campaign.times.started_ns = platform_monotonic_ns() - SECOND;
	return tasks_rest_ns(&campaign);
}

static void test_tasks__take_a_part_of_the_owners_time(void **state)
{
	(void)state;
	assert_int_equal(rest_ns(2, 0), 0);
	assert_int_equal(rest_ns(2, SECOND / 8), 0);
	assert_true(rest_ns(2, 1000 * SECOND) > 0);
}

static void test_tasks__of_more_workers_may_take_more_time(void **state)
{
	(void)state;
	assert_int_equal(rest_ns(16, SECOND), 0);
	assert_true(rest_ns(2, 1000 * SECOND) > rest_ns(16, 1000 * SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks__take_a_part_of_the_owners_time),
		cmocka_unit_test(test_tasks__of_more_workers_may_take_more_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
