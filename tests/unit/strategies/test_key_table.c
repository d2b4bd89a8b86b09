#include "strategies/key_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct key_table table;

static int empty(void **unused)
{
	(void)unused;
	memset(&table, 0, sizeof table);
	return 0;
}

static void key_table__numbers_keys_in_order_of_arrival(void **unused)
{
	(void)unused;
	assert_int_equal(key_table_add(&table, 77), 0);
	assert_int_equal(key_table_add(&table, 0), 1);
	assert_int_equal(key_table_add(&table, UINT64_MAX), 2);
	assert_int_equal(key_table_add(&table, 0), 1);
	assert_int_equal(key_table_find(&table, 77), 0);
	assert_int_equal(key_table_find(&table, UINT64_MAX), 2);
	assert_int_equal(table.count, 3);
}

static void key_table__does_not_find_what_was_not_added(void **unused)
{
	(void)unused;
	assert_int_equal(key_table_find(&table, 0), KEY_TABLE_NONE);
	(void)key_table_add(&table, 1); /* the only one */
	assert_int_equal(key_table_find(&table, 2), KEY_TABLE_NONE);
}

static void key_table__refuses_new_keys_when_full_and_keeps_the_old(void **unused)
{
	(void)unused;
	for (uint64_t key = 0; key < KEY_TABLE_CAPACITY; key++)
		assert_int_equal(key_table_add(&table, key * 3), key);
	assert_int_equal(key_table_add(&table, 1), KEY_TABLE_NONE);
	assert_int_equal(key_table_find(&table, 1), KEY_TABLE_NONE);
	for (uint64_t key = 0; key < KEY_TABLE_CAPACITY; key++)
		assert_int_equal(key_table_add(&table, key * 3), key);
	assert_int_equal(table.count, KEY_TABLE_CAPACITY);
}

/* Keys 1, 2, ... of which several begin their searches at the same slots. */
static void key_table__is_empty_after_it_was_cleared(void **unused)
{
	static const struct key_table nothing;
	const uint32_t counts[] = {1, 2, KEY_TABLE_FEW, KEY_TABLE_FEW + 1, KEY_TABLE_CAPACITY};

	(void)unused;
	for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		for (uint64_t key = 1; key <= counts[i]; key++)
			(void)key_table_add(&table, key % 7 ? key : key << 40); /* not full */
		key_table_clear(&table);
		assert_int_equal(table.count, 0);
		assert_memory_equal(table.slots, nothing.slots, sizeof table.slots);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(key_table__numbers_keys_in_order_of_arrival, empty),
		cmocka_unit_test_setup(key_table__does_not_find_what_was_not_added, empty),
		cmocka_unit_test_setup(
			key_table__refuses_new_keys_when_full_and_keeps_the_old, empty),
		cmocka_unit_test_setup(key_table__is_empty_after_it_was_cleared, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
