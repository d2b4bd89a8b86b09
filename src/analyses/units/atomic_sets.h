/*
 * Atomic sets and units of work, inferred from debug information and corrected by annotations.
 *
 * A *set* is memory that must stay consistent. It has the fields of one object (its outermost
 * struct), or the static variables of one compilation unit that are no structs. A *unit of work* of
 * a set is a call of a function that must preserve the consistency. A unit of an object is a
 * function with a pointer parameter to the object (a member function in C++). A unit of static data
 * is a function of the same compilation unit. The outermost such call owns an access. If no call is
 * such a unit, the innermost call owns the access.
 *
 * Sets and units: Vaziri, Tip, Dolby, "Associating Synchronization Constraints with Data in an
 * Object-Oriented Language", POPL 2006. Inference: Lai, Cheung, Chan, ICSE 2010, section 4.
 * Deviation: main and the start functions of threads are no units of static data, since each thread
 * would be a single unit. RADDLE_UNIT overrides this.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyses/units/atomic_rules.h"
#include "model/event.h"
#include "symbols/owners.h"

struct atomic_kind {
	/* "struct account", "static variables of account.c", or the annotated name */
	char *name;
	bool is_of_objects; /* one instance per object */
	const struct atomic_rule *rule;
	char **parts; /* accessed parts; owned */
	uint32_t part_count;
	const char **units; /* functions that owned accesses */
	uint32_t unit_count;
};

struct atomic_member {
	uint32_t kind;	   /* index of the set */
	uint64_t instance; /* address of the object; 0: the only instance */
	uint64_t
		block; /* heap block of the object, which may reuse another object's memory; 0: lasting, or none */
	struct symbols_part part;
};

struct atomic_routine {
	struct symbols_routine routine;
	enum atomic_verdict verdict;
};

#define ATOMIC_INLINED_MAX 8

/* The functions at a code address, outermost first; all but the first are inlined. */
struct atomic_location {
	uint64_t address; /* key of the table */
	struct atomic_routine routines[ATOMIC_INLINED_MAX];
	uint32_t count;
};

struct atomic_sets;

/* `symbols` may be NULL: no location belongs to a set then. Both must outlive the result. */
struct atomic_sets *atomic_sets_new(struct symbols *symbols, const struct atomic_rules *rules);
void atomic_sets_free(struct atomic_sets *sets);

/* Begins a run: notes all its accesses for memory types. `memory` must outlive the run. */
void atomic_sets_begin_run(struct atomic_sets *sets, const struct symbols_memory *memory,
	const struct trace_event *events, uint64_t count);
/* Returns the set member that the access refers to, valid until the next run; NULL if there is
 * none. */
const struct atomic_member *atomic_sets_member(
	struct atomic_sets *sets, const struct trace_event *event, uint64_t address);
/* Returns the functions at a code address; the result lives as long as `sets`. */
const struct atomic_location *atomic_sets_location(struct atomic_sets *sets, uint64_t address);

struct atomic_call {
	const struct atomic_routine *routine; /* NULL if unknown */
	uint32_t activation;		      /* number of the call, from 1 */
	bool is_first;			      /* start function of a thread other than main */
};
/* Returns the index (outermost first) of the call that owns an access to the member; `count`:
 * none. */
uint32_t atomic_sets_owner(struct atomic_sets *sets, const struct atomic_member *member,
	const struct atomic_call *stack, uint32_t count);

uint32_t atomic_sets_count(const struct atomic_sets *sets);
const struct atomic_kind *atomic_sets_kind(const struct atomic_sets *sets, uint32_t kind);
