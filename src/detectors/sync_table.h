/*
 * The clocks of synchronisation objects, by address and kind: what their releases have published.
 */
#ifndef RADDLE_DETECTORS_SYNC_TABLE_H
#define RADDLE_DETECTORS_SYNC_TABLE_H

#include <stdint.h>

#include "detectors/clock_pool.h"

#define SYNC_OBJECTS (UINT32_C(1) << 16) /* slots; a power of two */

enum sync_kind {
	SYNC_LOCK, /* mutexes, spin locks, stream locks, semaphores, once, futexes: one clock */
	SYNC_RWLOCK,
	SYNC_DESCRIPTOR,
	SYNC_ANY_DESCRIPTOR, /* address 0 */
	SYNC_SIGNALS,	     /* address 0 */
	SYNC_CANCELLATION,   /* address: index of the thread */
	SYNC_BARRIER	     /* plus the number of the round modulo SYNC_ROUNDS; the last kind */
};

/*
 * Rounds of one barrier that are kept apart. Threads that have yet to leave a round hold its slot; a
 * fourth round that begins before they do shares it, which only adds to what they learn.
 */
#define SYNC_ROUNDS 4u

struct sync_object {
	uint64_t address;
	uint32_t generation;
	uint32_t kind;
	struct vector_clock clock;
	struct vector_clock readers; /* SYNC_RWLOCK: what readers published when they unlocked */
	uint32_t writer; /* SYNC_RWLOCK: index of the thread that holds it for writing + 1 */
	uint32_t inside; /* SYNC_BARRIER: threads that have arrived and not left */
	uint64_t round;
};

struct sync_table {
	uint32_t generation;
	uint32_t count;
	struct sync_object objects[SYNC_OBJECTS];
};

/* Forgets all objects; as shadow_clear(). */
void sync_table_clear(struct sync_table *table);
/* Its object, made where there is none; NULL: there is no room. */
struct sync_object *sync_table_find(struct sync_table *table, uint32_t kind, uint64_t address);

#endif
