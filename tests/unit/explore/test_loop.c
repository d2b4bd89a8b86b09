#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "explore/services.h"

#define MS UINT64_C(1000000)

static void test_loop_size_batch__aims_at_a_duration(void **state)
{
	uint64_t batch = 1;

	(void)state;
	for (int i = 0; i < 40; i++)
		batch = loop_size_batch(batch, batch, batch * MS);
	assert_int_equal(batch, 128);
	assert_int_equal(loop_size_batch(128, 128, 401 * MS), 64);
	assert_int_equal(loop_size_batch(1, 1, 401 * MS), 1);
}

/* Batches at the end of a round are short because they are small. */
static void test_loop_size_batch__estimates_a_full_batch_from_a_small_one(void **state)
{
	uint64_t batch = 1;

	(void)state;
	for (int i = 0; i < 40; i++)
		batch = loop_size_batch(batch, 1, MS);
	assert_int_equal(batch, 128);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loop_size_batch__aims_at_a_duration),
		cmocka_unit_test(test_loop_size_batch__estimates_a_full_batch_from_a_small_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
