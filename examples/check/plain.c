/* A test without a framework: assert() and the exit status. cc plain.c -lraddle-check */
#undef NDEBUG
#include <assert.h>

#include <raddle_check.h>

#include "stock.h"

static void *take(void *stock)
{
	return stock_take(stock) ? stock : NULL;
}

/* Two customers, one piece: one of them gets it. */
static int one_gets_it(void *argument)
{
	struct stock stock;
	pthread_t customers[2];
	int taken = 0;

	(void)argument;
	stock_set_up(&stock, 1);
	for (int i = 0; i < 2; i++)
		assert(pthread_create(&customers[i], NULL, take, &stock) == 0);
	for (int i = 0; i < 2; i++) {
		void *got;

		assert(pthread_join(customers[i], &got) == 0);
		taken += got != NULL;
	}
	assert(taken == 1);
	return 0;
}

int main(void)
{
	return raddle_check(one_gets_it, NULL, NULL);
}
