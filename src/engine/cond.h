/*
 * The meaning of pthread_cond_t. Waiters form a queue in order of arrival, linked through their
 * engine_thread; the object stores the first and the last. A signal removes one waiter, which the
 * strategy chooses, and changes its pending op to a wait for the mutex. Wake-up and acquisition of
 * the mutex are thus one step, and evidence shows the holder of that mutex.
 */
#ifndef RADDLE_ENGINE_COND_H
#define RADDLE_ENGINE_COND_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct mutex;

/* All zero is PTHREAD_COND_INITIALIZER: no waiters, CLOCK_REALTIME. */
struct cond {
	uint16_t first; /* sync_mark of the thread that has waited longest */
	uint16_t last;
	uint16_t waiter_count;
	uint16_t lost_signals; /* signals sent while no thread waited; saturates at UINT16_MAX */
	int32_t clock;	       /* clock of pthread_cond_timedwait() */
	/* Shared objects (shared.h) have no queue: a signal permits one of the threads that wait at
	 * that time to return. */
	uint32_t is_shared;
	uint32_t waiting;      /* waiting threads of all processes */
	uint32_t arrivals;     /* number of waits so far, which is the ticket of the next wait */
	uint32_t limit;	       /* waiters with a ticket below this one may return, ... */
	uint32_t granted;      /* ... but only this many of them */
	uint32_t is_signalled; /* a signal or broadcast was sent, with or without waiters */
	uint32_t reserved[3];
};

void cond_init(struct cond *cond, int32_t clock, bool is_shared);
/* Blocks, as glibc does, until no thread waits on the condition variable. */
int cond_destroy(struct cond *cond, uint64_t site);

/*
 * Two scheduling points: release the mutex and enter the queue; return with the mutex. Returns 0
 * (signalled or spurious), ETIMEDOUT, EPERM, EOWNERDEAD, ENOTRECOVERABLE, or SYNC_CANCELLED with
 * the mutex held. A time-out or a cancellation never consumes a signal that came first.
 */
int cond_wait(struct cond *cond, struct mutex *mutex, uint64_t deadline_ns, uint64_t site);
void cond_signal(struct cond *cond, uint64_t site);
void cond_broadcast(struct cond *cond, uint64_t site);

/* For engine_set_signal_history(). */
struct engine_signals cond_signal_history(const void *address);

#endif
