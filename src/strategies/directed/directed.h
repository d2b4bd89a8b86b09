/*
 * The state of strategy `directed`, laid out here because whoever directs fills it: it drives threads
 * to meet at chosen operations, and then lets them on in a chosen order.
 *
 * A *meeting* has places. A thread whose pending op fits a place that is free stops there instead of
 * performing it. When all places are taken the meeting has come about: the threads then perform their
 * ops in the order of the places, as far as they are enabled, and the run goes on at random. When
 * nobody but stopped threads could move, one of them, drawn at random, is let on past its op (the
 * papers' thrashing); so is one for which the others have moved DIRECTED_PATIENCE times. It may stop
 * again at a later op.
 *
 * The places of a *ring* are for threads each of which waits for what the one at the next place
 * holds: a deadlock. Then two runs in three are wider: any thread fits a place, and in one of them any
 * object that closes the ring does, as threads of a pool and objects on the heap have other names in
 * every run. When threads that met got on all the same, they are driven to meet again.
 * A thread that stops holding a lock may be in the way of others that are to come. So in half of the
 * runs of a ring threads stop for the first time where they are about to take the lock that they will
 * hold (the *approach*); when all have come there, these threads go on alone to their places.
 *
 * Beside a meeting, or instead of one, there may be orders of accesses (directed_order.h) and a scenario
 * (directed_scenario.h).
 */
#ifndef RADDLE_STRATEGIES_DIRECTED_DIRECTED_H
#define RADDLE_STRATEGIES_DIRECTED_DIRECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/ids.h"
#include "strategies/directed/directed_order.h"
#include "strategies/directed/directed_scenario.h"

#define DIRECTED_PLACES_MAX 16
/* Long enough for the way to a meeting in programs whose other threads never come to rest. */
#define DIRECTED_PATIENCE 20000

/* What fits a place; a field that is 0 fits everything. */
struct directed_place {
	thread_name thread;
	object_name object; /* of the pending op */
	object_name
		held;  /* a lock that the thread must hold: one that it took and has not given up */
	uint64_t site; /* of the pending op */
	uint32_t context; /* likewise */
	uint8_t kind;	  /* enum op_kind */
	/* Of the op that takes `held`; 0: the thread holds nothing, it comes straight to its place. */
	uint8_t approach_kind;
	uint64_t approach_site;
};

enum directed_width {
	DIRECTED_NARROW,
	DIRECTED_ANY_THREAD, /* fits */
	DIRECTED_ANY_OBJECT, /* and thread */
	DIRECTED_WIDTHS
};

struct directed_state {
	uint32_t place_count;
	bool is_ring;
	bool shares_object; /* a race: before the same object; then they go on at random */
	struct directed_place places[DIRECTED_PLACES_MAX];
	uint32_t order_count;
	struct directed_order orders[DIRECTED_ORDERS_MAX];
	struct directed_scenario scenario;

	/* Over all runs since it was filled. */
	uint64_t runs;
	uint64_t meetings;			/* runs in which it came about */
	uint64_t arrivals[DIRECTED_PLACES_MAX]; /* runs in which some thread stopped at the place */
	uint64_t thrashes;			/* threads that were let on */

	/* Of the current run. */
	struct rng rng;
	uint8_t width;			    /* enum directed_width */
	bool by_approach;		    /* threads stop at their approaches first */
	bool is_approaching;		    /* now */
	uint64_t gone_since;		    /* step in which they went on from there */
	uint16_t gone[DIRECTED_PLACES_MAX]; /* who they are, by place */
	bool has_met;
	bool has_met_before; /* in this run */
	uint32_t next;	     /* place whose thread moves next, once they have met */
	uint32_t taken;
	uint16_t stopped_at[DIRECTED_PLACES_MAX];    /* thread index, UINT16_MAX: free */
	uint64_t stopped_since[DIRECTED_PLACES_MAX]; /* step */
	uint32_t arrived;			     /* bits of places taken in this run */
	uint64_t is_stopped[(THREAD_CAPACITY + 63) / 64];
	uint64_t is_let_on[(THREAD_CAPACITY + 63) / 64]; /* past its pending op */
	uint64_t candidates[(THREAD_CAPACITY + 63) / 64];
	uint64_t is_returning[(THREAD_CAPACITY + 63) /
			      64]; /* from a wait: to a mutex it is said to hold */
	/* Locks held, by thread: what it has acquired and not released, newest last. */
	uint8_t held_count[THREAD_CAPACITY];
	object_name held[THREAD_CAPACITY][8];
};

/* Into a zeroed block; `place_count` >= 1. The places are copied. */
void directed_state_init(
	struct directed_state *state, const struct directed_place *places, uint32_t place_count);
/* Says that the places are a ring. */
/* A race: threads meet before the same object. */
void directed_state_set_race(struct directed_state *state);
void directed_state_set_scenario(
	struct directed_state *state, const struct directed_op *ops, uint32_t op_count);
void directed_state_set_ring(struct directed_state *state);
/* Into a zeroed block, or one that has been given a meeting; at most DIRECTED_ORDERS_MAX. Copied. */
void directed_state_set_orders(
	struct directed_state *state, const struct directed_order *orders, uint32_t order_count);

#endif
