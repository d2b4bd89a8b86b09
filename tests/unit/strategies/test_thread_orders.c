/* Just as many random orders as lemma 4.1 asks for; and they do what it promises. */
#include "strategies/thread_orders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>

#include <cmocka.h>

#define MOST 16380u /* capacity of bounded */

static double factorial(uint32_t number)
{
	return number < 2 ? 1 : number * factorial(number - 1);
}

/* C(n,t)*t!*(1-1/t!)^m */
static double missed_at_most(uint32_t among, uint32_t threads, uint32_t orders)
{
	double wanted = 1;

	for (uint32_t i = 0; i < threads; i++)
		wanted *= among - i;
	return wanted * pow(1 - 1 / factorial(threads), orders);
}

static void thread_orders__are_as_many_as_the_lemma_asks_for(void **state)
{
	static const uint32_t among[] = {3, 4, 5, 6, 10, 64, 200, 4096};

	(void)state;
	for (uint32_t i = 0; i < sizeof among / sizeof *among; i++) {
		for (uint32_t threads = 3; threads <= THREAD_ORDERS_MOST; threads++) {
			const uint32_t fewer = threads < among[i] ? threads : among[i];

			for (uint32_t risk = 1; risk <= 12; risk++) {
				const uint32_t orders =
					thread_orders_needed(among[i], threads, risk, MOST);

				assert_in_range(orders, 1, MOST - 1);
				assert_true(missed_at_most(among[i], fewer, orders) <=
					    pow(10, -(double)risk));
				assert_true(missed_at_most(among[i], fewer, orders - 1) >
					    pow(10, -(double)risk));
			}
		}
	}
}

static void thread_orders__of_two_threads_are_fixed(void **state)
{
	(void)state;
	assert_int_equal(thread_orders_needed(100, 2, 12, MOST), 0);
	assert_int_equal(thread_orders_needed(2, 5, 12, MOST), 0);
	for (uint32_t a = 0; a < 20; a++) {
		for (uint32_t b = a + 1; b < 20; b++) {
			for (uint32_t order = 0; order < 2; order++)
				assert_int_equal(thread_order_priority(order, 0, a, 0) >
							 thread_order_priority(order, 0, b, 0),
					order == THREAD_ORDER_CREATION);
		}
	}
}

/* ---- random orders of six threads, three of which count ---- */

#define AMONG 6u
#define TRIALS 300u

/* All 6 orders of each 3 of the 6 threads: is one of them in none of so many? */
static bool is_one_missed(uint64_t seed, uint32_t orders)
{
	bool has[AMONG][AMONG][AMONG] = {0};

	for (uint32_t order = 0; order < orders; order++) {
		uint64_t priority[AMONG];

		for (uint32_t i = 0; i < AMONG; i++)
			priority[i] = thread_order_priority(
				THREAD_ORDERS_FIXED + order, hash_pair(seed, order), i, 1000 + i);
		for (uint32_t i = 0; i < AMONG; i++)
			for (uint32_t j = 0; j < AMONG; j++)
				for (uint32_t k = 0; k < AMONG; k++)
					has[i][j][k] |= priority[i] > priority[j] &&
							priority[j] > priority[k];
	}
	for (uint32_t i = 0; i < AMONG; i++)
		for (uint32_t j = 0; j < AMONG; j++)
			for (uint32_t k = 0; k < AMONG; k++)
				if (i != j && j != k && i != k && !has[i][j][k])
					return true;
	return false;
}

static uint32_t count_missed(uint32_t orders)
{
	uint32_t missed = 0;

	for (uint32_t trial = 0; trial < TRIALS; trial++)
		missed += is_one_missed(trial, orders);
	return missed;
}

/*
 * Each of 300 trials misses one with probability of at most 0.01, 3 in the mean: 17 or more have a
 * probability below one in ten million. A third of the orders is the control, which misses one in
 * most trials.
 */
static void thread_orders__miss_no_more_than_is_said(void **state)
{
	const uint32_t orders = thread_orders_needed(AMONG, 3, 2, MOST);

	(void)state;
	assert_in_range(count_missed(orders), 0, 16);
	assert_in_range(count_missed(orders / 3), TRIALS / 2, TRIALS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thread_orders__are_as_many_as_the_lemma_asks_for),
		cmocka_unit_test(thread_orders__of_two_threads_are_fixed),
		cmocka_unit_test(thread_orders__miss_no_more_than_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
