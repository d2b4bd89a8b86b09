/*
 * The state that a strategy sees at a scheduling point: read-only, valid during the call. Arrays
 * are indexed by thread; entries from thread_count on are undefined.
 */
#pragma once

#include "base/bitset.h"
#include "base/rng.h"
#include "model/ids.h"
#include "model/op.h"

/* Identity of a variable on the heap by its block. */
struct heap_position {
	object_name block;
	/* number of the block among those allocated with the same call stack, from 1; 0: not
	 * counted */
	uint32_t loop;
};

struct schedule_view {
	uint32_t thread_count;	/* threads created so far in this run, ended ones included */
	uint32_t enabled_count; /* >= 1 */
	/* Threads whose pending op can happen now, unless fairness delays them. Never empty. */
	const uint64_t *enabled;
	/* Threads whose timed wait may end by a stall (model/stall.h), for a strategy that follows
	 * stalls; other strategies see them among the enabled threads. NULL: none. */
	const uint64_t *stallable;
	const struct pending_op *pending; /* OP_NONE for ended threads */
	const thread_name *names;
	/* calling contexts of the pending ops, as hashes of the call stack; NULL if not known */
	const uint32_t *contexts;
	/* the thread that moved last; if it is enabled, choosing another one is a preemption */
	struct thread_id current;
	uint64_t step; /* number of ops chosen earlier in this run */
	/* Returns the heap position of a pending op's object; false: the object is not on the heap.
	 * NULL if not available. */
	bool (*heap_position)(object_name object, struct heap_position *out);
	/* Threads with the same start function, argument and attributes as the previous thread of
	 * their creator; NULL if not known. */
	const uint64_t *equals_previous;
	/* Returns whether main has allocated the object of the thread's pending op, or the object is
	 * static. NULL if not known. */
	bool (*is_common)(uint32_t thread);
	bool is_delaying;	  /* fairness may delay threads, which are then not enabled */
	const uint32_t *features; /* enum feature, of this and earlier runs; NULL: not known */
};

static inline bool view_is_enabled(const struct schedule_view *view, uint32_t thread)
{
	return bitset_has(view->enabled, thread);
}

static inline bool view_may_stall(const struct schedule_view *view, uint32_t thread)
{
	return view->stallable && bitset_has(view->stallable, thread);
}

/* Returns the lowest enabled thread with index >= from, or thread_count. */
static inline uint32_t view_next_enabled(const struct schedule_view *view, uint32_t from)
{
	return bitset_next(view->enabled, view->thread_count, from);
}

/* Returns the current thread if it is enabled, else the lowest enabled one: the schedule without
 * preemptions. */
static inline struct thread_id view_default(const struct schedule_view *view)
{
	if (view->current.index < view->thread_count && view_is_enabled(view, view->current.index))
		return view->current;
	return (struct thread_id){(uint16_t)view_next_enabled(view, 0)};
}

/* Draws one of the `count` threads of a bit set, all with equal probability. */
static inline struct thread_id threads_draw(
	struct rng *rng, const uint64_t *threads, uint32_t count)
{
	const uint32_t rank = count > 1 ? rng_below(rng, count) : 0;

	return (struct thread_id){(uint16_t)bitset_select(threads, rank)};
}
