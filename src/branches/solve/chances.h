/*
 * What is worth a trial (rehearsal.h): accesses that others' accesses to the same memory may pass. Each *chance* is an event that
 * a thread is held at, and one of another thread that it waits for.
 */
#ifndef RADDLE_BRANCHES_SOLVE_CHANCES_H
#define RADDLE_BRANCHES_SOLVE_CHANCES_H

#include "branches/solve/rehearsal.h"

/* Those of one pair of instructions, in the order of the run. */
struct chance_kind {
	uint32_t first, count;
};

struct chances {
	const struct rehearsal *rehearsal;
	/* By place in the order of the run; UINT32_MAX: there is none. */
	uint32_t *rivals; /* an access by another thread that comes later, one of both writes */
	uint32_t *rival_writes; /* a write that does */
	uint32_t *sources;	/* of reads: the write whose value it gave */
	uint32_t *kinds_of;	/* likewise: their kind */
	struct chance_kind *kinds;
	uint32_t kind_count, kind_capacity;
	uint32_t *items; /* places in the order of the run, kind by kind */
	uint32_t item_count;
	/*
	 * Likewise by place: accesses of one expression of the source, and all looks of loops that wait (loops.h). 0: of none.
	 */
	uint32_t *groups;
	/* Likewise, of others than looks: how many of the group its thread has made since its last operation. */
	uint32_t *group_places;
	uint32_t *
		group_firsts; /* by number, less one: the place of the first that is a chance; UINT32_MAX: none */
	uint32_t group_count;
};

void chances_open(struct chances *chances, const struct rehearsal *rehearsal);
void chances_release(struct chances *chances);

/* Items of a list of holds. */
struct hold_list {
	struct hold *items;
	uint32_t count, capacity;
};

void hold_list_add(struct hold_list *list, const struct hold *hold);
/* Adds what may be tried at the event there. */
void chances_add(
	const struct chances *chances, uint32_t rank, bool is_long, struct hold_list *list);
/* Adds trials that hold all events of a group. */
void chances_add_groups(const struct chances *chances, struct hold_list *list);
/* As chances_add() does, at what the event's outcome depends on: reads, the writes that they saw, and what these depended on. */
void chances_add_behind(
	const struct chances *chances, struct event_id goal, struct hold_list *list);
/* chances_groups.c: part of chances_open(). */
void chances_list_groups(struct chances *chances);

/* In the order of the run, each once. */
void chances_sort(const struct chances *chances, struct hold_list *list);

#endif
