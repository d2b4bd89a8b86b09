/* Shared by the files that build the order (order.h). */
#pragma once

#include "model/op.h"
#include "branches/order/order.h"

/* Returns the lock that an operation uses. A wait on a condition variable releases its mutex and
 * ends by locking it again. */
static inline uint64_t order_lock_of(const struct record_op *op)
{
	return op->kind == OP_COND_WAIT ? op->argument : op->address;
}

struct op_event {
	const struct record_op *op;
	struct event_id id;
};

/* A list of operations, in the order of the run. */
struct op_list {
	struct op_event *items;
	uint32_t count;
};

/* Adds an edge between different threads: program order needs no edges. */
void order_add(struct order *order, struct order_edge edge);
static inline void order_add_edge(
	struct order *order, struct event_id first, struct event_id second)
{
	order_add(order, (struct order_edge){.first = first, .second = second});
}
/* Adds the edges of semaphores and of pthread_once() (order_waits.c). */
void order_add_semaphores(struct order *order, const struct op_list *list);
void order_add_once(struct order *order, const struct op_list *list);
/* Adds the barriers (order_waits.c). */
void order_add_rounds(struct order *order, const struct op_list *list);
void order_release_rounds(struct order *order);
/* Adds the edges of threads that wait for time to pass (order_waits.c). */
void order_add_times(struct order *order, const struct op_list *list);
/* Adds the blocks that are freed (order_memory.c). Needs the clocks. */
void order_add_lives(struct order *order);
/* Adds the initial contents of memory (order_memory.c). Needs `events`. */
void order_add_firsts(struct order *order);
/* Adds the condition variables (order_conditions.c). */
void order_add_conditions(struct order *order, const struct op_list *list);
void order_release_conditions(struct order *order);

/* Sorts the edges and the events; fills `reads`, `clocks` and `pasts`. */
void order_fill_clocks(struct order *order);
void order_release_clocks(struct order_clocks *clocks, uint32_t threads);
