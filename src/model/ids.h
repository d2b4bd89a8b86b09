/*
 * Identities inside one run. An index is only meaningful within its run; what is stable across runs
 * is the *name*: for a thread the hash of its path of creations (main, main.0, main.0.2), for an
 * object a hash of where it lives or where it was first used. Names are what strategies and
 * findings keep.
 */
#ifndef RADDLE_MODEL_IDS_H
#define RADDLE_MODEL_IDS_H

#include <stdbool.h>
#include <stdint.h>

/* Threads that one run may create; the tables of the engine and of the contract have this size. */
#define THREAD_CAPACITY 4096

/* Index of a thread in creation order; main is 0. */
struct thread_id {
	uint16_t index;
};

#define THREAD_NONE ((struct thread_id){UINT16_MAX})

static inline bool thread_same(struct thread_id a, struct thread_id b)
{
	return a.index == b.index;
}

/* Stable name of a synchronisation object, of a file descriptor or of memory; 0 means no object. */
typedef uint32_t object_name;
/*
 * Name of a variable (eight aligned bytes of memory): its low half is its object_name. A program may touch
 * millions of variables, too many for names of 32 bits to be all different.
 */
typedef uint64_t variable_name;
/* Stable name of a thread. */
typedef uint32_t thread_name;

#endif
