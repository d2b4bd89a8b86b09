/*
 * Hash of the partial order (happens-before) of a run's ops: equal for runs that differ only in the
 * order of independent ops. The hash of an op covers the previous op of its thread and the last op
 * on its object that was no read; their sum is the hash of the order. A plain value, initially all
 * zero.
 */
#pragma once

#include "base/hash.h"
#include "model/view.h"

/* Objects share a slot by hash. A collision only makes two equal orders look different. */
#define ORDER_HASH_SLOTS 1024u

struct order_hash_object {
	uint64_t write; /* hash of the last op that was no read */
	uint64_t run;	/* the slot is empty if this is not the current run */
};

struct order_hash {
	uint64_t run; /* number of the current run, from 1 */
	uint64_t value;
	uint32_t known; /* number of threads of this run with a hash */
	uint64_t thread[THREAD_CAPACITY];
	struct order_hash_object objects[ORDER_HASH_SLOTS];
};

static inline void order_hash_begin(struct order_hash *order)
{
	order->run++;
	order->value = 0;
	order->known = 0;
}

static inline void order_hash_add(
	struct order_hash *order, const struct schedule_view *view, struct thread_id thread)
{
	const struct pending_op *op = &view->pending[thread.index];
	struct order_hash_object *object;
	uint64_t hash;

	while (order->known < view->thread_count) {
		order->thread[order->known] =
			hash_mix(view->names[order->known] + UINT64_C(0x9e3779b97f4a7c15));
		order->known++;
	}
	hash = order->thread[thread.index] + op->kind;
	if (op->object) {
		object = &order->objects[hash_mix(op->object) % ORDER_HASH_SLOTS];
		if (object->run != order->run)
			*object = (struct order_hash_object){.run = order->run};
		hash = hash_pair(hash, object->write);
		if (!(op->flags & OP_READ))
			object->write = hash;
	} else {
		hash = hash_mix(hash);
	}
	order->thread[thread.index] = hash;
	order->value += hash_mix(hash);
}

static inline void order_hash_add_value(struct order_hash *order, uint32_t value)
{
	order->value += hash_pair(order->value, value);
}
