/*
 * What memory.c (accesses) and site_visit.c (how those at sites come to it) share: an access on its way
 * to the scheduling point. Runs in the moving thread.
 */
#ifndef RADDLE_RUNTIME_MEMORY_MEMORY_INTERNAL_H
#define RADDLE_RUNTIME_MEMORY_MEMORY_INTERNAL_H

#include "runtime/memory_variable.h"

/* An access on its way to the point. */
struct memory_visit {
	struct memory_access access;
	uint16_t allocated_at; /* of the point's variable */
	uintptr_t unplaced;    /* where that lies if it has not been asked for; or 0 */
	object_name point;     /* name of its first part that is a point, 0: none is */
	object_name next; /* if the first part is the point: of the second, where there is one */
	object_name told; /* name of its first part that only the detectors are to know of, or 0 */
	bool is_named;	  /* the names of all its parts are known */
	bool is_point_wanted; /* recorded runs: its site was chosen */
	bool is_waiting;      /* a point all the same: see memory_waits() */
};

/* Are accesses looked at: is the process under control, and its run not over? */
bool memory_is_watched(void);
/*
 * First part of the visit: general registers only, and nothing that leaves memory.c but for names.
 * False: that was all.
 */
bool memory_begin(struct memory_visit *visit);
/* The rest: the point, where it is one. */
void memory_finish(struct memory_visit *visit);
/* The scheduling point of the visit, at the object of that name; 0: none, of a fence. */
void memory_point(const struct memory_visit *visit, object_name name);

/* ---- parts of memory.c, for memory_freed.c ---- */

enum op_kind memory_op(uint8_t kind);
struct engine_op memory_engine_op(const struct memory_access *access, object_name name);
/* Is an access to a variable of these flags a point? */
bool memory_wants(
	const struct contract_memory *memory, const struct memory_access *access, uint16_t flags);
/* What tells where the variable's block was allocated: memory_visit.allocated_at. */
uint16_t memory_allocated_at(
	struct contract_memory *memory, const struct memory_known *known, const void *address);

/* ---- memory_freed.c ---- */

/* Ends the run as `kind` if the access is to a block that was freed: it is not to do harm. */
void memory_check_freed(const struct memory_access *access, enum outcome_kind kind);

#endif
