/*
 * The lock of a stdio stream. glibc's own functions (printf, fclose, ...) take it by themselves and
 * wait for it in a futex, which reaches us only as a trapped system call. So who holds it and how often
 * stays glibc's business; flockfile() takes it by ftrylockfile(), and this is what happens where that
 * fails: glibc's protocol of three states, in which whoever unlocks a contended lock wakes its futex.
 */
#ifndef RADDLE_ENGINE_STREAM_LOCK_H
#define RADDLE_ENGINE_STREAM_LOCK_H

#include <stdint.h>

#include "engine/engine.h"

/* glibc's _IO_lock_t. */
struct stream_lock {
	uint32_t word;	 /* 0 free, 1 held, 2 contended: held, and somebody may sleep */
	int32_t depth;	 /* glibc's; its meaning differs between versions */
	uintptr_t owner; /* pthread_t of its holder */
};

/* It is held: sleeps until somebody unlocks it, or for no reason. Then it is to be tried again. */
void stream_lock_sleep(struct stream_lock *stream, uint64_t site);
/* The caller has it after a sleep: others may sleep still. */
void stream_lock_got_after_sleep(struct stream_lock *stream);
/* The caller has unlocked it once. */
void stream_lock_unlocked(struct stream_lock *stream);

/* An engine_holder; the site is not known. */
struct thread_id stream_lock_holder(const void *address, uint64_t *site);

#endif
