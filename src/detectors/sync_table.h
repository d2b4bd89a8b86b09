/* Vector clocks of synchronisation objects, keyed by address and kind: the join of all releases. */
#pragma once

#include <stdint.h>

#include "detectors/clock_pool.h"

#define SYNC_OBJECTS (UINT32_C(1) << 16) /* slots; a power of two */

enum sync_kind {
	/* Mutexes, spin locks, stream locks, semaphores, once controls and futexes share one clock
	 * per address. */
	SYNC_LOCK,
	SYNC_RWLOCK,
	SYNC_DESCRIPTOR,
	SYNC_ANY_DESCRIPTOR, /* address 0 */
	SYNC_SIGNALS,	     /* address 0 */
	SYNC_CANCELLATION,   /* address: index of the thread */
	SYNC_BARRIER	     /* plus round number modulo SYNC_ROUNDS; must be the last kind */
};

/* Rounds of a barrier with separate clocks; sharing an occupied one only adds edges. */
#define SYNC_ROUNDS 4u

struct sync_object {
	uint64_t address;
	uint32_t generation;
	uint32_t kind;
	struct vector_clock clock;
	struct vector_clock readers; /* SYNC_RWLOCK: releases of readers */
	uint32_t writer; /* SYNC_RWLOCK: index + 1 of the thread that holds the write lock */
	uint32_t inside; /* SYNC_BARRIER: threads that arrived and have not left */
	uint64_t round;
};

struct sync_table {
	uint32_t generation;
	uint32_t count;
	struct sync_object objects[SYNC_OBJECTS];
};

/* Removes all objects in constant time, as shadow_clear() does. */
void sync_table_clear(struct sync_table *table);
struct sync_object *sync_table_find(struct sync_table *table, uint32_t kind, uint64_t address);
