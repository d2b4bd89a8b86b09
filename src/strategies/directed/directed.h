/*
 * The state of strategy `directed`. The strategy drives threads to chosen operations at the same
 * time, and then releases them in a chosen order. The caller fills the state.
 *
 * A *rendezvous* consists of stops. A thread whose pending op matches a free stop stops there. When
 * a thread has stopped at every stop, the threads perform their ops in the order of the stops, as
 * far as they are enabled. The run then continues at random. If only stopped threads are enabled, a
 * random one of them is released past its op (the papers' thrashing). A thread is also released
 * after DIRECTED_PATIENCE steps of the others.
 *
 * The stops of a *ring* are for threads that each wait for an object held by the thread of the
 * next stop: a deadlock. Two of three runs of a ring are wider, because names of pool threads and
 * heap objects vary. In both, any thread matches a stop; in one of them, any object that closes
 * the ring matches, too. If the threads reach all stops without a deadlock,
 * the strategy leads them to the stops again.
 *
 * A stopped thread that holds a lock may block others. In half of the runs of a ring, threads
 * therefore first stop where they are about to acquire the lock that they will hold (the
 * *approach*). When all have arrived there, only these threads continue to their stops.
 *
 * The state may also contain orders of accesses (directed_order.h) and a scenario
 * (directed_scenario.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "model/ids.h"
#include "strategies/directed/directed_order.h"
#include "strategies/directed/directed_scenario.h"

#define DIRECTED_STOPS_MAX 16
/* Patience for a rendezvous, also in programs whose other threads never become idle. */
#define DIRECTED_PATIENCE 20000

/* A field that is 0 matches everything. */
struct directed_stop {
	thread_name thread;
	object_name object; /* object of the pending op */
	object_name held;   /* a lock that the thread must hold */
	uint64_t site;	    /* calling context of the pending op */
	uint32_t context;   /* site of the pending op */
	uint8_t kind;	    /* enum op_kind */
	/* The operation by which the thread acquires `held`. 0 means that it acquires nothing before its stop. */
	uint8_t approach_kind;
	uint64_t approach_site;
};

enum directed_width {
	DIRECTED_NARROW,
	DIRECTED_ANY_THREAD, /* any thread matches */
	DIRECTED_ANY_OBJECT, /* any object and any thread match */
	DIRECTED_WIDTHS
};

struct directed_state {
	uint32_t stop_count;
	bool is_ring;
	/* a race: the threads stop before the same object, and then continue at random */
	bool shares_object;
	struct directed_stop stops[DIRECTED_STOPS_MAX];
	uint32_t order_count;
	struct directed_order orders[DIRECTED_ORDERS_MAX];
	struct directed_scenario scenario;

	uint64_t runs;
	uint64_t rendezvous;		       /* runs in which the rendezvous was complete */
	uint64_t arrivals[DIRECTED_STOPS_MAX]; /* runs in which a thread stopped at the stop */
	uint64_t thrashes;		       /* number of threads released by thrashing */

	struct rng rng;
	uint8_t width;	     /* enum directed_width */
	bool by_approach;    /* threads first stop at their approaches */
	bool is_approaching; /* the threads are being driven to their approaches */
	uint64_t gone_since; /* step at which the threads left their approaches */
	uint16_t gone[DIRECTED_STOPS_MAX];
	bool has_gathered;
	bool had_gathered; /* the rendezvous was complete at least once in this run */
	uint32_t next;	   /* stop whose thread moves next after the rendezvous */
	uint32_t taken;
	uint16_t stopped_at[DIRECTED_STOPS_MAX];    /* thread index; UINT16_MAX: free */
	uint64_t stopped_since[DIRECTED_STOPS_MAX]; /* step */
	uint32_t arrived;			    /* bits of the stops reached in this run */
	uint64_t is_stopped[(THREAD_CAPACITY + 63) / 64];
	uint64_t is_let_on[(THREAD_CAPACITY + 63) / 64]; /* released past its pending op */
	uint64_t candidates[(THREAD_CAPACITY + 63) / 64];
	/* the thread returns from a wait, and counts as holding the mutex */
	uint64_t is_returning[(THREAD_CAPACITY + 63) / 64];
	/* Locks acquired and not released, by thread, newest last. */
	uint8_t held_count[THREAD_CAPACITY];
	object_name held[THREAD_CAPACITY][8];
};

/* Sets the stops of the rendezvous, at least one, which are copied. The caller has zeroed the state. */
void directed_state_init(
	struct directed_state *state, const struct directed_stop *stops, uint32_t stop_count);
/* Further settings. Race: all stops have one object. Scenario: adds the ops, which are copied.
 * Ring: the stops form a ring. */
void directed_state_set_race(struct directed_state *state);
void directed_state_set_scenario(
	struct directed_state *state, const struct directed_op *ops, uint32_t op_count);
void directed_state_set_ring(struct directed_state *state);
/* Adds orders, at most DIRECTED_ORDERS_MAX, which are copied. The block is zeroed or has stops. */
void directed_state_set_orders(
	struct directed_state *state, const struct directed_order *orders, uint32_t order_count);
