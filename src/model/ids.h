/*
 * Identities inside one run. An index is valid only within its run. A *name* is stable across runs,
 * and strategies and findings store names. The name of a thread is the hash of its creation path
 * (main, main.0, main.0.2). The name of an object is a hash of its location in a module or of its
 * first use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The maximum number of threads in one run; the tables of the engine and of the contract have this
 * size. */
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
/* Eight aligned bytes; the low half is the object_name, which alone would collide. */
typedef uint64_t variable_name;
typedef uint32_t thread_name;
