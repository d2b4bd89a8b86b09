/*
 * The lock of a stdio stream, as flockfile() takes it. glibc's own functions (printf, fclose, ...)
 * take the same lock by themselves and wait for it in a futex, which reaches us only as a trapped
 * system call. So the layout and the protocol are glibc's: 0 free, 1 held, 2 held and whoever unlocks
 * must wake the futex.
 */
#ifndef RADDLE_ENGINE_STREAM_LOCK_H
#define RADDLE_ENGINE_STREAM_LOCK_H

#include <stdint.h>

#include "engine/engine.h"

/* glibc's _IO_lock_t. */
struct stream_lock {
	uint32_t lock;
	int32_t depth;	 /* further locks of its holder */
	uintptr_t owner; /* handle of its holder */
};

void stream_lock_lock(struct stream_lock *stream, uint64_t site);
/* 0 or EBUSY. */
int stream_lock_trylock(struct stream_lock *stream, uint64_t site);
void stream_lock_unlock(struct stream_lock *stream, uint64_t site);

/* An engine_holder; the site is not known. */
struct thread_id stream_lock_holder(const void *address, uint64_t *site);

#endif
