/* Contents of memory when the second thread was created. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "branches/interpret/walk.h"

#define BEGIN 0x1000

/* An address that is none, such as a member's in front of a null pointer, is not static data. */
static void test_initial__knows_where_static_data_ends(void **state)
{
	uint8_t bytes[64] = {[56] = 7};
	struct record_image image = {.address = BEGIN, .bytes = sizeof bytes};
	const struct run_record record = {.images = &image, .image_count = 1, .image_bytes = bytes};
	const struct walk walk = {.record = &record};
	uint64_t value;

	(void)state;
	assert_true(walk_initial(&walk, BEGIN + 56, 8, &value));
	assert_int_equal(value, 7);
	assert_false(walk_initial(&walk, BEGIN + 57, 8, &value));
	assert_false(walk_initial(&walk, BEGIN - 1, 8, &value));
	assert_false(walk_initial(&walk, UINT64_MAX - 7, 8, &value));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_initial__knows_where_static_data_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
