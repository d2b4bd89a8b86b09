/* The meaning of pthread_barrier_t. */
#ifndef RADDLE_ENGINE_BARRIER_H
#define RADDLE_ENGINE_BARRIER_H

#include <stdint.h>

#include "engine/engine.h"

/* Has the size of pthread_barrier_t. */
struct barrier {
	uint32_t arrived;   /* threads that have arrived in this round */
	uint32_t round;	    /* incremented when the last thread of a round arrives */
	uint32_t count;	    /* threads per round */
	uint32_t leaving;   /* released threads that have not yet returned from barrier_wait() */
	uint32_t is_shared; /* see shared.h */
	uint32_t reserved[3];
};

/* 0, or EINVAL (count is 0 or exceeds glibc's limit). */
int barrier_init(struct barrier *barrier, uint32_t count, bool is_shared);
/* Blocks, as glibc does, until every released thread has returned and no thread waits. */
int barrier_destroy(struct barrier *barrier, uint64_t site);
/* The last thread to arrive continues at once and gets PTHREAD_BARRIER_SERIAL_THREAD; the others
 * get 0. */
int barrier_wait(struct barrier *barrier, uint64_t site);

#endif
