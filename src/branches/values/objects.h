/*
 * The objects of a run that pointers index into: allocations, locals whose address escapes, and
 * static variables. An object is found by its start address only.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/slots.h"

/* A point of the run. `position` orders the threads (record.h); `count` orders one thread's events
 * between positions. */
struct object_time {
	uint64_t position;
	uint64_t count;
};

struct object {
	uint64_t address;
	uint64_t bytes; /* 0: the object was freed */
	struct object_time time;
	uint64_t order; /* order of insertion */
};

/* The objects that began at one address, sorted by time. */
struct object_range {
	uint64_t address; /* 0: free */
	uint64_t first, count;
};

struct object_table {
	struct object *items;
	uint64_t count;
	struct slots locations; /* struct object_range; valid once the table is complete */
	bool is_complete;	/* sorted; no further insertions */
};

/* Notes that an object of `bytes` bytes begins at `address` at `time`; 0 bytes: the object there
 * ends. */
void objects_add(
	struct object_table *table, uint64_t address, uint64_t bytes, struct object_time time);
void objects_complete(struct object_table *table);
/* Returns the size of the object that began at `address`; 0: unknown. The table must be
 * complete. */
uint64_t objects_bytes(const struct object_table *table, uint64_t address, struct object_time time);
void objects_release(struct object_table *table);
