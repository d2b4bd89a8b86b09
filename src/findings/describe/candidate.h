/*
 * A candidate: a failure that passing runs suggest is possible, but no run has shown. Analyses make
 * candidates from traces; `raddle predict` drives the program towards them; a candidate that occurs
 * becomes a finding.
 *
 * Most candidates are a *rendezvous*: certain threads stand before certain operations at the same
 * time. A deadlock is a rendezvous whose threads form a cycle of waits: location i waits for an object
 * that location i + 1 holds. A race is a rendezvous before accesses to the same memory.
 *
 * Other candidates are a *scenario*: operations of two threads (the *parties*) in a fixed order.
 * Violations of atomic sets (model/pattern.h) are scenarios. Another scenario is a lock that
 * another thread acquires between two acquisitions of one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "findings/describe/build.h"
#include "findings/finding.h"
#include "model/event.h"

#define CANDIDATE_LOCATIONS_MAX 16

enum candidate_kind {
	CANDIDATE_LOCK_CYCLE,  /* each location waits for what the next one holds */
	CANDIDATE_RACE,	       /* two accesses to the same memory */
	CANDIDATE_VIOLATION,   /* a scenario of accesses to one atomic set */
	CANDIDATE_LOCK_WINDOW, /* a scenario of three lock operations */
	CANDIDATE_KINDS
};

static inline bool candidate_is_scenario(enum candidate_kind kind)
{
	return kind >= CANDIDATE_VIOLATION;
}

/* A thread before an operation, taken from one of the recorded runs. */
struct candidate_location {
	thread_name thread;
	uint32_t run;	       /* index of the recorded run */
	struct trace_event op; /* the operation that the thread is about to make */
	/*
	 * Lock cycle: how the thread acquired what the location before waits for (OP_NONE: that location
	 * joins it). Scenario: how it acquired, since its previous location, the first lock that
	 * excludes the other thread.
	 */
	struct trace_event taken;
	/* Hashes of the calls around both events, 0: any (runtime/contexts.h). */
	uint32_t context, taken_context;
	uint8_t party;	  /* scenario: 0 or 1 */
	uint8_t variable; /* scenario: which of its one or two objects */
};

struct candidate {
	enum candidate_kind kind;
	/* equal for equal candidates: depends on code, not on threads or objects */
	uint64_t key;
	struct candidate_location locations[CANDIDATE_LOCATIONS_MAX];
	uint32_t location_count;
	uint32_t times;	 /* combinations of observed threads and objects that fit its locations */
	uint8_t pattern; /* violation: enum pattern_kind */
	bool has_window; /* violation: a lock that all threads hold is released between locations */
	char *set;	 /* violation: the atomic set; owned */
	char *units[2];	 /* scenario: units of work of the parties; NULL if unknown; owned */

	/* Text, see candidate_describe(). */
	char *title;
	struct finding_wait *waits; /* one per location */
	uint32_t wait_count;
};

/* All zero: empty. */
struct candidates {
	struct candidate *items; /* owned */
	uint32_t count;
	bool is_cut; /* incomplete: the search ended early */
	/* nonzero: the search must end; NULL if never interrupted */
	const volatile int *is_interrupted;
};

static inline bool candidates_are_enough(const struct candidates *candidates)
{
	return candidates->is_interrupted && *candidates->is_interrupted;
}
/* Drops all but the first `count`, and marks the list as incomplete. */
void candidates_cut(struct candidates *candidates, uint32_t count);

void candidates_release(struct candidates *candidates);
/* Index of the candidate with this key; the count if none. */
uint32_t candidates_find(const struct candidates *candidates, uint64_t key);
/* Adds the candidate, or counts the one with the same key. Takes ownership of its texts. */
void candidates_add(struct candidates *candidates, struct candidate *candidate);
/* Adds all of `from`, which is empty afterwards. */
void candidates_move(struct candidates *from, struct candidates *to);

/* Sorts candidates for driving in short time: the first of each pair of units of work, then the
 * second of each. */
void candidates_mix(struct candidates *candidates);

/* Key of the sequence of its locations' code and contexts. */
uint64_t candidate_scenario_key(const struct candidate *candidate);
/* Key of the set of locations: a cycle of five threads at one line equals a cycle of three. */
uint64_t candidate_key(const struct candidate *candidate);

/* Fills title and waits. `source`: the first location's recorded run; its `outcome` is ignored. */
int candidate_describe(struct candidate *candidate, const struct finding_source *source,
	struct symbols *symbols, struct error *err);

/* Does for scenarios what candidate_describe() does for rendezvous: each location becomes a wait with
 * its stack. */
struct candidate_words {
	struct symbols *symbols;	     /* NULL if none */
	const struct symbols_memory *memory; /* NULL if unknown */
	char *const *paths;		     /* thread paths, by index */
	uint32_t path_count;
};
void candidate_describe_scenario(struct candidate *candidate, const struct candidate_words *words);

/* Do threads on the outcome's cycle of waits stand before the candidate's operations? */
bool candidate_is_shown(const struct candidate *candidate, const struct outcome *outcome);
