#include "analyses/order/thread_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/strbuf.h"
#include "model/op.h"
#include "trace/schedule_text.h"

struct ordered_thread {
	thread_name name;
	uint32_t parent;  /* index; THREAD_CAPACITY: none */
	uint32_t ordinal; /* number among its parent's children */
	uint32_t created; /* children so far */
	/* address by which the run names the thread, known once it has ended */
	uint64_t record;
	struct epoch *epoch;
	uint32_t *before_start; /* `before` of its first epoch; NULL if not yet created */
	uint64_t waits_on;	/* condition variable, 0: none */
	/* order that its wake-up inherits, as in an epoch; NULL if unused */
	uint32_t *woken_by;
};

/* Order inherited by threads that pass a barrier, a semaphore or a once control. */
struct passage {
	uint64_t address;
	uint32_t *before;
	UT_hash_handle hh;
};

struct thread_order {
	uint32_t thread_count;
	struct ordered_thread *threads;
	struct epoch **epochs; /* all epochs; owned */
	uint32_t epoch_count;
	struct passage *passages;
};

static struct epoch *thread_order_new_epoch(
	struct thread_order *order, uint32_t thread, uint32_t number, const uint32_t *before)
{
	struct epoch *epoch = array_new(1, sizeof *epoch);

	*epoch = (struct epoch){.order = order,
		.thread = thread,
		.number = number,
		.before = array_new(order->thread_count, sizeof *before)};
	if (before)
		memcpy(epoch->before, before, order->thread_count * sizeof *before);
	ARRAY_APPEND(order->epochs, order->epoch_count, epoch);
	return epoch;
}

static void thread_order_next_epoch(struct thread_order *order, uint32_t index)
{
	struct ordered_thread *thread = &order->threads[index];

	thread->epoch = thread_order_new_epoch(
		order, index, thread->epoch->number + 1, thread->epoch->before);
}

/* Finds the thread's parent by its name: "main.0.2" is the third child of "main.0". */
static void thread_order_find_parent(
	struct thread_order *order, const struct trace_run *run, uint32_t index)
{
	struct ordered_thread *thread = &order->threads[index];
	const char *dot = strrchr(run->threads[index].path, '.');
	char *parent;

	thread->parent = THREAD_CAPACITY;
	if (!dot)
		return;
	thread->ordinal = (uint32_t)strtoul(dot + 1, NULL, 10);
	parent = string_copy_part(
		run->threads[index].path, (size_t)(dot - run->threads[index].path));
	thread->parent = thread_order_find(order, thread_path_name(parent));
	free(parent);
}

struct thread_order *thread_order_new(const struct trace_run *run)
{
	struct thread_order *order = array_new(1, sizeof *order);

	order->thread_count = run->thread_count;
	order->threads = array_new(run->thread_count, sizeof *order->threads);
	for (uint32_t i = 0; i < run->thread_count; i++)
		order->threads[i].name = thread_path_name(run->threads[i].path);
	for (uint32_t i = 0; i < run->thread_count; i++) {
		thread_order_find_parent(order, run, i);
		order->threads[i].epoch = thread_order_new_epoch(order, i, 1, NULL);
	}
	return order;
}

void thread_order_free(struct thread_order *order)
{

	if (!order)
		return;
	for (uint32_t i = 0; i < order->epoch_count; i++) {
		free(order->epochs[i]->before);
		free(order->epochs[i]);
	}
	HASH_FREE_EACH(order->passages, passage, free(passage->before));
	for (uint32_t i = 0; i < order->thread_count; i++)
		free(order->threads[i].woken_by);
	free(order->epochs);
	free(order->threads);
	free(order);
}

uint32_t thread_order_count(const struct thread_order *order)
{
	return order->thread_count;
}

uint32_t thread_order_find(const struct thread_order *order, thread_name name)
{
	for (uint32_t i = 0; i < order->thread_count; i++)
		if (order->threads[i].name == name)
			return i;
	return THREAD_CAPACITY;
}

thread_name thread_order_name(const struct thread_order *order, uint32_t thread)
{
	return order->threads[thread].name;
}

const struct epoch *thread_order_epoch(struct thread_order *order, uint32_t thread)
{
	return order->threads[thread].epoch;
}

uint32_t thread_order_joined(const struct thread_order *order, const struct trace_event *event)
{
	for (uint32_t i = order->thread_count; event->address && i--;)
		if (order->threads[i].record == event->address)
			return i;
	return THREAD_CAPACITY;
}

/* Orders the child's events after all events of its creator so far. A failed creation has no
 * child. */
static void thread_order_note_creation(struct thread_order *order, uint32_t creator)
{
	struct ordered_thread *parent = &order->threads[creator];
	const uint32_t ordinal = parent->created++;

	for (uint32_t i = creator + 1; i < order->thread_count; i++) {
		struct ordered_thread *child = &order->threads[i];

		if (child->parent != creator || child->ordinal != ordinal)
			continue;
		memcpy(child->epoch->before, parent->epoch->before,
			order->thread_count * sizeof *child->epoch->before);
		child->epoch->before[creator] = parent->epoch->number;
		child->before_start = child->epoch->before;
		break;
	}
	thread_order_next_epoch(order, creator);
}

