/*
 * Atomic sets and units of work, inferred from debug information and corrected by annotations.
 *
 * A *set* is memory that has to agree: the fields of one object (its outermost struct), or the static
 * variables of one compilation unit that are no structs. A *unit of work* of a set is a call of a function
 * that is to find it and leave it so: a function that is given a pointer to the object (a member, in C++);
 * where no such function is about, for static data, one of the compilation unit that has it. The outermost
 * such call owns an access; an access that nobody owns is owned by the innermost call.
 *
 * Vaziri, Tip, Dolby, "Associating Synchronization Constraints with Data in an Object-Oriented Language",
 * POPL 2006, for sets and units; Lai, Cheung, Chan, ICSE 2010, section 4, for how to infer them. Deviation:
 * the first function of a thread and main are no units of static data, which would make each thread one
 * unit. RADDLE_UNIT says otherwise.
 */
#ifndef RADDLE_ANALYSES_ATOMIC_SETS_H
#define RADDLE_ANALYSES_ATOMIC_SETS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyses/atomic_rules.h"
#include "model/event.h"
#include "symbols/owners.h"

/* A set as one would declare it. */
struct atomic_kind {
	char *name;	    /* "struct account", "static variables of account.c", or as annotated */
	bool is_of_objects; /* one for each object */
	const struct atomic_rule *rule;
	char **parts; /* that were accessed, owned */
	uint32_t part_count;
	const char **units; /* functions that owned accesses */
	uint32_t unit_count;
};

/* Memory as part of a set. */
struct atomic_member {
	uint32_t kind;	   /* index */
	uint64_t instance; /* address of the object; 0: of all */
	struct symbols_part part;
};

struct atomic_routine {
	struct symbols_routine routine;
	enum atomic_verdict verdict;
};

#define ATOMIC_INLINED_MAX 8

/* The functions at a place of the code, outermost first; all but the first were inlined. */
struct atomic_place {
	uint64_t address; /* the key */
	struct atomic_routine routines[ATOMIC_INLINED_MAX];
	uint32_t count;
};

struct atomic_sets;

/* `symbols` may be NULL: then nothing belongs to any set. Both must outlive it. */
struct atomic_sets *atomic_sets_new(struct symbols *symbols, const struct atomic_rules *rules);
void atomic_sets_free(struct atomic_sets *sets);

/*
 * A run: its accesses are noted first, so that its memory has types. `memory` must live until the next run
 * begins.
 */
void atomic_sets_begin_run(struct atomic_sets *sets, const struct symbols_memory *memory,
	const struct trace_event *events, uint64_t count);
/* What an access is to; NULL: it belongs to no set. Lives until the next run. */
const struct atomic_member *atomic_sets_member(
	struct atomic_sets *sets, const struct trace_event *event, uint64_t address);
/* Lives as long as the sets. */
const struct atomic_place *atomic_sets_place(struct atomic_sets *sets, uint64_t address);

/* A call on a thread's stack. */
struct atomic_call {
	const struct atomic_routine *routine; /* NULL: not known */
	uint32_t activation;		      /* number, from 1 */
	bool is_first;			      /* of a thread that is not main */
};
/* Which call owns an access to the member: index in the stack, outermost first; `count`: none. */
uint32_t atomic_sets_owner(struct atomic_sets *sets, const struct atomic_member *member,
	const struct atomic_call *stack, uint32_t count);

uint32_t atomic_sets_count(const struct atomic_sets *sets);
const struct atomic_kind *atomic_sets_kind(const struct atomic_sets *sets, uint32_t kind);

#endif
