/* What the files of the order share. */
#ifndef RADDLE_BRANCHES_SOLVE_ORDER_INTERNAL_H
#define RADDLE_BRANCHES_SOLVE_ORDER_INTERNAL_H

#include "model/op.h"
#include "branches/solve/order.h"

/* A condition wait gives its mutex up; it ends with a lock of that. */
static inline uint64_t order_lock_of(const struct record_op *op)
{
	return op->kind == OP_COND_WAIT ? op->argument : op->address;
}

struct op_event {
	const struct record_op *op;
	struct event_id id;
};

/* Events of ops in the order of the run. */
struct op_list {
	struct op_event *items;
	uint32_t count, capacity;
};

/* Within a thread there are none to be added. */
void order_add_edge(struct order *order, struct event_id first, struct event_id second);
/* order_waits.c: what semaphores and pthread_once() keep in order. */
void order_add_semaphores(struct order *order, const struct op_list *list);
void order_add_once(struct order *order, const struct op_list *list);
/* order_rounds.c: barriers. */
void order_add_rounds(struct order *order, const struct op_list *list);
void order_release_rounds(struct order *order);
/* order_times.c: who waits for time to pass. */
void order_add_times(struct order *order, const struct op_list *list);
/* order_lives.c: blocks that are given back. Needs the clocks. */
void order_add_lives(struct order *order);
/* order_firsts.c: what memory held at first. Needs the events in the order of the run. */
void order_add_firsts(struct order *order);
/* order_conditions.c */
void order_add_conditions(struct order *order, const struct op_list *list);
void order_release_conditions(struct order *order);

/* Of the edges: sorts them, and the events; fills `reads`, `clocks` and `pasts`. */
void order_fill_clocks(struct order *order);
void order_release_clocks(struct order_clocks *clocks, uint32_t threads);

#endif
