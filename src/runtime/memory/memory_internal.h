/* The path of an access to its scheduling point. site_visit.c (accesses at instrumented sites)
 * and memory.c (all accesses) share it. memory_begin() decides, with general registers only,
 * whether the access needs memory_finish(). memory_finish() makes the scheduling point and may
 * use every register. Both run in the moving thread, before the access is executed. */
#ifndef RADDLE_RUNTIME_MEMORY_MEMORY_INTERNAL_H
#define RADDLE_RUNTIME_MEMORY_MEMORY_INTERNAL_H

#include "runtime/memory_variable.h"

/* An access before its scheduling point. */
struct memory_visit {
	struct memory_access access;
	uint16_t allocated_at; /* allocating place of the point's variable; 0: unknown */
	/* Address of the point's variable while allocated_at is not looked up; else 0 */
	uintptr_t unplaced;
	object_name point; /* name of the first granule that is a scheduling point; 0: none */
	object_name next;  /* name of the second granule, if the first one is the point; 0: none */
	object_name told;  /* Name of the first granule that only the detectors need; 0: none */
	bool is_named;	   /* every granule has a quick name */
	bool is_point_wanted; /* recorded runs: the access's site is chosen as a scheduling point */
	bool is_waiting;      /* Scheduling point because the thread spins: see memory_waits() */
};

/* True if the process is under control and its run is not over. */
bool memory_is_watched(void);
/* First part, with general registers only. False: the access needs no second part. */
bool memory_begin(struct memory_visit *visit);
/* Second part: the scheduling point, and the checks after it. */
void memory_finish(struct memory_visit *visit);
/* Scheduling point of the visit at the variable `name`. 0: the access is a fence. */
void memory_point(const struct memory_visit *visit, object_name name);

/* ---- parts of memory.c, for memory_freed.c ---- */

enum op_kind memory_op(uint8_t kind);
struct engine_op memory_engine_op(const struct memory_access *access, object_name name);
/* True if an access to a variable with these flags is a scheduling point. */
bool memory_wants(
	const struct contract_memory *memory, const struct memory_access *access, uint16_t flags);
/* The allocating place of the variable's block, for memory_visit.allocated_at. 0: the variable
 * is not in the table. */
uint16_t memory_allocated_at(
	struct contract_memory *memory, const struct memory_known *known, const void *address);

/* ---- memory_freed.c ---- */

/* Ends the run with outcome `kind` if the access touches a freed block, before the access can do
 * harm. */
void memory_check_freed(const struct memory_access *access, enum outcome_kind kind);

#endif
