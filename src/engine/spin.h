/* The meaning of pthread_spinlock_t. No thread spins: a thread is disabled while the lock is
 * held. */
#ifndef RADDLE_ENGINE_SPIN_H
#define RADDLE_ENGINE_SPIN_H

#include <stdint.h>

#include "engine/engine.h"

/*
 * As in glibc, 1 means free. 0 or less means held: minus the sync_mark of the holder. Shared locks
 * (shared.h): 2 means free, and values far below 0 contain the id of the holding process.
 */
struct spin {
	int32_t value;
};

void spin_init(struct spin *spin, bool is_shared);
/* EBUSY if held, which is also a failure of the run. */
int spin_destroy(struct spin *spin, uint64_t site);
/* 0 or SYNC_CANCELLED. The holder blocks on itself. */
int spin_lock(struct spin *spin, uint64_t site);
/* 0 or EBUSY. */
int spin_trylock(struct spin *spin, uint64_t site);
/* Always 0; unlocking a free lock or one of another thread is a failure of the run. */
int spin_unlock(struct spin *spin, uint64_t site);

/* An engine_holder function. The site is known only for the holder's most recent spin lock. */
struct thread_id spin_holder(const void *address, uint64_t *site);

#endif
