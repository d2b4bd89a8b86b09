/*
 * Reordering candidates for trials (rehearsal.h). A candidate (in identifiers: *chance*) is an
 * access whose thread is held until another thread has made a later, conflicting access to the same
 * word. Candidates are grouped into kinds by their pair of instructions. The trials go through the
 * kinds first and through the members of a kind later.
 *
 * A *rank* is an event's place in the order of the recorded run.
 */
#ifndef RADDLE_BRANCHES_SOLVE_CHANCES_H
#define RADDLE_BRANCHES_SOLVE_CHANCES_H

#include "branches/solve/rehearsal.h"

/* Candidates of one pair of instructions, in the order of the run. */
struct chance_kind {
	uint32_t first, count;
};

struct chances {
	const struct rehearsal *rehearsal;
	/* By rank; UINT32_MAX: none. */
	/* A later access of another thread that conflicts, as at least one of both writes. */
	uint32_t *rivals;
	uint32_t *rival_writes; /* a later write of another thread */
	uint32_t *sources;	/* of reads: the write that the value came from */
	uint32_t *kinds_of;	/* the candidate's kind */
	struct chance_kind *kinds;
	uint32_t kind_count, kind_capacity;
	uint32_t *items; /* ranks, ordered by kind */
	uint32_t item_count;
	/*
	 * By rank: the group. A group holds the accesses of one source expression, or all reads of
	 * loops that wait (loops.h). 0: no group.
	 */
	uint32_t *groups;
	/*
	 * By rank, except in the group of waiting loops: how many accesses of the group its thread
	 * has made since its last operation.
	 */
	uint32_t *group_places;
	uint32_t *
		group_firsts; /* by group number minus one: rank of the group's first candidate; UINT32_MAX: none */
	uint32_t group_count;
};

void chances_open(struct chances *chances, const struct rehearsal *rehearsal);
void chances_release(struct chances *chances);

/* Growable list of holds. */
struct hold_list {
	struct hold *items;
	uint32_t count, capacity;
};

void hold_list_add(struct hold_list *list, const struct hold *hold);
/*
 * Adds the trials for the candidate at this rank. `is_long`: the thread is held until no other
 * thread is enabled.
 */
void chances_add(
	const struct chances *chances, uint32_t rank, bool is_long, struct hold_list *list);
/* Adds one trial per group that holds every thread at each event of the group. */
void chances_add_groups(const struct chances *chances, struct hold_list *list);
/*
 * Adds candidates among the accesses that the event's outcome depends on: reads, the writes that
 * they read from, and the reads that those depend on.
 */
void chances_add_behind(
	const struct chances *chances, struct event_id goal, struct hold_list *list);
/* Part of chances_open(), in chances_groups.c. */
void chances_list_groups(struct chances *chances);

/* Sorts by rank and removes duplicates. */
void chances_sort(const struct chances *chances, struct hold_list *list);

#endif
