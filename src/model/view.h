/*
 * What a strategy sees at a scheduling point. Read-only, valid during the call. Every array is
 * indexed by thread index; entries at or above thread_count are not to be read.
 */
#ifndef RADDLE_MODEL_VIEW_H
#define RADDLE_MODEL_VIEW_H

#include "base/bitset.h"
#include "model/ids.h"
#include "model/op.h"

/* Where a variable of memory on the heap lies. */
struct object_place {
	object_name block;
	uint32_t
		loop; /* n-th block that was allocated with its call stack, from 1; 0: not counted */
};

struct schedule_view {
	uint32_t thread_count;	/* threads created so far in this run, ended ones included */
	uint32_t enabled_count; /* >= 1 */
	/*
	 * Threads that may be chosen: their pending op can happen now, and fairness does not hold
	 * them back (a thread that yielded waits until those it yielded to have moved). Never
	 * empty.
	 */
	const uint64_t *enabled;
	const struct pending_op *pending; /* OP_NONE for ended threads */
	const thread_name *names;
	const uint32_t *contexts; /* of the pending ops: hashes of calls; NULL: not known */
	struct thread_id current; /* moved last; the point is a preemption iff it is enabled and not
				     chosen */
	uint64_t step;		  /* ops chosen before this one in this run */
	/* Of a pending op's object; false: it is not on the heap. NULL: nobody knows. */
	bool (*place)(object_name object, struct object_place *out);
};

static inline bool view_is_enabled(const struct schedule_view *view, uint32_t thread)
{
	return bitset_has(view->enabled, thread);
}

/* The lowest enabled thread with index >= from, or thread_count. */
static inline uint32_t view_next_enabled(const struct schedule_view *view, uint32_t from)
{
	return bitset_next(view->enabled, view->thread_count, from);
}

/* The current thread if it may go on, else the lowest enabled one: the schedule without
 * preemptions. */
static inline struct thread_id view_default(const struct schedule_view *view)
{
	if (view->current.index < view->thread_count && view_is_enabled(view, view->current.index))
		return view->current;
	return (struct thread_id){(uint16_t)view_next_enabled(view, 0)};
}

#endif
