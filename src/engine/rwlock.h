/*
 * The meaning of pthread_rwlock_t. Who goes first among those that POSIX lets go is the strategy's
 * choice; only PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, where a waiting writer shuts readers out
 * and a recursive reader therefore deadlocks, is a rule of its own. As in glibc,
 * PTHREAD_RWLOCK_PREFER_WRITER_NP means no more than the default.
 */
#ifndef RADDLE_ENGINE_RWLOCK_H
#define RADDLE_ENGINE_RWLOCK_H

#include <stdint.h>

#include "engine/engine.h"

#define RWLOCK_KNOWN_READERS 10 /* as many as fit into pthread_rwlock_t */

/* glibc's layout where debuggers and initialisers look: current writer, kind. */
struct rwlock {
	uint32_t readers;	  /* locks held for reading */
	uint32_t waiting_writers; /* counted for RWLOCK_PREFERS_WRITERS only */
	uint16_t writer;	  /* sync_mark of the writer */
	uint16_t reader;	  /* sync_mark of the last reader to come, until it unlocks */
	uint32_t
		is_shared; /* see shared.h; its known readers are none, its writer_kernel_id a process */
	uint64_t site; /* where `writer` or `reader` took it */
	int32_t writer_kernel_id;
	/* sync_marks of readers, once per lock they hold, in no order; all of them while they fit. */
	uint16_t known_readers[RWLOCK_KNOWN_READERS];
	uint32_t kind; /* enum rwlock_kind */
	uint32_t reserved_last;
};

enum rwlock_kind { RWLOCK_PREFERS_WRITERS = 2 }; /* the nonrecursive kind; others: no rule */

void rwlock_init(struct rwlock *rwlock, uint32_t kind, bool is_shared);
/* EBUSY when held, which also is a failure of the run. */
int rwlock_destroy(struct rwlock *rwlock, uint64_t site);

/* 0, EDEADLK (the caller is the writer), EAGAIN (too many), ETIMEDOUT, SYNC_CANCELLED. */
int rwlock_rdlock(struct rwlock *rwlock, uint64_t deadline_ns, uint64_t site);
/* As rwlock_rdlock without EAGAIN. A reader that wants to write waits for itself. */
int rwlock_wrlock(struct rwlock *rwlock, uint64_t deadline_ns, uint64_t site);
/* 0, EBUSY; EAGAIN for readers. */
int rwlock_tryrdlock(struct rwlock *rwlock, uint64_t site);
int rwlock_trywrlock(struct rwlock *rwlock, uint64_t site);
/* Always 0; unlocking what the caller does not hold is a failure of the run. */
int rwlock_unlock(struct rwlock *rwlock, uint64_t site);

/* An engine_holder: the writer, or one of the readers. */
struct thread_id rwlock_holder(const void *address, uint64_t *site);

#endif
