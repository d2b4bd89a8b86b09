/*
 * Predicts deadlocks from the orders in which threads acquire locks, for any number of threads and
 * locks. This file gathers requests from traces; lock_order_cycles.c searches them for cycles.
 *
 * The graph: Havelund, "Using Runtime Analysis to Guide Model Checking of Java Programs", SPIN
 * 2000. Gate locks, start and join: Agarwal, Bensalem, Farchi, Havelund, Nir-Buchbinder, Stoller,
 * Ur, Wang, "Detection of deadlock potentials in multithreaded programs", IBM Journal of Research
 * and Development 54(5), 2010. Extensions: a join is a request for the life of the joined thread;
 * rwlocks count by mode; attempts hold locks but do not block.
 */
#include <stdlib.h>
#include <string.h>

#include "analyses/order/held_locks.h"
#include "analyses/lock_order_internal.h"
#include "base/array.h"
#include "base/hash.h"

static void *lock_order_begin(const struct analysis_setting *setting)
{
	(void)setting;
	return array_new(1, sizeof(struct lock_order));
}

static void lock_order_end(void *state)
{
	struct lock_order *graph = state;

	HASH_CLEAR(hh, graph->requests_by_key);
	HASH_CLEAR(hh, graph->kinds_by_key);
	for (uint32_t i = 0; i < graph->request_count; i++) {
		free(graph->requests[i]->epochs);
		free(graph->requests[i]);
	}
	for (uint32_t i = 0; i < graph->kind_count; i++)
		free(graph->kinds[i]);
	for (uint32_t i = 0; i < graph->run_count; i++)
		thread_order_free(graph->orders[i]);
	free(graph->requests);
	free(graph->kinds);
	free(graph->orders);
	free(graph);
}

static uint64_t lock_order_code_of(const struct trace_event *event)
{
	uint64_t code = event->site;

	for (unsigned i = 0; i < TRACE_LOCATION_CALLERS; i++)
		code = hash_pair(code, event->callers[i]);
	return code;
}

static struct request_kind *lock_order_find_kind(
	struct lock_order *graph, const struct request_key *key)
{
	struct request_key without_thread = *key;
	struct request_kind *kind;

	without_thread.thread = 0;
	HASH_FIND(hh, graph->kinds_by_key, &without_thread, sizeof without_thread, kind);
	if (kind)
		return kind;
	kind = array_new(1, sizeof *kind);
	kind->key = without_thread;
	kind->first = UINT32_MAX;
	ARRAY_APPEND(graph->kinds, graph->kind_count, kind);
	HASH_ADD(hh, graph->kinds_by_key, key, sizeof kind->key, kind);
	return kind;
}

static uint32_t lock_order_kind_index(
	const struct lock_order *graph, const struct request_kind *kind)
{
	/* A new kind has no request yet and is the last one; other kinds know their first request. */
	return kind->first == UINT32_MAX ? graph->kind_count - 1
					 : graph->requests[kind->first]->kind;
}

static struct request *lock_order_find_request(
	struct lock_order *graph, const struct request_key *key)
{
	struct request *request;
	struct request_kind *kind;

	HASH_FIND(hh, graph->requests_by_key, key, sizeof *key, request);
	if (request)
		return request;
	request = array_new(1, sizeof *request);
	request->key = *key;
	kind = lock_order_find_kind(graph, key);
	request->kind = lock_order_kind_index(graph, kind);
	request->kind_next = kind->first;
	kind->first = graph->request_count;
	ARRAY_APPEND(graph->requests, graph->request_count, request);
	HASH_ADD(hh, graph->requests_by_key, key, sizeof request->key, request);
	return request;
}

static void lock_order_add_request_epoch(
	struct request *request, const struct request_epoch *instance)
{
	for (uint32_t i = 0; i < request->epoch_count; i++)
		if (request->epochs[i].epoch == instance->epoch)
			return;
	if (request->epoch_count == REQUEST_EPOCHS_MAX)
		return;
	ARRAY_APPEND(request->epochs, request->epoch_count, *instance);
}

struct reading {
	struct lock_order *graph;
	struct thread_order *order;
	struct held_locks *held;
	uint32_t run;
};

