/* Tables by keys: what was put there is found, however often they grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/slots.h"

struct item {
	uint64_t key;
	uint64_t value[2];
};

static void test_slots__keep_everything(void **state)
{
	struct slots slots = {0};

	(void)state;
	assert_null(slots_get(&slots, sizeof(struct item), 77));
	for (uint64_t i = 1; i <= 5000; i++) {
		struct item *item = slots_add(&slots, sizeof *item, i << 12);

		assert_true(item->key == i << 12 && !item->value[0] && !item->value[1]);
		item->value[0] = i;
		item->value[1] = ~i;
	}
	assert_true(slots.count == 5000 && 2 * slots.count <= slots.capacity);
	for (uint64_t i = 1; i <= 5000; i++) {
		const struct item *item = slots_get(&slots, sizeof *item, i << 12);

		assert_true(item->key == i << 12 && item->value[0] == i && item->value[1] == ~i);
		assert_ptr_equal(slots_add(&slots, sizeof *item, i << 12), item);
	}
	assert_int_equal(slots.count, 5000);
	assert_null(slots_get(&slots, sizeof(struct item), 77));
	slots_release(&slots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_slots__keep_everything)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
