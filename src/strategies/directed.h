/*
 * The state of strategy `directed`, laid out here because whoever directs fills it: it drives threads
 * to meet at chosen operations, and then lets them on in a chosen order.
 *
 * A *meeting* has places. A thread whose pending op fits a place that is free stops there instead of
 * performing it. When all places are taken the meeting has come about: the threads then perform their
 * ops in the order of the places, as far as they are enabled, and the run goes on at random. When
 * nobody but stopped threads could move, one of them, drawn at random, is let on past its op (the
 * papers' thrashing); it may stop again at a later one.
 *
 * Beside a meeting, or instead of one, there may be orders of accesses: directed_order.h.
 */
#ifndef RADDLE_STRATEGIES_DIRECTED_H
#define RADDLE_STRATEGIES_DIRECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/ids.h"
#include "strategies/directed_order.h"

#define DIRECTED_PLACES_MAX 16

/* What fits a place; a field that is 0 fits everything. */
struct directed_place {
	thread_name thread;
	object_name object; /* of the pending op */
	object_name
		held;  /* a lock that the thread must hold: one that it took and has not given up */
	uint64_t site; /* of the pending op */
	uint8_t kind;  /* enum op_kind */
};

struct directed_state {
	uint32_t place_count;
	struct directed_place places[DIRECTED_PLACES_MAX];
	uint32_t order_count;
	struct directed_order orders[DIRECTED_ORDERS_MAX];

	/* Over all runs since it was filled. */
	uint64_t runs;
	uint64_t meetings;			/* runs in which it came about */
	uint64_t arrivals[DIRECTED_PLACES_MAX]; /* runs in which some thread stopped at the place */
	uint64_t thrashes;			/* threads that were let on */

	/* Of the current run. */
	struct rng rng;
	bool has_met;
	uint32_t next; /* place whose thread moves next, once they have met */
	uint32_t taken;
	uint16_t stopped_at[DIRECTED_PLACES_MAX]; /* thread index, UINT16_MAX: free */
	uint32_t arrived;			  /* bits of places taken in this run */
	uint64_t is_stopped[(THREAD_CAPACITY + 63) / 64];
	uint64_t is_let_on[(THREAD_CAPACITY + 63) / 64]; /* past its pending op */
	uint64_t candidates[(THREAD_CAPACITY + 63) / 64];
	/* Locks held, by thread: what it has acquired and not released, newest last. */
	uint8_t held_count[THREAD_CAPACITY];
	object_name held[THREAD_CAPACITY][8];
};

/* Into a zeroed block; `place_count` >= 1. The places are copied. */
void directed_state_init(
	struct directed_state *state, const struct directed_place *places, uint32_t place_count);
/* Into a zeroed block, or one that has been given a meeting; at most DIRECTED_ORDERS_MAX. Copied. */
void directed_state_set_orders(
	struct directed_state *state, const struct directed_order *orders, uint32_t order_count);

#endif