static void lock_order_add_request(const struct reading *reading, const struct trace_event *event)
{
	uint32_t count;
	const struct held_lock *held = held_locks_of(reading->held, event->thread, &count);
	const bool is_join = event->kind == OP_THREAD_JOIN;
	struct request_epoch instance = {
		.epoch = thread_order_epoch(reading->order, event->thread),
		.run = reading->run,
		.op = *event,
	};
	struct request_key key;
	struct request *request;
	uint32_t joined;

	memset(&key, 0, sizeof key); /* compared as bytes */
	key.thread = thread_order_name(reading->order, event->thread);
	key.op = event->kind;
	key.code = lock_order_code_of(event);
	key.object = is_join ? 0 : event->object;
	if (is_join) {
		joined = thread_order_joined(reading->order, event);
		if (joined == THREAD_CAPACITY)
			return;
		key.joined = thread_order_name(reading->order, joined);
	}
	/* Keeps the most recent locks, because most cycles close within a few. */
	if (count > REQUEST_HELD_MAX) {
		held += count - REQUEST_HELD_MAX;
		count = REQUEST_HELD_MAX;
	}
	key.held_count = (uint8_t)count;
	for (uint32_t i = 0; i < count; i++) {
		key.held = hash_pair(hash_pair(key.held, held[i].taken.object),
			hash_pair(lock_order_code_of(&held[i].taken), held[i].is_shared));
		instance.taken[i] = held[i].taken;
	}
	request = lock_order_find_request(reading->graph, &key);
	for (uint32_t i = 0; i < count; i++)
		request->held[i] = (struct lock_name){held[i].taken.object, held[i].is_shared};
	lock_order_add_request_epoch(request, &instance);
}

/* Returns the index of each event's next event of the same thread; `count`: none. */
static uint32_t *lock_order_index_next(
	const struct trace_event *events, uint32_t count, uint32_t thread_count)
{
	uint32_t *next = array_new(count + 1u, sizeof *next);
	FREE_SCOPED uint32_t *last = array_new(thread_count + 1u, sizeof *last);

	for (uint32_t i = 0; i < thread_count; i++)
		last[i] = count;
	for (uint32_t i = count; i--;) {
		next[i] = last[events[i].thread];
		last[events[i].thread] = i;
	}
	return next;
}

static void lock_order_read_run(
	const struct reading *reading, const struct trace_event *events, uint32_t count)
{
	FREE_SCOPED uint32_t *next =
		lock_order_index_next(events, count, thread_order_count(reading->order));

	for (uint32_t i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];

		/* The join request precedes the happens-before order that the join creates. */
		if (event->kind == OP_THREAD_JOIN ||
			held_locks_effect(reading->held, event) == LOCK_WAITED_FOR)
			lock_order_add_request(reading, event);
		thread_order_add(reading->order, event);
		held_locks_add(reading->held, event,
			event->kind == OP_COND_WAIT ? waited_mutex(events, next, count, i) : 0);
	}
}

static int lock_order_add_run(
	void *state, struct trace_reader *trace, const struct analysis_run *run, struct error *err)
{
	struct lock_order *graph = state;
	const struct trace_run *about = trace_reader_run(trace);
	uint32_t count;
	FREE_SCOPED struct trace_event *events = analysis_read_events(trace, &count, err);
	struct reading reading = {.graph = graph, .run = run->number};

	if (!events)
		return ERROR_FORMAT;
	reading.order = thread_order_new(about);
	reading.held = held_locks_new(about->thread_count);
	ARRAY_APPEND(graph->orders, graph->run_count, reading.order);
	lock_order_read_run(&reading, events, count);
	held_locks_free(reading.held);
	return 0;
}

static void lock_order_find(void *state, struct candidates *out)
{
	lock_order_find_cycles(state, out);
}

const struct analysis analysis_lock_order = {
	.name = "lock_order",
	.summary = "deadlocks: threads acquire locks in orders that form a cycle",
	.begin = lock_order_begin,
	.add_run = lock_order_add_run,
	.find = lock_order_find,
	.end = lock_order_end,
};
