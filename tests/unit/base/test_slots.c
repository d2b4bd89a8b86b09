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
	struct item *items = NULL;
	uint64_t capacity = 0, count = 0;

	(void)state;
	for (uint64_t i = 1; i <= 5000; i++) {
		struct item *item;

		items = slots_reserve(items, &capacity, sizeof *items, count, 16);
		item = slots_find(items, capacity, sizeof *items, i << 12);
		assert_true(item->key == 0);
		*item = (struct item){.key = i << 12, .value = {i, ~i}};
		count++;
	}
	assert_true(2 * count <= capacity);
	for (uint64_t i = 1; i <= 5000; i++) {
		const struct item *item = slots_find(items, capacity, sizeof *items, i << 12);

		assert_true(item->key == i << 12 && item->value[0] == i && item->value[1] == ~i);
	}
	assert_true(((struct item *)slots_find(items, capacity, sizeof *items, 77))->key == 0);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_slots__keep_everything)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
