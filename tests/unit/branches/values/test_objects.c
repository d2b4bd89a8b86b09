/* Tests which object was at an address, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "branches/values/objects.h"

static struct object_time at(uint64_t position, uint64_t count)
{
	return (struct object_time){position, count};
}

/* Threads report their objects one after the other, not in the order of the run. */
static void test_objects__are_the_current_ones(void **state)
{
	struct object_table table = {0};

	(void)state;
	objects_add(&table, 0x1000, 40, at(1, 1));
	objects_add(&table, 0x1000, 0, at(7, 2));
	objects_add(&table, 0x2000, 8, at(0, 0));
	/* a block of another thread, like the next one */
	objects_add(&table, 0x1000, 16, at(9, 1));
	objects_add(&table, 0x1000, 24, at(3, 1));
	objects_complete(&table);
	assert_int_equal(objects_bytes(&table, 0x1000, at(0, 5)), 0);
	assert_int_equal(objects_bytes(&table, 0x1000, at(1, 1)), 40);
	assert_int_equal(objects_bytes(&table, 0x1000, at(2, 0)), 40);
	assert_int_equal(objects_bytes(&table, 0x1000, at(3, 1)), 24);
	assert_int_equal(objects_bytes(&table, 0x1000, at(7, 1)), 24);
	assert_int_equal(objects_bytes(&table, 0x1000, at(7, 2)), 0);
	assert_int_equal(objects_bytes(&table, 0x1000, at(100, 0)), 16);
	assert_int_equal(objects_bytes(&table, 0x1008, at(100, 0)), 0);
	assert_int_equal(objects_bytes(&table, 0x2000, at(100, 0)), 8);
	objects_release(&table);
}

static void test_objects__of_one_step_keep_their_order(void **state)
{
	struct object_table table = {0};

	(void)state;
	for (uint64_t i = 1; i < 1000; i++)
		objects_add(&table, 0x1000, i, at(4, 4));
	objects_complete(&table);
	assert_int_equal(objects_bytes(&table, 0x1000, at(4, 4)), 999);
	objects_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_objects__are_the_current_ones),
		cmocka_unit_test(test_objects__of_one_step_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
