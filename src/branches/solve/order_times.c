/*
 * Waits for time. Virtual time passes only when no thread is enabled (engine/clock.c), so a thread
 * returns from a sleep or a timeout when all others are blocked. When that is the case in another
 * order is unknown. The thread therefore stays behind everything that the others had done by then.
 * This is stricter than necessary if the time was already over. The same rule holds for a thread
 * that waits for input from outside of the process.
 */
#include <stdlib.h>

#include "base/bug.h"
#include "branches/solve/order_internal.h"

/*
 * By thread, among the operations seen so far: number plus one of its last one, and of its last
 * write to a descriptor.
 */
struct last_ops {
	uint32_t any, writes;
};

/*
 * Other threads moved while the thread waited, but none wrote to a descriptor: the input came from
 * outside.
 */
static bool waited_for_outside(const struct order *order, const struct last_ops *last,
	const struct op_list *list, uint32_t at)
{
	const uint16_t thread = list->items[at].id.thread;

	if (last[thread].any == at)
		return false;
	for (uint32_t i = 0; i < order->thread_count; i++)
		if (i != thread && last[i].writes > last[thread].any)
			return false;
	return true;
}

static bool waits_for_time(const struct order *order, const struct last_ops *last,
	const struct op_list *list, uint32_t at)
{
	const struct record_op *op = list->items[at].op;

	switch (op->kind) {
	case OP_SLEEP:
		return !order_is_pause(op);
	case OP_COND_WAKE:
		return true;
	case OP_SEM_WAIT:
		return op->flags & RECORD_OP_FAILED;
	case OP_FD_POLL:
	case OP_FD_READ:
		return op->flags & RECORD_OP_FAILED || waited_for_outside(order, last, list, at);
	default:
		return false;
	}
}

/* Number of the thread's events before this position of the run. */
static uint32_t order_times_count_before(const struct walked_thread *walked, uint64_t position)
{
	uint64_t low = 0, high = walked->count;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (walked->events[middle].position < position)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low;
}

/*
 * `told`: of each other thread, the number of events that an earlier edge to this thread already
 * covers.
 */
static void order_times_add_time(struct order *order, struct event_id id, uint32_t *told)
{
	const struct walk *walk = order->walk;
	const uint64_t position = walk->threads[id.thread].events[id.index].position;

	for (uint16_t thread = 0; thread < order->thread_count; thread++) {
		const uint32_t count = order_times_count_before(&walk->threads[thread], position);

		if (thread == id.thread || count <= told[thread])
			continue;
		order_add_edge(order, (struct event_id){thread, count - 1}, id);
		told[thread] = count;
	}
}

void order_add_times(struct order *order, const struct op_list *list)
{
	const uint32_t threads = order->thread_count;
	uint32_t *told = calloc((size_t)threads * threads + 1, sizeof *told);
	struct last_ops *last = calloc(threads + 1u, sizeof *last);

	BUG_ON(!told || !last);
	for (uint32_t i = 0; i < list->count; i++) {
		const struct op_event *event = &list->items[i];

		if (waits_for_time(order, last, list, i))
			order_times_add_time(
				order, event->id, &told[(size_t)event->id.thread * threads]);
		last[event->id.thread].any = i + 1;
		if (event->op->kind == OP_FD_WRITE)
			last[event->id.thread].writes = i + 1;
	}
	free(told);
	free(last);
}
