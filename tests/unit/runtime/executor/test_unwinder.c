/* A program that may end threads by pthread_exit, such as this one, has what that takes before main begins. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/executor/unwinder.c"

bool runtime_is_own_code(uint64_t address)
{
	(void)address;
	return false;
}

struct contract_modules *known_modules(void)
{
	return NULL;
}

static int look_for_unwinder(struct dl_phdr_info *info, size_t size, void *is_there)
{
	(void)size;
	*(bool *)is_there |= strstr(info->dlpi_name, "libgcc_s") != NULL;
	return 0;
}

static bool has_unwinder(void)
{
	bool is_there = false;

	(void)dl_iterate_phdr(look_for_unwinder, &is_there);
	return is_there;
}

static void *leave(void *result)
{
	pthread_exit(result);
}

static void test_load_unwinder__loads_it_once(void **state)
{
	pthread_t thread;
	int here;
	void *result = NULL;

	(void)state;
	runtime_load_unwinder();
	assert_true(has_unwinder());
	runtime_load_unwinder();
	assert_int_equal(pthread_create(&thread, NULL, leave, &here), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, &here);
}

static void test_is_wanted_as__ways_to_end_a_thread(void **state)
{
	(void)state;
	assert_true(unwinder_is_wanted_as("pthread_exit"));
	assert_true(unwinder_is_wanted_as("pthread_cancel"));
	assert_true(unwinder_is_wanted_as("thrd_exit"));
	assert_true(unwinder_is_wanted_as("backtrace"));
	assert_false(unwinder_is_wanted_as("pthread_exit_"));
	assert_false(unwinder_is_wanted_as("exit"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_wanted_as__ways_to_end_a_thread),
		cmocka_unit_test(test_load_unwinder__loads_it_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
