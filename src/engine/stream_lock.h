/*
 * The lock of a stdio stream. glibc's own functions (printf, fclose, ...) acquire this lock
 * internally and wait in a futex, which the engine sees only as a trapped system call. Therefore
 * glibc keeps holder and depth. flockfile() uses ftrylockfile(), and on failure waits here by
 * glibc's protocol of three states: the unlock of a contended lock wakes its futex.
 */
#ifndef RADDLE_ENGINE_STREAM_LOCK_H
#define RADDLE_ENGINE_STREAM_LOCK_H

#include <stdint.h>

#include "engine/engine.h"

/* glibc's _IO_lock_t. */
struct stream_lock {
	uint32_t word;	 /* 0: free, 1: held, 2: contended, held with possible waiters */
	int32_t depth;	 /* owned by glibc; its meaning differs between versions */
	uintptr_t owner; /* pthread_t of its holder */
};

/* Waits until the held lock is unlocked; may return without a reason. The caller must try again. */
void stream_lock_sleep(struct stream_lock *stream, uint64_t site);
/* The caller has acquired the lock after a wait: other threads may still wait. */
void stream_lock_got_after_sleep(struct stream_lock *stream);
/* The caller has unlocked the stream once. */
void stream_lock_unlocked(struct stream_lock *stream);

/* An engine_holder function; the site is not known. */
struct thread_id stream_lock_holder(const void *address, uint64_t *site);

#endif
