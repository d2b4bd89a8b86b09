/* The graph of the lock-order analysis, shared by its two files. */
#pragma once

#include <uthash.h>

#include "analyses/analysis.h"
#include "analyses/order/thread_order.h"

/* Limits: locks held at a request, epochs per request. More would hardly add deadlocks. */
#define REQUEST_HELD_MAX 12
#define REQUEST_EPOCHS_MAX 16

/* A lock as named in requests; stable across runs. */
struct lock_name {
	object_name object;
	bool is_shared;
};

/* One occurrence of a request in a recorded run. */
struct request_epoch {
	const struct epoch *epoch;
	uint32_t run;
	struct trace_event op;
	struct trace_event taken[REQUEST_HELD_MAX];
};

/* Key of equal requests. Compared as bytes, so padding must be initialised. */
struct request_key {
	object_name object; /* name of the lock; 0: the request is a join */
	thread_name joined; /* name of the thread to join; set for a join only */
	thread_name thread; /* the requesting thread; 0 in a kind of requests */
	uint8_t op;
	uint8_t held_count;
	uint8_t reserved[2];
	uint64_t code; /* hash of the request's site and callers */
	uint64_t
		held; /* hash of the held locks, their modes and the locations of their acquisition */
};

/* A thread requests a lock (or the end of a thread) while it holds locks. */
struct request {
	struct request_key key;
	struct lock_name held[REQUEST_HELD_MAX];
	struct request_epoch *epochs; /* owned */
	uint32_t epoch_count;
	uint32_t kind;	    /* index of its kind */
	uint32_t kind_next; /* next request of the same kind; UINT32_MAX: none */
	UT_hash_handle hh;
};

/* A class of requests that differ in the thread only. */
struct request_kind {
	struct request_key key; /* key of its requests, but `thread` is 0 */
	uint32_t first;		/* index of the first request of its list */
	UT_hash_handle hh;
};

struct lock_order {
	struct thread_order **orders; /* orders of the runs, owned */
	uint32_t run_count;
	struct request **requests; /* owned */
	uint32_t request_count;
	struct request *requests_by_key;
	struct request_kind **kinds; /* owned */
	uint32_t kind_count;
	struct request_kind *kinds_by_key;
};

static inline const struct request *kind_request(
	const struct lock_order *graph, const struct request_kind *kind)
{
	return graph->requests[kind->first];
}

/* Functions of lock_order_cycles.c. */
void lock_order_find_cycles(const struct lock_order *graph, struct candidates *out);
