/*
 * The meaning of sem_t, named or not (names are the business of semaphore.c).
 */
#ifndef RADDLE_ENGINE_SEMAPHORE_H
#define RADDLE_ENGINE_SEMAPHORE_H

#include <stdint.h>

#include "engine/engine.h"

/* As large as sem_t; the value stands where glibc's does. */
struct semaphore {
	uint32_t value;
	uint32_t is_shared; /* see shared.h */
	uint32_t epoch;	    /* another one since an initialisation that met no value */
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
