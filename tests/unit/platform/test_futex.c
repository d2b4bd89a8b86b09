#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "platform/platform.h"

/* Each wait ends: the word differs, or the limit passes. A wait that did not end would end by the test's time limit. */
static void test_platform_futex_wait__ends_without_a_wake(void **state)
{
	const uint64_t before_ns = platform_monotonic_ns();
	uint32_t word = 1;

	(void)state;
	platform_futex_wait(&word, 0, UINT64_MAX, false);
	platform_futex_wait(&word, 1, 1000000, false);
	assert_true(platform_monotonic_ns() >= before_ns);
}

static uint32_t is_set;

static void *waiter(void *argument)
{
	while (!__atomic_load_n(&is_set, __ATOMIC_ACQUIRE))
		platform_futex_wait(&is_set, 0, UINT64_MAX, false);
	return argument;
}

static void test_platform_futex_wake__ends_a_wait(void **state)
{
	pthread_t thread;
	void *result;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, waiter, &is_set), 0);
	__atomic_store_n(&is_set, 1, __ATOMIC_RELEASE);
	platform_futex_wake(&is_set, false);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &is_set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_platform_futex_wait__ends_without_a_wake),
		cmocka_unit_test(test_platform_futex_wake__ends_a_wait),
	};

	return cmocka_run_group_tests_name("futex", tests, NULL, NULL);
}