static void thread_order_note_join(struct thread_order *order, const struct trace_event *event)
{
	const uint32_t joined = thread_order_joined(order, event);
	struct ordered_thread *waiter = &order->threads[event->thread];
	const struct epoch *last;

	if (joined == THREAD_CAPACITY)
		return;
	last = order->threads[joined].epoch;
	thread_order_next_epoch(order, event->thread);
	for (uint32_t i = 0; i < order->thread_count; i++)
		if (waiter->epoch->before[i] < last->before[i])
			waiter->epoch->before[i] = last->before[i];
	waiter->epoch->before[joined] = UINT32_MAX; /* all of the joined thread */
}

void thread_order_add(struct thread_order *order, const struct trace_event *event)
{
	switch (event->kind) {
	case OP_THREAD_CREATE:
		thread_order_note_creation(order, event->thread);
		break;
	case OP_THREAD_EXIT:
		order->threads[event->thread].record = event->address;
		break;
	case OP_THREAD_JOIN:
		thread_order_note_join(order, event);
		break;
	default:
		break;
	}
}

static void thread_order_merge(
	const struct thread_order *order, uint32_t *into, const uint32_t *from)
{
	for (uint32_t i = 0; i < order->thread_count; i++)
		if (into[i] < from[i])
			into[i] = from[i];
}

static uint32_t *thread_order_passage_before(struct thread_order *order, uint64_t address)
{
	struct passage *passage;

	HASH_FIND(hh, order->passages, &address, sizeof address, passage);
	if (!passage) {
		passage = array_new(1, sizeof *passage);
		passage->address = address;
		passage->before = array_new(order->thread_count, sizeof *passage->before);
		HASH_ADD(hh, order->passages, address, sizeof passage->address, passage);
	}
	return passage->before;
}

static void thread_order_add_past(struct thread_order *order, uint32_t thread, uint32_t *to)
{
	const struct epoch *epoch = order->threads[thread].epoch;

	thread_order_merge(order, to, epoch->before);
	if (to[thread] < epoch->number)
		to[thread] = epoch->number;
}

static void thread_order_learn(struct thread_order *order, uint32_t thread, const uint32_t *from)
{
	thread_order_next_epoch(order, thread);
	thread_order_merge(order, order->threads[thread].epoch->before, from);
	/* The thread's own entry is unused, because epochs of one thread are ordered by number. */
	order->threads[thread].epoch->before[thread] = 0;
}

static void thread_order_note_wait(struct thread_order *order, const struct trace_event *event)
{
	struct ordered_thread *thread = &order->threads[event->thread];

	thread->waits_on = event->address;
	if (!thread->woken_by)
		thread->woken_by = array_new(order->thread_count, sizeof *thread->woken_by);
	memset(thread->woken_by, 0, order->thread_count * sizeof *thread->woken_by);
}

static void thread_order_note_signal(struct thread_order *order, const struct trace_event *event)
{
	for (uint32_t i = 0; i < order->thread_count; i++)
		if (event->address && order->threads[i].waits_on == event->address)
			thread_order_add_past(order, event->thread, order->threads[i].woken_by);
	thread_order_next_epoch(order, event->thread);
}

void thread_order_add_waits(struct thread_order *order, const struct trace_event *event)
{
	struct ordered_thread *thread = &order->threads[event->thread];

	/*
	 * If the next event of a waiting thread acquires the mutex, a signal has ended the wait. Any
	 * other event means that the wait ended without a signal.
	 */
	if (thread->waits_on && event->kind != OP_ENTER && event->kind != OP_LEAVE) {
		if (event->kind == OP_MUTEX_LOCK)
			thread_order_learn(order, event->thread, thread->woken_by);
		thread->waits_on = 0;
	}
	switch (event->kind) {
	case OP_COND_WAIT:
		thread_order_note_wait(order, event);
		break;
	case OP_COND_SIGNAL:
	case OP_COND_BROADCAST:
		thread_order_note_signal(order, event);
		break;
	case OP_BARRIER_ARRIVE:
	case OP_SEM_POST:
	case OP_ONCE_DONE:
		thread_order_add_past(
			order, event->thread, thread_order_passage_before(order, event->address));
		thread_order_next_epoch(order, event->thread);
		break;
	case OP_BARRIER_LEAVE:
	case OP_SEM_WAIT:
	case OP_ONCE_ENTER:
		thread_order_learn(
			order, event->thread, thread_order_passage_before(order, event->address));
		break;
	default:
		thread_order_add(order, event);
		break;
	}
}

bool epoch_is_before(const struct epoch *first, const struct epoch *second)
{
	if (first->thread == second->thread)
		return first->number < second->number;
	return second->before[first->thread] >= first->number;
}

static bool thread_order_overlaps_thread(const struct epoch *epoch, thread_name name)
{
	const uint32_t index = thread_order_find(epoch->order, name);
	const struct ordered_thread *thread;

	if (index == THREAD_CAPACITY || index == epoch->thread)
		return true;
	thread = &epoch->order->threads[index];
	if (epoch->before[index] == UINT32_MAX)
		return false; /* the thread has ended */
	return !thread->before_start || thread->before_start[epoch->thread] < epoch->number;
}

bool epochs_overlap(const struct epoch *first, const struct epoch *second)
{
	if (first->order == second->order)
		return first->thread != second->thread &&
		       first->before[second->thread] < second->number &&
		       second->before[first->thread] < first->number;
	return thread_order_overlaps_thread(
		       first, thread_order_name(second->order, second->thread)) &&
	       thread_order_overlaps_thread(second, thread_order_name(first->order, first->thread));
}
