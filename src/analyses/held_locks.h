/*
 * Which locks threads hold, followed along the events of a run. A trace says what was tried; what it
 * came to follows from who held the lock: an attempt at a lock that somebody else had failed or timed
 * out, since one that waits is only in the trace when its wait is over.
 *
 * Locks that were taken before the trace began (before the first thread was created) are not known.
 */
#ifndef RADDLE_ANALYSES_HELD_LOCKS_H
#define RADDLE_ANALYSES_HELD_LOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"
#include "model/op.h"

/* A lock that a thread holds. */
struct held_lock {
	uint64_t address;
	bool is_shared;		  /* for reading */
	uint32_t depth;		  /* times it was taken, recursively */
	struct trace_event taken; /* the first time */
};

struct held_locks; /* of one run */

struct held_locks *held_locks_new(uint32_t thread_count);
void held_locks_free(struct held_locks *held);

/* Of a thread, oldest first; valid until the next event. */
const struct held_lock *held_locks_of(
	const struct held_locks *held, uint32_t thread, uint32_t *count);

/* Does an event of this kind take a lock for reading? */
bool op_takes_shared(enum op_kind kind);

enum lock_effect {
	LOCK_NOTHING,	/* no lock is taken, or not by this event, or it was held already */
	LOCK_TAKEN,	/* without waiting for it: an attempt that succeeded */
	LOCK_WAITED_FOR /* it would have waited if somebody had held it */
};

/* What the event takes; the locks held are still those before it. */
enum lock_effect held_locks_effect(const struct held_locks *held, const struct trace_event *event);
/*
 * Goes on past the event. `released`: for the beginning of a wait on a condition variable the address of
 * its mutex, 0 where that is not known; not read for others.
 */
void held_locks_add(struct held_locks *held, const struct trace_event *event, uint64_t released);

/*
 * The mutex that a wait on a condition variable gives up: the one that the thread takes next at the
 * same place. `next[i]`: index of the thread's next event, `count` where there is none.
 */
uint64_t waited_mutex(
	const struct trace_event *events, const uint32_t *next, uint32_t count, uint32_t wait);

#endif
