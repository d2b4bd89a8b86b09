/*
 * Orders of the threads for a bounded search: four fixed ones, then random ones, and how many of those
 * it takes (Bindal, Bansal, Lal 2012, lemma 4.1; docs/strategies.md).
 */
#ifndef RADDLE_STRATEGIES_THREAD_ORDERS_H
#define RADDLE_STRATEGIES_THREAD_ORDERS_H

#include "base/hash.h"
#include "model/ids.h"
#include "strategies/key_table.h"

#define THREAD_ORDERS_MOST 5u /* threads in an order */

/* Each is one way in which threads may wait for each other, or not. */
enum thread_order {
	THREAD_ORDER_CREATION,
	THREAD_ORDER_REVERSE, /* each thread gets on as soon as it exists */
	THREAD_ORDER_LATEST,  /* all are created, then the latest first */
	THREAD_ORDER_ALTERNATE, /* all are created, then every second one first, as roles often alternate */
	THREAD_ORDERS_FIXED /* from here on: random, by seed */
};

#define THREAD_ORDER_NUMBERS KEY_TABLE_CAPACITY
/* Between two threads of a fixed order there are so many places. */
#define THREAD_ORDER_STEP (UINT64_C(1) << 40)

/*
 * Of the thread with that number, from 0; the larger one goes first. Numbers follow names, not runs: so of
 * any two threads that there may be the first two orders have both orders.
 */
static inline uint64_t thread_order_priority(
	uint32_t order, uint64_t seed, uint32_t number, thread_name name)
{
	uint64_t rank;

	if (order >= THREAD_ORDERS_FIXED)
		return hash_pair(seed, name) >> 1;
	if (order == THREAD_ORDER_CREATION)
		rank = THREAD_ORDER_NUMBERS - number;
	else if (order == THREAD_ORDER_REVERSE)
		rank = number + 1;
	else if (!number)
		rank = 3 * THREAD_ORDER_NUMBERS; /* creates them */
	else if (order == THREAD_ORDER_LATEST)
		rank = number + 1;
	else
		rank = (number & 1 ? 1 : 2) * THREAD_ORDER_NUMBERS - number;
	return rank * THREAD_ORDER_STEP;
}

/*
 * So many random orders of n threads that with probability 1 - 10^-risk each order of each t of them
 * is among them: C(n,t)*t! orders, each missed by one with probability 1 - 1/t!. No more than `most`; 0: the
 * fixed orders have them all.
 */
static inline uint32_t thread_orders_needed(
	uint32_t among, uint32_t threads, uint32_t risk, uint32_t most)
{
	double missed = 1, may_be_missed = 1, ways = 1;
	uint32_t needed = 0;

	if (threads > among)
		threads = among;
	if (threads <= 2)
		return 0;
	for (uint32_t i = 0; i < threads; i++) {
		missed *= among - i;
		ways *= i + 1;
	}
	for (uint32_t i = 0; i < risk; i++)
		may_be_missed /= 10;
	for (; missed > may_be_missed && needed < most; needed++)
		missed -= missed / ways;
	return needed;
}

#endif
