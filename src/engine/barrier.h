/* The meaning of pthread_barrier_t. */
#ifndef RADDLE_ENGINE_BARRIER_H
#define RADDLE_ENGINE_BARRIER_H

#include <stdint.h>

#include "engine/engine.h"

/* As large as pthread_barrier_t. */
struct barrier {
	uint32_t arrived;   /* in this round */
	uint32_t round;	    /* counts up when the last one arrives */
	uint32_t count;	    /* threads per round */
	uint32_t leaving;   /* released threads that have not moved since */
	uint32_t is_shared; /* see shared.h */
	uint32_t reserved[3];
};

/* 0 or EINVAL (count 0, or more than glibc takes). */
int barrier_init(struct barrier *barrier, uint32_t count, bool is_shared);
/* Waits, as glibc does, until everyone who arrived has left. */
int barrier_destroy(struct barrier *barrier, uint64_t site);
/* Whoever arrives last goes on at once and gets PTHREAD_BARRIER_SERIAL_THREAD, the others 0. */
int barrier_wait(struct barrier *barrier, uint64_t site);

#endif
