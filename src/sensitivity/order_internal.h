/* What the files of the order share. */
#ifndef RADDLE_SENSITIVITY_ORDER_INTERNAL_H
#define RADDLE_SENSITIVITY_ORDER_INTERNAL_H

#include "model/op.h"
#include "sensitivity/order.h"

/* A condition wait gives its mutex up; it ends with a lock of that. */
static inline uint64_t order_lock_of(const struct record_op *op)
{
	return op->kind == OP_COND_WAIT ? op->argument : op->address;
}

/* Of the edges: sorts them, and the events; fills `reads`, `clocks` and `pasts`. */
void order_fill_clocks(struct order *order);
void order_release_clocks(struct order_clocks *clocks, uint32_t threads);

#endif
