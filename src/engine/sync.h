/*
 * What the synchronisation objects share. Each of them (mutex.h, cond.h, rwlock.h, semaphore.h,
 * barrier.h, spin.h, once.h, futex.h, stream_lock.h) keeps its whole state in the memory of the
 * target's own object, laid over glibc's type: static initialisers, reuse of memory and rewind then
 * need nothing. POSIX is the specification; functions return its error codes, or SYNC_CANCELLED.
 *
 * Each function makes its scheduling points itself. Deadlines are virtual nanoseconds,
 * ENGINE_FOREVER for none; sites are return addresses in the target.
 */
#ifndef RADDLE_ENGINE_SYNC_H
#define RADDLE_ENGINE_SYNC_H

#include <errno.h>

#include "engine/engine.h"

/* The thread is to be cancelled; everything the call held is undone. Never an errno. */
#define SYNC_CANCELLED (-1)
/* Another process has taken it meanwhile: the op is to be performed again. Never leaves the engine. */
#define SYNC_AGAIN (-2)

/* How objects store a thread: index + 1, so that zeroed memory means nobody. */
static inline uint16_t sync_mark(const struct engine_thread *thread)
{
	return (uint16_t)(thread->id.index + 1);
}

/*
 * The thread of a mark, NULL where it names none. Objects that were never initialised, freed or
 * overwritten hold anything: a target's bug must end in its own outcome, not in our crash.
 */
static inline struct engine_thread *sync_thread(uint32_t mark)
{
	return mark && mark <= engine_thread_count() ? engine_thread(mark - 1) : NULL;
}

/* As sync_thread, as engine_holder functions answer. */
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

/* Tells the engine who holds which kind of object, for evidence. Once, after engine_init(). */
void sync_register(void);

#endif
