/* Example for cmocka: cc cmocka.c -lraddle-check -lcmocka. A failed assert_...() ends the schedule, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <raddle_check.h>

#include "stock.h"

static void *take(void *stock)
{
	return stock_take(stock) ? stock : NULL;
}

static int one_gets_it(void *argument)
{
	struct stock stock;
	pthread_t customers[2];
	int taken = 0;

	(void)argument;
	stock_set_up(&stock, 1);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&customers[i], NULL, take, &stock), 0);
	for (int i = 0; i < 2; i++) {
		void *got;

		pthread_join(customers[i], &got);
		taken += got != NULL;
	}
	assert_int_equal(taken, 1);
	return 0;
}

static void test_one_gets_it(void **state)
{
	(void)state;
	assert_int_equal(raddle_check(one_gets_it, NULL, NULL), 0);
}

static void test_takes_in_order(void **state)
{
	struct stock stock;

	(void)state;
	stock_set_up(&stock, 1);
	assert_int_equal(stock_take(&stock), 1);
	assert_int_equal(stock_take(&stock), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_gets_it),
		cmocka_unit_test(test_takes_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
