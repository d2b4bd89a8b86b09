/*
 * Orders of the threads for a bounded search: four fixed ones, then random ones (Bindal, Bansal,
 * Lal 2012, lemma 4.1; docs/strategies.md).
 */
#pragma once

#include "base/hash.h"
#include "model/ids.h"
#include "strategies/key_table.h"

#define THREAD_ORDERS_MOST 5u /* the maximum number of threads in an order (t) */

enum thread_order {
	THREAD_ORDER_CREATION,
	THREAD_ORDER_REVERSE, /* each thread runs as soon as it exists */
	THREAD_ORDER_LATEST,  /* all threads are created, then the latest runs first */
	/* all threads are created, then every second one runs first: roles often alternate */
	THREAD_ORDER_ALTERNATE,
	THREAD_ORDERS_FIXED /* orders from here on are random, by seed */
};

#define THREAD_ORDER_NUMBERS KEY_TABLE_CAPACITY
/* Between adjacent threads in a fixed order; stopped threads are placed in between. */
#define THREAD_ORDER_STEP (UINT64_C(1) << 40)

/*
 * A larger value runs first. Numbers, from 0, follow names, not runs: the first two orders contain
 * both relative orders of any two threads.
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
		rank = 3 * THREAD_ORDER_NUMBERS; /* main creates the others */
	else if (order == THREAD_ORDER_LATEST)
		rank = number + 1;
	else
		rank = (number & 1 ? 1 : 2) * THREAD_ORDER_NUMBERS - number;
	return rank * THREAD_ORDER_STEP;
}

/* Returns how many random orders of n threads (`among`) are needed so that, with probability 1 -
 * 10^-risk, every order of every t occurs: C(n,t)*t! orders, each missed with probability 1 - 1/t!
 * by one random order. */
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
