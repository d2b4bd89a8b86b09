/*
 * Orders of the threads for a bounded search: four fixed ones, then random ones, and how many of those
 * it takes (Bindal, Bansal, Lal 2012, lemma 4.1; docs/strategies.md).
 */
#ifndef RADDLE_STRATEGIES_THREAD_ORDERS_H
#define RADDLE_STRATEGIES_THREAD_ORDERS_H

#include "base/hash.h"
#include "model/ids.h"
#include "strategies/integer_log.h"

#define THREAD_ORDERS_MOST 5u /* threads in an order */

/* Each is one way in which threads may wait for each other, or not. */
enum thread_order {
	THREAD_ORDER_CREATION,
	THREAD_ORDER_REVERSE, /* each thread gets on as soon as it exists */
	THREAD_ORDER_LATEST,  /* all are created, then the latest first */
	THREAD_ORDER_ALTERNATE, /* all are created, then every second one first, as roles often alternate */
	THREAD_ORDERS_FIXED /* from here on: random, by seed */
};

/* Of the thread with that number, in order of creation, from 0; the larger one goes first. */
static inline uint64_t thread_order_priority(
	uint32_t order, uint64_t seed, uint32_t number, thread_name name)
{
	if (order >= THREAD_ORDERS_FIXED)
		return hash_pair(seed, name) >> 1;
	if (order == THREAD_ORDER_CREATION)
		return THREAD_CAPACITY - number;
	if (order == THREAD_ORDER_REVERSE)
		return number + 1;
	if (!number)
		return 3 * THREAD_CAPACITY; /* creates them */
	if (order == THREAD_ORDER_LATEST)
		return number + 1;
	return (number & 1 ? 1 : 2) * THREAD_CAPACITY - number;
}

/*
 * So many random orders of `fragments` that with probability 1 - 10^-risk each order of each t of them
 * is among them: C(N,t)*t! orders, each missed by one with probability 1 - 1/t!. No more than `most`.
 */
static inline uint32_t thread_orders_needed(
	uint32_t fragments, uint32_t threads, uint32_t risk, uint32_t most)
{
	/* -ln(1 - 1/t!) times 2^16, rounded down */
	static const uint64_t hit[THREAD_ORDERS_MOST + 1] = {0, 0, 45425, 11948, 2789, 548};
	uint64_t wanted = 1, needed;

	for (uint32_t i = 0; i < threads && i < fragments; i++)
		wanted *= fragments - i;
	needed = (log_scaled(wanted) + risk * UINT64_C(150902) + 656) / hit[threads] + 1;
	return needed < most ? (uint32_t)needed : most;
}

#endif
