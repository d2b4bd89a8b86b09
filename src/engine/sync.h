/*
 * Basics of all synchronisation objects. Each object (mutex.h, cond.h, rwlock.h, semaphore.h,
 * barrier.h, spin.h, once.h, futex.h, stream_lock.h) stores its whole state in the target's own
 * object, with the layout of glibc's type. Static initialisers, reuse of memory and rewind
 * therefore need no extra work. POSIX is the specification; functions return its error codes, or
 * SYNC_CANCELLED.
 *
 * Each function contains its own scheduling points. Deadlines are virtual nanoseconds,
 * ENGINE_FOREVER for none; sites are return addresses in the target.
 */
#ifndef RADDLE_ENGINE_SYNC_H
#define RADDLE_ENGINE_SYNC_H

#include <errno.h>

#include "engine/engine.h"

/* The thread must act on a cancellation; the effects of the call are undone. Never an errno. */
#define SYNC_CANCELLED (-1)
/* Another process acquired the object first: the op must be performed again. Only used inside the
 * engine. */
#define SYNC_AGAIN (-2)

/* Representation of a thread in an object: index + 1. Zeroed memory means no thread. */
static inline uint16_t sync_mark(const struct engine_thread *thread)
{
	return (uint16_t)(thread->id.index + 1);
}

/*
 * The thread of a mark; NULL: none. An object that is uninitialised, freed or overwritten may
 * contain any value, and such a bug of the target must not crash the runtime.
 */
static inline struct engine_thread *sync_thread(uint32_t mark)
{
	return mark && mark <= engine_thread_count() ? engine_thread(mark - 1) : NULL;
}

/* As sync_thread(), with the result type of engine_holder functions. */
static inline struct thread_id sync_holder(uint32_t mark)
{
	const struct engine_thread *thread = sync_thread(mark);

	return thread ? thread->id : THREAD_NONE;
}

static inline int sync_error(enum engine_result result)
{
	switch (result) {
	case WAIT_TIMED_OUT:
		return ETIMEDOUT;
	case WAIT_INTERRUPTED:
		return EINTR;
	case WAIT_CANCELLED:
		return SYNC_CANCELLED;
	case WAIT_DONE:
		break;
	}
	return 0;
}

/* Registers the engine_holder functions for evidence. Call once, after engine_init(). */
void sync_register(void);

#endif
