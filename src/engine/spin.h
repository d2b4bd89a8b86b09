/* The meaning of pthread_spinlock_t. Nobody spins: a thread that cannot have it is not enabled. */
#ifndef RADDLE_ENGINE_SPIN_H
#define RADDLE_ENGINE_SPIN_H

#include <stdint.h>

#include "engine/engine.h"

/*
 * As in glibc 1 is free, and 0 or less is held: minus the sync_mark of the holder. Shared ones (shared.h): 2 is free,
 * and far below 0 is held, by the process whose id is added.
 */
struct spin {
	int32_t value;
};

void spin_init(struct spin *spin, bool is_shared);
/* EBUSY when held, which also is a failure of the run. */
int spin_destroy(struct spin *spin, uint64_t site);
/* 0 or SYNC_CANCELLED. Its holder waits for itself. */
int spin_lock(struct spin *spin, uint64_t site);
/* 0 or EBUSY. */
int spin_trylock(struct spin *spin, uint64_t site);
/* Always 0; unlocking somebody else's, or a free one, is a failure of the run. */
int spin_unlock(struct spin *spin, uint64_t site);

/* An engine_holder. The site is known of the last spin lock that the holder took. */
struct thread_id spin_holder(const void *address, uint64_t *site);

#endif
