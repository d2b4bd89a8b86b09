/*
 * The meaning of pthread_rwlock_t. Among the threads that POSIX permits to acquire the lock, the
 * strategy chooses. Only PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP restricts the choice: a
 * waiting writer excludes new readers, so a recursive reader deadlocks. As in glibc,
 * PTHREAD_RWLOCK_PREFER_WRITER_NP is the same as the default.
 */
#ifndef RADDLE_ENGINE_RWLOCK_H
#define RADDLE_ENGINE_RWLOCK_H

#include <stdint.h>

#include "engine/engine.h"

#define RWLOCK_KNOWN_READERS 10 /* as many as fit into pthread_rwlock_t */

/* Matches glibc's layout for the fields that debuggers and initialisers access: current writer,
 * kind. */
struct rwlock {
	uint32_t readers;	  /* number of read locks held */
	uint32_t waiting_writers; /* only for RWLOCK_PREFERS_WRITERS */
	uint16_t writer;	  /* sync_mark of the writer */
	uint16_t reader;	  /* sync_mark of the most recent reader, until it unlocks */
	/* see shared.h; then known_readers is empty, and writer_kernel_id is a process */
	uint32_t is_shared;
	uint64_t site; /* where `writer` or `reader` acquired the lock */
	int32_t writer_kernel_id;
	/* sync_marks of readers, one per read lock held, unordered; complete as long as they
	 * fit. */
	uint16_t known_readers[RWLOCK_KNOWN_READERS];
	uint32_t kind; /* enum rwlock_kind */
	uint32_t reserved_last;
};

/* the nonrecursive kind; all other kinds have no preference */
enum rwlock_kind { RWLOCK_PREFERS_WRITERS = 2 };

void rwlock_init(struct rwlock *rwlock, uint32_t kind, bool is_shared);
/* EBUSY if held, which is also a failure of the run. */
int rwlock_destroy(struct rwlock *rwlock, uint64_t site);

/* 0, EDEADLK (the caller is the writer), EAGAIN (too many), ETIMEDOUT, SYNC_CANCELLED. */
int rwlock_rdlock(struct rwlock *rwlock, uint64_t deadline_ns, uint64_t site);
/* As rwlock_rdlock(), without EAGAIN. A reader that requests a write lock blocks on itself. */
int rwlock_wrlock(struct rwlock *rwlock, uint64_t deadline_ns, uint64_t site);
/* 0 or EBUSY; also EAGAIN for readers. */
int rwlock_tryrdlock(struct rwlock *rwlock, uint64_t site);
int rwlock_trywrlock(struct rwlock *rwlock, uint64_t site);
/* Always 0; unlocking a lock that the caller does not hold is a failure of the run. */
int rwlock_unlock(struct rwlock *rwlock, uint64_t site);

/* An engine_holder function: the writer, or one of the readers. */
struct thread_id rwlock_holder(const void *address, uint64_t *site);

#endif
