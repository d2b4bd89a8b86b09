/* Order of threads that wait: at semaphores, pthread_once(), barriers, and for time. */
#include <stdlib.h>

#include "base/array.h"
#include "branches/order/order_internal.h"

/* The constraints grow with the pairs of uses: beyond this limit the recorded order is kept. */
#define USES_MOST 64

#define NONE UINT32_MAX

static bool order_waits_is_take(const struct record_op *op)
{
	return (op->kind == OP_SEM_WAIT || op->kind == OP_SEM_TRYWAIT) &&
	       !(op->flags & RECORD_OP_FAILED);
}

static bool order_waits_is_use(const struct record_op *op)
{
	return op->kind == OP_SEM_WAIT || op->kind == OP_SEM_TRYWAIT || op->kind == OP_SEM_POST ||
	       op->kind == OP_SEM_READ;
}

/* Posts may change their order. Constraints replace edges that are `is_usual`. */
static void order_waits_add_wait_edge(
	struct order *order, const struct op_list *list, uint32_t wait, bool is_usual)
{
	const struct op_event *event = &list->items[wait];
	uint32_t waits = 0, posts = 0, surplus = 0;

	/* `surplus`: the lowest initial value that explains the run. */
	for (uint32_t i = 0; i <= wait; i++) {
		const struct op_event *before = &list->items[i];

		if (before->op->address != event->op->address ||
			before->op->flags & RECORD_OP_FAILED)
			continue;
		posts += before->op->kind == OP_SEM_POST;
		waits += order_waits_is_take(before->op);
		if (waits > posts + surplus)
			surplus = waits - posts;
	}
	if (waits <= surplus)
		return;
	posts = waits - surplus;
	for (uint32_t i = 0; i < wait; i++)
		if (list->items[i].op->address == event->op->address &&
			list->items[i].op->kind == OP_SEM_POST && --posts == 0) {
			order_add(order, (struct order_edge){.first = list->items[i].id,
						 .second = event->id,
						 .is_usual = is_usual});
			return;
		}
}

/* Lists the uses of a semaphore. Returns false if there are too many, or some are not known. */
static bool order_waits_list_uses(struct order_semaphore *semaphore, const struct op_list *list)
{
	int64_t value = semaphore->value;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_op *op = list->items[i].op;
		const bool has_failed = op->flags & RECORD_OP_FAILED;

		if (op->address != semaphore->address || !order_waits_is_use(op))
			continue;
		ARRAY_APPEND(semaphore->uses, semaphore->count,
			(struct order_use){.event = list->items[i].id,
				.kind = op->kind == OP_SEM_TRYWAIT ? OP_SEM_WAIT : op->kind,
				.is_try = op->kind == OP_SEM_TRYWAIT,
				.has_failed = has_failed,
				.value = (uint32_t)value});
		value += op->kind == OP_SEM_POST;
		value -= order_waits_is_take(op);
		/* An interrupted wait failed although the value was positive. */
		if (value < 0 || semaphore->count > USES_MOST ||
			(op->kind != OP_SEM_POST && has_failed && value))
			return false;
	}
	return true;
}

/* Adds the semaphore if the program has initialised it once, and its uses are known and not too many.
 * Returns NULL otherwise. */
static const struct order_semaphore *order_waits_add_semaphore(
	struct order *order, const struct op_list *list, uint64_t address)
{
	const struct walk *walk = order->walk;
	struct order_semaphore semaphore = {.address = address};
	bool is_known = false;

	for (uint32_t i = 0; i < walk->semaphore_count; i++)
		if (walk->semaphores[i].address == address && walk->semaphores[i].is_known) {
			semaphore.value = walk->semaphores[i].value;
			is_known = true;
		}
	if (!is_known || walk->part.begin || walk->part.end ||
		!order_waits_list_uses(&semaphore, list)) {
		free(semaphore.uses);
		return NULL;
	}
	ARRAY_APPEND(order->semaphores, order->semaphore_count, semaphore);
	return &order->semaphores[order->semaphore_count - 1];
}

