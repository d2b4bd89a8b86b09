/*
 * How many random orders it takes (Bindal, Bansal, Lal 2012, lemma 4.1; docs/strategies.md).
 */
#ifndef RADDLE_STRATEGIES_THREAD_ORDERS_H
#define RADDLE_STRATEGIES_THREAD_ORDERS_H

#include "strategies/integer_log.h"

#define THREAD_ORDERS_MOST 5u /* threads in an order */

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
