/*
 * Orders of conflicting operations in an observed run (strategies/replay_orders.h). Two operations on
 * one object conflict if they are of different threads and not both reads. An order that follows
 * from a later conflict of the same two threads on the same object is left out. What did not happen
 * comes after all that happened: the operations that were pending at the end of the run, and the
 * next ones on the objects that the run accessed last.
 */
#pragma once

#include <stdint.h>

#include "strategies/replay_orders.h"

/* At most this many operations are observed. */
#define CONFLICTS_OPS_MOST (UINT32_C(1) << 16)

/* Returns the operations that the run kept, in their order, for the caller to free. */
struct replay_op *conflicts_ops(struct replay_orders *observed, uint32_t *count);

/* Returns for each operation whether threads contend for its object: several access it, and one of
 * them writes. The caller frees the result. */
bool *conflicts_contended(const struct replay_op *ops, uint32_t op_count);

/* Returns the threads and objects of operations that conflict, those of the latest ones last, for the
 * caller to free. Numbers of operations are not used. */
struct replay_watch *conflicts_watch(const struct replay_op *ops, uint32_t op_count,
	const thread_name *names, uint32_t thread_count, uint32_t *count);

/* Returns the orders of the operations for the caller to free, REPLAY_ORDERS_MOST at most. Those of
 * objects with few orders come last, and among them those of late operations. */
struct replay_order *conflicts_collect(const struct replay_op *ops, uint32_t op_count,
	uint32_t pending_count, const thread_name *names, uint32_t thread_count, uint32_t *count);