/* If one thread posts, a thread's n-th wait needs the n-th post, minus the initial value. */
static void order_waits_add_sure_edges(struct order *order, const struct order_semaphore *semaphore)
{
	FREE_SCOPED uint32_t *takes = array_new(order->thread_count + 1u, sizeof *takes);
	uint32_t poster = NONE;

	for (uint32_t i = 0; i < semaphore->count; i++) {
		const struct order_use *use = &semaphore->uses[i];

		if (use->kind == OP_SEM_POST && poster != NONE && use->event.thread != poster)
			return;
		if (use->kind == OP_SEM_POST)
			poster = use->event.thread;
	}
	for (uint32_t i = 0; i < semaphore->count && poster != NONE; i++) {
		const struct order_use *use = &semaphore->uses[i];
		uint32_t posts;

		if (use->kind != OP_SEM_WAIT || use->has_failed || use->is_try ||
			++takes[use->event.thread] <= semaphore->value)
			continue;
		posts = takes[use->event.thread] - semaphore->value;
		for (uint32_t j = 0; j < i; j++)
			if (semaphore->uses[j].kind == OP_SEM_POST && --posts == 0)
				order_add_edge(order, semaphore->uses[j].event, use->event);
	}
}

bool order_has_semaphore(const struct order *order, uint64_t address)
{
	for (uint32_t i = 0; i < order->semaphore_count; i++)
		if (order->semaphores[i].address == address)
			return true;
	return false;
}

void order_add_semaphores(struct order *order, const struct op_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct record_op *op = list->items[i].op;
		const struct order_semaphore *added =
			order_waits_is_use(op) && !order_has_semaphore(order, op->address)
				? order_waits_add_semaphore(order, list, op->address)
				: NULL;

		if (added)
			order_waits_add_sure_edges(order, added);
		if (order_waits_is_take(op))
			order_waits_add_wait_edge(
				order, list, i, order_has_semaphore(order, op->address));
	}
}

/* A thread that finds the routine done makes no step, but follows the end of the routine. */
void order_add_once(struct order *order, const struct op_list *list)
{
	const struct walk *walk = order->walk;

	for (struct event_id id = {0}; walk_has_event(walk, &id); id.index++) {
		const struct walk_event *event = walk_event_of(walk, id);

		for (uint32_t i = 0; event->kind == EVENT_ONCE && i < list->count; i++)
			if (list->items[i].op->kind == OP_ONCE_DONE &&
				list->items[i].op->address == event->address)
				order_add_edge(order, list->items[i].id, id);
	}
}

static struct order_round *order_waits_open_round(struct order *order, const struct record_op *op)
{
	struct order_round *round;

	for (uint32_t i = order->round_count; i-- > 0;)
		if (order->rounds[i].address == op->address) {
			if (order->rounds[i].last == ORDER_NONE)
				return &order->rounds[i];
			break;
		}
	round = ARRAY_NEXT(order->rounds, order->round_count);
	*round = (struct order_round){
		.address = op->address, .number = op->argument, .last = ORDER_NONE};
	return round;
}

static const struct order_round *order_waits_round_before(
	const struct order *order, const struct order_round *round)
{
	for (const struct order_round *before = round; before-- > order->rounds;)
		if (before->address == round->address)
			return before;
	return NULL;
}

static bool order_waits_has_thread(const struct order_round *round, uint16_t thread)
{
	for (uint32_t i = 0; i < round->count; i++)
		if (round->arrivals[i].at.thread == thread)
			return true;
	return false;
}

/* Adds an arrival at a barrier. The thread has left the previous round, or follows all arrivals of
 * that round. */
static void order_waits_add_arrival(struct order *order, const struct op_event *event)
{
	struct order_round *round = order_waits_open_round(order, event->op);
	const struct order_round *before = order_waits_round_before(order, round);

	if (before && !order_waits_has_thread(before, event->id.thread))
		for (uint32_t i = 0; i < before->count; i++)
			order_add_edge(order, before->arrivals[i].at, event->id);
	ARRAY_APPEND(round->arrivals, round->count,
		(struct order_arrival){.at = event->id, .leave = ORDER_NONE});
	if (event->op->flags & RECORD_OP_LAST)
		round->last = round->count - 1;
}

static void order_waits_add_round_edge(
	struct order *order, uint32_t round, struct event_id first, struct event_id second)
{
	order_add(order, (struct order_edge){.first = first, .second = second, .round = round + 1});
}

