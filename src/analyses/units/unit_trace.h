/* A run as accesses with location, owning unit of work, lockset and epoch (runtime/contexts.h). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyses/units/atomic_sets.h"
#include "analyses/order/thread_order.h"
#include "analyses/units/unit_calls.h"
#include "trace/trace.h"

/* A held lock. A new acquisition makes a new unit_lock. */
struct unit_lock {
	uint64_t address;
	uint32_t taken; /* index of the event */
	bool is_shared;
};

struct lockset {
	uint32_t first, count; /* range in `locks` */
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
	/* number of the call; 0: unknown call, the access is a unit of its own */
	uint32_t activation;
	uint32_t instance;
	const struct atomic_routine *routine; /* NULL if unknown */
	uint32_t first, count;		      /* range in unit_accesses */
	uint32_t begins, ends;		      /* events of the first and last access */
	enum unit_ending ending;	      /* how the call ended */
};

/* Kind of accesses outside of all sets: each has an instance and a unit of its own. */
#define UNIT_NO_SET UINT32_MAX

/* One instance of a set in one run. */
struct unit_instance {
	uint32_t kind;
	uint64_t address;
	uint64_t block; /* of struct atomic_member */
	uint32_t *units;
	uint32_t unit_count;
	bool is_lasting; /* other runs have it at the same address */
};

struct unit_trace {
	const struct trace_event *events; /* owned by the creator */
	uint32_t count;
	uint32_t *contexts; /* context hash of each event */
	struct thread_order *order;
	struct unit_access *accesses; /* accesses in the order of the run */
	uint32_t access_count;
	/* indices of accesses, grouped by unit, in the order of the run */
	uint32_t *unit_accesses;
	struct unit *units;
	uint32_t unit_count;
	struct unit_instance *instances;
	uint32_t instance_count;
	struct unit_lock *locks;
	struct lockset *locksets;
	uint32_t lock_count, lockset_count;
	bool is_cut; /* the run had more accesses than ACCESSES_MOST */
};

/* `events` must outlive the result. */
struct unit_trace *unit_trace_new(struct atomic_sets *sets, const struct trace_run *run,
	const struct trace_event *events, uint32_t count);
void unit_trace_free(struct unit_trace *trace);

static inline const struct unit_access *unit_trace_access(
	const struct unit_trace *trace, const struct unit *unit, uint32_t index)
{
	return &trace->accesses[trace->unit_accesses[unit->first + index]];
}

/* Returns the lock with this address in the lockset; NULL if not held. */
const struct unit_lock *unit_trace_lock(
	const struct unit_trace *trace, uint32_t lockset, uint64_t address);
