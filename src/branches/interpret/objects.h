/*
 * The objects of a run that indices go into: what was allocated, locals whose address others know, and static
 * variables. Known by their beginning; who has a pointer into the middle of one has none.
 */
#ifndef RADDLE_BRANCHES_INTERPRET_OBJECTS_H
#define RADDLE_BRANCHES_INTERPRET_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

/* A moment of the run: positions are the record's, and what one thread did between two of them is counted. */
struct object_time {
	uint64_t position;
	uint64_t count;
};

/* From then on. */
struct object {
	uint64_t address;
	uint64_t bytes; /* 0: nothing is there any more */
	struct object_time time;
	uint64_t order; /* in which it was told */
};

/* What was at one address, one after the other. */
struct object_place {
	uint64_t address; /* 0: free */
	uint64_t first, count;
};

struct object_table {
	struct object *items;
	uint64_t count, capacity;
	struct object_place *places; /* slots (slots.h), once it is complete */
	uint64_t place_count, place_capacity;
	bool is_complete; /* sorted; nothing is added */
};

void objects_add(
	struct object_table *table, uint64_t address, uint64_t bytes, struct object_time time);
void objects_complete(struct object_table *table);
/* How many bytes were at the address at that moment; 0: not known. Of complete tables. */
uint64_t objects_bytes(const struct object_table *table, uint64_t address, struct object_time time);
void objects_release(struct object_table *table);

#endif
