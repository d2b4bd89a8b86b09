/*
 * A run as accesses by units of work: what each access is to, which unit of work owns it, which locks its
 * thread held, and what it is ordered with whatever locks do. Made of a trace that tells functions
 * (runtime/contexts.h).
 */
#ifndef RADDLE_ANALYSES_UNIT_TRACE_H
#define RADDLE_ANALYSES_UNIT_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyses/atomic_sets.h"
#include "analyses/thread_order.h"
#include "analyses/unit_calls.h"
#include "trace/trace.h"

/* A lock that is held; taken anew it is another one. */
struct unit_lock {
	uint64_t address;
	uint32_t taken; /* index of the event */
	bool is_shared;
};

struct lockset {
	uint32_t first, count; /* in locks */
};

struct unit_access {
	uint32_t event;	   /* index */
	uint32_t unit;	   /* index */
	uint64_t location; /* address */
	uint32_t lockset;
	const struct epoch *epoch;
	bool is_write;
};

/* A call that owns accesses to one set. */
struct unit {
	uint32_t thread;
	uint32_t activation; /* of the call; 0: no call is known, the access stands alone */
	uint32_t instance;
	const struct atomic_routine *routine; /* NULL: not known */
	uint32_t first, count;		      /* in unit_accesses */
	uint32_t begins, ends;		      /* events of its first and last access */
	enum unit_ending ending;	      /* of the call */
};

/* Accesses to what belongs to no set: an instance and a unit for each, of no kind. */
#define UNIT_NO_SET UINT32_MAX

/* One set of one run. */
struct unit_instance {
	uint32_t kind;
	uint64_t address;
	uint32_t *units;
	uint32_t unit_count, capacity;
	bool is_lasting; /* in other runs it is at this address as well */
};

struct unit_trace {
	const struct trace_event *events; /* of whoever made it */
	uint32_t count;
	uint32_t *contexts; /* of each event */
	struct thread_order *order;
	struct unit_access *accesses; /* in the order of the run */
	uint32_t access_count;
	uint32_t *unit_accesses; /* indices of accesses, unit by unit, in their order */
	struct unit *units;
	uint32_t unit_count;
	struct unit_instance *instances;
	uint32_t instance_count;
	struct unit_lock *locks;
	struct lockset *locksets;
	uint32_t lock_count, lockset_count;
	bool is_cut; /* there were more accesses than are looked at */
};

/* `events` must outlive it. */
struct unit_trace *unit_trace_new(struct atomic_sets *sets, const struct trace_run *run,
	const struct trace_event *events, uint32_t count);
void unit_trace_free(struct unit_trace *trace);

static inline const struct unit_access *unit_trace_access(
	const struct unit_trace *trace, const struct unit *unit, uint32_t index)
{
	return &trace->accesses[trace->unit_accesses[unit->first + index]];
}

/* The lock at this address in a lockset; NULL: it is not held. */
const struct unit_lock *unit_trace_lock(
	const struct unit_trace *trace, uint32_t lockset, uint64_t address);

#endif
