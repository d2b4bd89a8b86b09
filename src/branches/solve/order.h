/*
 * What must happen in the order in which it happened, whatever the schedule: creation and joins, barriers,
 * and (more strictly than need be) condition variables and everything else that threads wait
 * for. And the critical sections, which exclude each other in either order.
 *
 * Events are named by thread and index in its list (branches/interpret/walk.h).
 */
#ifndef RADDLE_BRANCHES_SOLVE_ORDER_H
#define RADDLE_BRANCHES_SOLVE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "model/op.h"
#include "branches/interpret/walk.h"
#include "branches/solve/order_sections.h"

struct event_id {
	uint16_t thread;
	uint32_t index;
};

/* `first` comes before `second`, and has happened where `second` has. */
struct order_edge {
	struct event_id first, second;
	bool is_usual; /* a wait and the post or signal in the run: another one may do */
	uint32_t
		round; /* of a barrier that it is in (plus one; 0: none): unless another one comes last there */
};

struct order_section {
	uint64_t lock; /* address */
	uint16_t thread;
	uint32_t begin, end; /* events; end UINT32_MAX: not left in this run */
	bool is_shared;	     /* of a read-write lock: held by readers */
};

/* A lock that could not be had: somebody else held it at that point. */
struct order_failure {
	uint64_t lock;
	struct event_id event;
	bool is_shared; /* it would be a reader of a read-write lock */
};

/*
 * A read of what the allocator writes to when another thread gives the block back, which it did behind it: where it comes later it
 * gives nobody knows what.
 */
struct order_life {
	struct event_id read;
	struct event_id last; /* of who gives it back, before it does so */
};

#define ORDER_NONE UINT32_MAX

/* A thread that comes to a barrier. */
struct order_arrival {
	struct event_id at;
	uint32_t leave; /* event of the thread: it leaves, having waited; ORDER_NONE: it has not */
};

/* Of a barrier: when the last one has arrived they all go on. */
struct order_round {
	uint64_t address, number;
	struct order_arrival *arrivals; /* in the order of the run */
	uint32_t count;
	uint32_t last; /* in the run; ORDER_NONE: it was not complete */
	bool is_known; /* complete, and all of it was seen */
};

/* An op on a semaphore. */
struct order_use {
	struct event_id event;
	uint8_t kind; /* OP_SEM_WAIT (TRYWAIT, too), OP_SEM_POST, OP_SEM_READ */
	bool is_try, has_failed;
	uint32_t value; /* of the semaphore before it, in this run */
};

/* A semaphore of which all is known: how often it was given and taken before says whether it can be taken. */
struct order_semaphore {
	uint64_t address;
	uint32_t value; /* that it began with */
	struct order_use *uses;
	uint32_t count;
};

/* A wait on a condition variable. */
struct order_wait {
	struct event_id at;
	struct event_id back; /* where the thread, which was woken, takes its mutex again */
	struct event_id left; /* where it gave up waiting */
	bool has_back, has_left;
	uint32_t begin;	 /* signals before it in this run */
	uint32_t signal; /* that woke it in this run; ORDER_NONE: none did */
};

struct order_signal {
	struct event_id at;
	bool is_broadcast;
};

/* Each signal wakes one of those that wait then, if there are any (engine/cond.c): a choice that schedules make. */
struct order_condition {
	uint64_t address;
	struct order_wait *waits; /* in the order of the run, as the signals */
	struct order_signal *signals;
	uint32_t wait_count, signal_count;
	bool is_told; /* all of the run is known, and it is as it would be if the first one were always woken */
	bool is_known; /* told, and few enough: constraints say which signal wakes whom. Otherwise the one that did. */
};

/*
 * Where accesses of an open address may go (addresses.h): of one term. The first one is the address
 * of the run.
 */
#define ADDRESSES_MOST 16

struct address_set {
	const struct term *term; /* NULL: free */
	uint8_t bytes;		 /* of the accesses */
	uint8_t count;
	uint64_t items[ADDRESSES_MOST];
};

struct addresses {
	struct address_set *sets; /* open addressing */
	uint32_t count, capacity;
};

/*
 * How many events of each thread came before an event. Most events have the same row as the one before them in
 * their thread: of that one a row says nothing.
 */
struct order_clocks {
	uint32_t **numbers; /* [thread][index]: of its row */
	uint32_t *rows;	    /* [number * thread_count + other] */
	uint64_t row_count, row_capacity;
};

struct order {
	const struct walk *walk;
	uint32_t thread_count;
	struct order_edge *edges;
	uint32_t edge_count, edge_capacity;
	struct order_section *sections;
	uint32_t section_count, section_capacity;
	struct order_sections by_thread;
	struct order_failure *failures;
	uint32_t failure_count, failure_capacity;
	struct order_life *lives; /* by their reads */
	uint32_t life_count, life_capacity;
	struct order_round *rounds;
	uint32_t round_count, round_capacity;
	struct order_semaphore *semaphores; /* those of which all is known */
	uint32_t semaphore_count;
	struct order_condition *conditions;
	uint32_t condition_count;
	struct event_id *events; /* all of them, in the order of the run */
	uint64_t event_count;
	struct order_clocks clocks;
	struct event_id *reads; /* by the number of a variable: where it was read */
	/* The same with what happened to be before it in this run: what it read, who had its lock. */
	struct order_clocks pasts;
	struct addresses addresses;
	struct order_first *firsts; /* order_firsts.c: open addressing */
	uint64_t first_count, first_capacity;
	uint64_t *hidden; /* words that were written by who was not seen (hidden.h), sorted */
	uint32_t hidden_count, hidden_capacity;
};

/* That of the op; NULL: its condition variable is none of the list. */
const struct order_condition *order_condition_at(const struct order *order, uint64_t address);
void order_build(struct order *order, const struct walk *walk);
void order_release(struct order *order);

/*
 * Part of a run: of each thread the events [begin, end). What was before them has happened as it did, and
 * needs nothing of what was not; what is behind them does not happen.
 */
struct order_window {
	uint32_t *begin, *end; /* by thread */
};

/* It takes no time, but lets all others go on first: a yield, or a sleep of no length, which the engine takes for one. */
static inline bool order_is_pause(const struct record_op *op)
{
	return op->kind == OP_YIELD || (op->kind == OP_SLEEP && !op->address && op->argument == 1);
}

/* Of an event: how many of the other thread's came before. */
static inline uint32_t order_clock_of(const struct order *order, const struct order_clocks *clocks,
	struct event_id event, uint16_t other)
{
	return event.thread == other
		       ? event.index + 1
		       : clocks->rows[(uint64_t)clocks->numbers[event.thread][event.index] *
					      order->thread_count +
				      other];
}

/* What stood there before all writes of the run; false: no read of all of it came before them. */
bool order_first_value(
	const struct order *order, uint64_t address, uint32_t bytes, uint64_t *value);
/* Of a read: what it must not come behind; NULL: nothing of that kind. */
const struct order_life *order_life_of(const struct order *order, struct event_id read);
/* Must `first` come before `second`? */
bool order_is_before(const struct order *order, struct event_id first, struct event_id second);

#endif
