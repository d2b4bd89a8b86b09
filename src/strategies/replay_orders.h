/*
 * Orders of operations that strategy `replay` enforces or observes (replay.h).
 *
 * An *order* names two operations on one object by different threads. Each operation has a number,
 * from 1, among the operations of its thread on the object. An enforced order delays the second
 * operation until the first has happened. If all enabled threads are delayed, one of them moves
 * nevertheless. An order is *broken* by a run in which the second operation comes first.
 *
 * The block lies at the end of the state of `replay`, contains no pointers, and is filled by the
 * command.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/view.h"
#include "strategies/replay.h"

/* Two endpoints per order fit the table. */
#define REPLAY_ORDERS_MOST (KEY_TABLE_CAPACITY / 2)

struct replay_order {
	object_name object;
	thread_name first, second;
	uint32_t first_number, second_number;
	bool is_enforced;
	bool is_broken; /* in the last run */
	/* Set by replay_state_set_orders(). */
	uint32_t first_end; /* endpoint of the first operation */
	uint32_t next;	    /* 1 + next order with the same second endpoint; 0: none */
};

/* An operation of an observed run. */
struct replay_op {
	uint64_t site; /* same as in struct pending_op */
	object_name object;
	uint32_t number; /* from 1, among those of the thread on the object; 0: is_full */
	uint16_t thread; /* index in the run */
	bool is_read;
};

struct replay_watch {
	thread_name thread;
	object_name object;
};

/* Operations of one thread on one object. */
struct replay_endpoint {
	uint32_t done;	/* number of operations in this run */
	uint32_t order; /* 1 + the next order whose second operation is due; 0: none */
	uint32_t first_order;
};

struct replay_orders {
	uint32_t order_count;
	/* Observed operations. Of more than the capacity, the last ones are kept, as in a ring. */
	uint32_t op_count, op_capacity;
	uint32_t pending_count; /* the last ones were still pending at the end of the run */
	bool keeps_first;	/* the first ones are kept instead */
	bool is_full;	  /* there were more threads and objects than numbers can be kept of */
	bool is_watching; /* only operations of the endpoints that replay_state_watch() added */
	uint64_t ops_offset, endpoints_offset; /* bytes from the start of this struct */
	struct key_table ends;
	struct replay_order orders[];
};

size_t replay_orders_bytes(uint32_t order_count, uint32_t op_capacity);

/* Appends the block to a state that replay_state_init() has laid out. Orders are copied; those with
 * one second thread and object are sorted by second_number. */
void replay_state_set_orders(struct replay_state *state, const struct replay_order *orders,
	uint32_t order_count, uint32_t op_capacity);

/* An observed run then notes only operations of watched threads and objects. Returns false if there is
 * no room for a further one. */
bool replay_state_watch(struct replay_state *state, const struct replay_watch *watch);

static inline struct replay_orders *replay_orders(struct replay_state *state)
{
	return (struct replay_orders *)((char *)state + state->orders_offset);
}

static inline struct replay_op *replay_orders_ops(struct replay_orders *orders)
{
	return (struct replay_op *)((char *)orders + orders->ops_offset);
}

/* For replay.c. */
void replay_orders_begin_run(struct replay_orders *orders);
struct thread_id replay_orders_choose(
	struct replay_orders *orders, const struct schedule_view *view);
void replay_orders_executed(
	struct replay_orders *orders, const struct schedule_view *view, uint32_t thread);
void replay_orders_ending(struct replay_orders *orders, const struct schedule_view *view);
