/*
 * The meaning of sem_t. The interposed functions handle the names of named semaphores.
 */
#ifndef RADDLE_ENGINE_SEMAPHORE_H
#define RADDLE_ENGINE_SEMAPHORE_H

#include <stdint.h>

#include "engine/engine.h"

/* Has the size of sem_t; `value` lies where glibc's value lies. */
struct semaphore {
	uint32_t value;
	uint32_t is_shared; /* see shared.h */
	/* changed by an initialisation at value 0, which abandons the waiters */
	uint32_t epoch;
	uint32_t reserved[5];
};

/* 0 or EINVAL (value above SEM_VALUE_MAX). */
int semaphore_init(struct semaphore *semaphore, uint32_t value, bool is_shared);
void semaphore_destroy(struct semaphore *semaphore);
/* 0, ETIMEDOUT, EINTR or SYNC_CANCELLED. */
int semaphore_wait(struct semaphore *semaphore, uint64_t deadline_ns, uint64_t site);
/* 0 or EAGAIN. */
int semaphore_trywait(struct semaphore *semaphore, uint64_t site);
/* 0 or EOVERFLOW. */
int semaphore_post(struct semaphore *semaphore, uint64_t site);
uint32_t semaphore_value(const struct semaphore *semaphore, uint64_t site);

#endif
