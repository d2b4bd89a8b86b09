/*
 * The meaning of pthread_mutex_t: normal, recursive, errorcheck and adaptive kinds, robust or not.
 * Priority protocols only check the ceiling; they do not raise the holder's priority.
 */
#ifndef RADDLE_ENGINE_MUTEX_H
#define RADDLE_ENGINE_MUTEX_H

#include <stdint.h>

#include "engine/engine.h"

/* glibc's bits of __kind; static initialisers contain them. */
enum mutex_kind {
	MUTEX_NORMAL = 0,
	MUTEX_RECURSIVE = 1,
	MUTEX_ERRORCHECK = 2,
	MUTEX_ADAPTIVE = 3,
	MUTEX_TYPE_MASK = 3,
	MUTEX_ROBUST = 16,
	MUTEX_INHERITS_PRIORITY = 32,
	MUTEX_PROTECTS_PRIORITY = 64,
	MUTEX_SHARED = 128
};

/* Matches glibc's layout for the fields that debuggers and initialisers access: lock, count, owner,
 * kind. */
struct mutex {
	int32_t lock;	/* 1: held */
	uint32_t count; /* recursive kind: how many times the holder has locked the mutex */
	int32_t owner;	/* kernel id of the holder; MUTEX_SHARED: of its process */
	/* the holder, plus waiters of condition variables that will reacquire the mutex */
	uint32_t users;
	int32_t kind;		   /* enum mutex_kind, or'ed; negative: destroyed */
	uint16_t holder;	   /* sync_mark of the holder */
	uint8_t state;		   /* robust kinds: enum mutex_state */
	uint8_t ceiling;	   /* MUTEX_PROTECTS_PRIORITY: the priority ceiling */
	uint64_t site;		   /* where the holder acquired the mutex */
	struct mutex *next_robust; /* held robust mutexes of one thread, newest first */
};

enum mutex_state {
	MUTEX_INCONSISTENT = 1, /* the holder ended; the next lock operation returns EOWNERDEAD */
	MUTEX_UNRECOVERABLE = 2
};

int mutex_init(struct mutex *mutex, int32_t kind, uint8_t ceiling);
/* EBUSY if in use. Destroying a held mutex is a failure of the run. */
int mutex_destroy(struct mutex *mutex, uint64_t site);

/* 0, EOWNERDEAD (acquired), ENOTRECOVERABLE, EDEADLK, EAGAIN, EINVAL, ETIMEDOUT, SYNC_CANCELLED. */
int mutex_lock(struct mutex *mutex, uint64_t deadline_ns, uint64_t site);
/* As mutex_lock, or EBUSY. */
int mutex_trylock(struct mutex *mutex, uint64_t site);
/* 0 or EPERM. Unlocking a normal mutex of another thread is a failure of the run. */
int mutex_unlock(struct mutex *mutex, uint64_t site);
/* Robust kinds: declares the protected state consistent. 0 or EINVAL. */
int mutex_consistent(struct mutex *mutex);

/* Priority ceiling of MUTEX_PROTECTS_PRIORITY mutexes; EINVAL for others. */
int mutex_get_ceiling(const struct mutex *mutex, int *ceiling);
int mutex_set_ceiling(struct mutex *mutex, int ceiling, int *old, uint64_t site);

/* ---- for condition variables: no scheduling points of their own ---- */

/* Releases the mutex once and counts the caller as a user that will reacquire it. 0 or EPERM. */
int mutex_leave(struct mutex *mutex, uint64_t site);
/* An op that waits to reacquire the mutex after mutex_leave(). */
struct engine_op mutex_return_op(const struct mutex *mutex, uint64_t site);
/* The effect of that op. SYNC_AGAIN (sync.h): another process acquired the mutex first. */
int mutex_return(struct mutex *mutex, uint64_t site);

/* The thread ends: its robust mutexes become free, and the next lock operation returns
 * EOWNERDEAD. */
void engine_mutex_owner_died(struct engine_thread *thread);

/* An engine_holder function. */
struct thread_id mutex_holder(const void *address, uint64_t *site);

#endif
