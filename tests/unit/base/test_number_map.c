#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/number_map.h"

#define KEYS 1000

static void test_number_map_get__finds_only_keys_that_were_set(void **state)
{
	struct number_map map = {0};

	(void)state;
	assert_int_equal(number_map_get(&map, 1), NUMBER_MAP_NONE);
	for (uint32_t i = 1; i <= KEYS; i++)
		number_map_set(&map, (uint64_t)i << 32, i);
	for (uint32_t i = 1; i <= KEYS; i++)
		assert_int_equal(number_map_get(&map, (uint64_t)i << 32), i);
	assert_int_equal(number_map_get(&map, 1), NUMBER_MAP_NONE);
	assert_int_equal(map.slots.count, KEYS);
	number_map_release(&map);
	assert_int_equal(number_map_get(&map, UINT64_C(1) << 32), NUMBER_MAP_NONE);
}

static void test_number_map_set__replaces_the_number_of_a_key(void **state)
{
	struct number_map map = {0};

	(void)state;
	number_map_set(&map, 7, 1);
	number_map_set(&map, 7, 2);
	assert_int_equal(number_map_get(&map, 7), 2);
	assert_int_equal(map.slots.count, 1);
	number_map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number_map_get__finds_only_keys_that_were_set),
		cmocka_unit_test(test_number_map_set__replaces_the_number_of_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
