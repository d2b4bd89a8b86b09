/*
 * A candidate: something that runs which passed say could go wrong. Not a finding: no run has shown it
 * yet. Analyses make candidates out of traces, whoever drives the program tries to make them happen,
 * and what has happened becomes a finding.
 *
 * Most candidates are a *meeting*: threads that stand before certain operations at the same time. A
 * deadlock is a meeting whose threads wait for each other in a ring, place i for what place i + 1 holds; a
 * race is one before accesses to the same memory. Others are a *scenario*: operations of two threads (the
 * *parties*) in an order, place after place. So are violations of atomic sets (model/pattern.h), and a
 * lock that is taken by another thread between the two times that one takes it.
 */
#ifndef RADDLE_FINDINGS_CANDIDATE_H
#define RADDLE_FINDINGS_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "findings/build.h"
#include "findings/finding.h"
#include "model/event.h"

#define CANDIDATE_PLACES_MAX 16

enum candidate_kind {
	CANDIDATE_LOCK_CYCLE,  /* every place waits for what the next one holds */
	CANDIDATE_RACE,	       /* two accesses to the same memory */
	CANDIDATE_VIOLATION,   /* a scenario of accesses to one atomic set */
	CANDIDATE_LOCK_WINDOW, /* a scenario of three lock operations */
	CANDIDATE_KINDS
};

static inline bool candidate_is_scenario(enum candidate_kind kind)
{
	return kind >= CANDIDATE_VIOLATION;
}

/* A thread before an operation, as one of the recorded runs had it. */
struct candidate_place {
	thread_name thread;
	uint32_t run;		  /* which of the recorded runs */
	struct trace_event op;	  /* what it is about to do there */
	struct trace_event taken; /* how it took what the place before waits for; OP_NONE: nothing,
				     the place before waits for its end. Of a scenario: how it took the
				     first lock that keeps the other party away, since its own place
				     before; OP_NONE: there is none */
	/* Hashes of the calls around both, 0: any (runtime/contexts.h). */
	uint32_t context, taken_context;
	uint8_t party;	  /* of a scenario: 0 or 1, */
	uint8_t variable; /* and which of its one or two objects */
};

struct candidate {
	enum candidate_kind kind;
	uint64_t key; /* equal ones have equal keys: of code, not of threads or objects */
	struct candidate_place places[CANDIDATE_PLACES_MAX];
	uint32_t place_count;
	uint32_t times;	 /* ways to fill its places with threads and objects that were seen */
	uint8_t pattern; /* enum pattern_kind, of a violation */
	bool has_window; /* of a violation: a lock that all hold is given back between places */
	char *set;	 /* of a violation: the atomic set; owned */
	char *units[2];	 /* of a scenario: what the parties are in; NULL: not known; owned */

	/* In words, see candidate_describe(). */
	char *title;
	struct finding_wait *waits; /* one for each place */
	uint32_t wait_count;
};

/* All zero: empty. */
struct candidates {
	struct candidate *items; /* owned */
	uint32_t count, capacity;
	bool is_cut;			    /* there may be more: the search was given up */
	const volatile int *is_interrupted; /* other than 0: the search is to end; NULL: never */
};

static inline bool candidates_are_enough(const struct candidates *candidates)
{
	return candidates->is_interrupted && *candidates->is_interrupted;
}
/* Drops all but the first so many, and remembers that the search was given up. */
void candidates_cut(struct candidates *candidates, uint32_t count);

void candidates_release(struct candidates *candidates);
/* Index of the one with this key; the count: there is none. */
uint32_t candidates_find(const struct candidates *candidates, uint64_t key);
/* Adds it unless one with its key is there, which counts it then. Takes its words over. */
void candidates_add(struct candidates *candidates, struct candidate *candidate);

/*
 * Puts them into the order in which they are best driven where not all can be: the first of each pair of
 * units of work, then the second of each, and so on; otherwise as they stood.
 */
void candidates_mix(struct candidates *candidates);

void candidate_release(struct candidate *candidate);

/* Of the order of its places' code and contexts. */
uint64_t candidate_scenario_key(const struct candidate *candidate);
/* Of the set of its places' code: a ring of five threads at one line equals a ring of three. */
uint64_t candidate_key(const struct candidate *candidate);

/*
 * Puts a candidate into words. `source` is the recorded run of its first place; `outcome` of it is not
 * read. Places of other runs are named by what this one knows.
 */
int candidate_describe(struct candidate *candidate, const struct finding_source *source,
	struct symbols *symbols, struct error *err);

/*
 * The same of candidates that are no circles, by whatever is known of their run. Each place becomes a
 * "wait" with thread, verb, object and stack.
 */
struct candidate_words {
	struct symbols *symbols;	     /* NULL: none */
	const struct symbols_memory *memory; /* NULL: not known */
	char *const *paths;		     /* of threads, by their index */
	uint32_t path_count;
};
void candidate_describe_scenario(struct candidate *candidate, const struct candidate_words *words);

/*
 * Is this how a run ended that shows the candidate? So it is if the threads on a cycle of waits stand
 * before its operations.
 */
bool candidate_is_shown(const struct candidate *candidate, const struct outcome *outcome);

#endif
