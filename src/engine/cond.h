/*
 * The meaning of pthread_cond_t. Waiters stand in a queue in order of arrival, linked through their
 * engine_thread; the object knows the first and the last. A signal takes one out (the strategy
 * chooses which) and turns its pending op into waiting for the mutex, so that waking up and taking
 * the mutex is one step and evidence shows who holds that mutex.
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
	uint16_t lost_signals; /* sent while nobody waited; stops at UINT16_MAX */
	int32_t clock;	       /* of pthread_cond_timedwait() */
	/* Shared ones (shared.h) have no queue: a signal lets one of those go on that waited when it came. */
	uint32_t is_shared;
	uint32_t waiting;      /* waiting threads of all processes */
	uint32_t arrivals;     /* number of waits so far, which is the ticket of the next wait */
	uint32_t limit;	       /* waiters with a ticket below this one may return, ... */
	uint32_t granted;      /* ... but only this many of them */
	uint32_t is_signalled; /* a signal or broadcast was sent, with or without waiters */
	uint32_t reserved[3];
};

void cond_init(struct cond *cond, int32_t clock, bool is_shared);
/* Waits until nobody waits on it any more, as glibc does. */
int cond_destroy(struct cond *cond, uint64_t site);

/*
 * Two scheduling points: give up the mutex and queue up; come back with the mutex. 0 (signalled or
 * spurious), ETIMEDOUT, EPERM, EOWNERDEAD, ENOTRECOVERABLE, or SYNC_CANCELLED with the mutex held.
 * A signal that came first is never lost to a time-out or a cancellation.
 */
int cond_wait(struct cond *cond, struct mutex *mutex, uint64_t deadline_ns, uint64_t site);
void cond_signal(struct cond *cond, uint64_t site);
void cond_broadcast(struct cond *cond, uint64_t site);

/* For engine_set_signal_history(). */
struct engine_signals cond_signal_history(const void *address);

#endif