static void order_rounds_add_leave(struct order *order, const struct op_event *event)
{
	for (struct order_round *round = order->rounds + order->round_count;
		round-- > order->rounds;) {
		if (round->address != event->op->address || round->number != event->op->argument ||
			round->last == ORDER_NONE)
			continue;
		for (uint32_t i = 0; i < round->count; i++)
			if (round->arrivals[i].at.thread == event->id.thread)
				round->arrivals[i].leave = event->id.index;
		order_waits_add_round_edge(order, (uint32_t)(round - order->rounds),
			round->arrivals[round->last].at, event->id);
		return;
	}
}

void order_add_rounds(struct order *order, const struct op_list *list)
{
	bool is_whole = !order->walk->part.begin && !order->walk->part.end;

	for (uint32_t i = 0; i < order->thread_count; i++)
		is_whole &= order->walk->threads[i].summary.end == WALK_COMPLETE ||
			    order->walk->threads[i].summary.end == WALK_CRASHED;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct op_event *event = &list->items[i];

		if (event->op->kind == OP_BARRIER_ARRIVE)
			order_waits_add_arrival(order, event);
		else if (event->op->kind == OP_BARRIER_LEAVE)
			order_rounds_add_leave(order, event);
	}
	for (uint32_t i = 0; i < order->round_count; i++) {
		struct order_round *round = &order->rounds[i];

		round->is_known = is_whole && round->last != ORDER_NONE;
		for (uint32_t j = 0; round->last != ORDER_NONE && j < round->count; j++)
			order_waits_add_round_edge(
				order, i, round->arrivals[j].at, round->arrivals[round->last].at);
	}
}

void order_release_rounds(struct order *order)
{
	for (uint32_t i = 0; i < order->round_count; i++)
		free(order->rounds[i].arrivals);
	free(order->rounds);
}

/*
 * Waits for time. Virtual time passes only when no thread is enabled (engine/clock.c): a thread
 * returns from a sleep or timeout when all others are blocked. The locations where all are blocked in
 * another order are unknown. The thread therefore stays behind all earlier operations of the
 * others. The same rule holds for input from outside of the process. This is stricter than
 * necessary if the time was already over.
 */

/* Numbers plus one of a thread's last operation, and of its last write to a descriptor. */
struct last_ops {
	uint32_t any, writes;
};

/* Returns whether the wait ended by an event outside: other threads moved during the wait, but none
 * wrote to a descriptor. */
static bool order_waits_waited_for_outside(const struct order *order, const struct last_ops *last,
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

static bool order_waits_for_time(const struct order *order, const struct last_ops *last,
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
		return op->flags & RECORD_OP_FAILED ||
		       order_waits_waited_for_outside(order, last, list, at);
	default:
		return false;
	}
}

/* `reported`: of each other thread, the number of events that an earlier edge to this thread covers. */
static void order_times_add_time(struct order *order, struct event_id id, uint32_t *reported)
{
	const struct walk *walk = order->walk;
	const uint64_t position = walk->threads[id.thread].events[id.index].position;

	for (uint16_t thread = 0; thread < order->thread_count; thread++) {
		const uint32_t count =
			(uint32_t)walk_events_before(&walk->threads[thread], position);

		if (thread == id.thread || count <= reported[thread])
			continue;
		order_add_edge(order, (struct event_id){thread, count - 1}, id);
		reported[thread] = count;
	}
}

void order_add_times(struct order *order, const struct op_list *list)
{
	const uint32_t threads = order->thread_count;
	FREE_SCOPED uint32_t *reported = array_new((size_t)threads * threads + 1, sizeof *reported);
	FREE_SCOPED struct last_ops *last = array_new(threads + 1u, sizeof *last);

	for (uint32_t i = 0; i < list->count; i++) {
		const struct op_event *event = &list->items[i];

		if (order_waits_for_time(order, last, list, i))
			order_times_add_time(
				order, event->id, &reported[(size_t)event->id.thread * threads]);
		last[event->id.thread].any = i + 1;
		if (event->op->kind == OP_FD_WRITE)
			last[event->id.thread].writes = i + 1;
	}
}
