/*
 * Exhaustive search over all runs that deviate from a standard schedule at a few points, fewer
 * costly deviations first. Used by icb and vt (Musuvathi and Qadeer, PLDI 2007, algorithm 1, where
 * a queue holds the work of the next bound).
 *
 * A run is identified by its *deviations*: at a *point*, the run has another alternative than the
 * standard schedule. Each run made becomes a record. Its children have one more deviation, behind
 * its last one: each run is made exactly once, and only the position of the next child is stored.
 *
 * Up to its last deviation, a run must equal its parent and its siblings. Hashes of everything done
 * before a point (*prints*) check this. Each child passes or reaches the point of the previous
 * child, and the last child reaches the parent's last point. Comparing neighbours therefore
 * compares all of them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "strategies/strategy.h"

#define DEVIATIONS_MOST 1024 /* deviations in one run */
#define DEVIATIONS_NONE UINT32_MAX

enum deviation_kind {
	DEVIATION_FREE,	  /* the deviation costs nothing: no thread was preempted */
	DEVIATION_COSTLY, /* counts against the bound */
	DEVIATION_KIND_COUNT
};

struct deviation {
	/* among the points of its kind since the previous deviation, from 0 */
	uint32_t ordinal;
	uint16_t alternative;
	uint16_t kind; /* enum deviation_kind */
};

struct deviation_record {
	uint32_t parent; /* own index: no parent */
	struct deviation last;
	/* points behind the last deviation, by kind */
	uint32_t points[DEVIATION_KIND_COUNT];
	/* print at the last of these points that has children here, by kind */
	uint32_t prints[DEVIATION_KIND_COUNT];
};

/* The position of its deviation, and the print there. */
struct deviation_child {
	uint32_t record, kind, ordinal; /* `record` DEVIATIONS_NONE: none */
	uint32_t print;
};

#define DEVIATIONS_TASKS_MOST 64

/* Children that a task explores, from one point to another (deviations_tasks.c). */
struct deviation_limit {
	uint32_t record, ordinal;
	uint32_t end_record, end_ordinal;
	uint32_t task;
};

/* The first member of a strategy's state. The records follow the state. */
struct deviations {
	uint32_t records_at;	  /* distance of the records in bytes: the size of the state */
	uint32_t capacity, count; /* numbers of records */
	bool has_standard;	  /* the run of the standard schedule is made */
	uint32_t bound;		  /* maximum number of costly deviations in a run */
	uint32_t level;		  /* costly deviations of the records from level_start on */
	uint32_t level_start, level_end;
	uint32_t kind;		       /* kind of deviation of the children that are made now */
	uint32_t record;	       /* their parent */
	uint32_t ordinal, alternative; /* position of the next child */
	uint32_t levels_done;	       /* all runs with fewer costly deviations are made */
	bool is_exhausted;
	bool is_lost;		      /* the space for records is used up */
	uint64_t runs, diverged_runs; /* diverged_runs: runs that did not repeat their prefix */
	struct deviation_child last_child;

	/*
	 * This shard, from 1; `shards` 0: none. All shards make the runs with at most one
	 * deviation, and shard 1 counts them. Points of second deviations are distributed by hash.
	 */
	uint32_t shard, shards;
	uint64_t runs_elsewhere; /* runs that another shard counts */

	/* Ranges of tasks among the children of this kind and level; the nearest one is last. */
	struct deviation_limit limits[DEVIATIONS_TASKS_MOST];
	uint32_t limit_count;
	uint32_t awaited; /* the task whose first child is next; 0: none */
	uint64_t points_tried, children_made;
	/* Tasks: records of the owner, from `given_first` on; task 0: the owner. */
	uint32_t task, given_first, count_given;
	uint32_t end_record, end_ordinal;
	/* Task: the child before its first one, and the print there if has_before. */
	struct deviation_child before;
	bool has_before;

	uint32_t path_count, path_at;
	uint32_t points[DEVIATION_KIND_COUNT];
	uint64_t print;			       /* hash of everything done so far */
	uint32_t prints[DEVIATION_KIND_COUNT]; /* becomes deviation_record.prints */
	uint32_t last_print;		       /* print at the last deviation */
	bool has_varied;       /* the run did not repeat the print of an earlier run */
	uint32_t alternatives; /* number of alternatives at the last deviation */
	struct deviation path[DEVIATIONS_MOST];
};

/* Returns the records. The first one is the standard run. */
static inline struct deviation_record *deviations_records(struct deviations *deviations)
{
	return (struct deviation_record *)(void *)((char *)deviations + deviations->records_at);
}

/* `state_bytes`: size of the strategy's state without the records. */
void deviations_begin(
	struct deviations *deviations, uint32_t state_bytes, uint32_t capacity, uint32_t bound);
/* Implements strategy_search.is_valid(). */
bool deviations_is_valid(struct deviations *deviations, uint32_t state_bytes, uint32_t capacity);
void deviations_begin_run(struct deviations *deviations);
/* Returns whether another shard counts the current run. */
bool deviations_is_elsewhere(const struct deviations *deviations);

/* Adds `what`, a hash that is equal in every run and process, to the print. */
static inline void deviations_note(struct deviations *deviations, uint64_t what)
{
	deviations->print = hash_pair(deviations->print, what);
}

/* Returns this run's alternative among `alternatives` (at least 1), or DEVIATIONS_NONE: the
 * standard. */
uint32_t deviations_at(struct deviations *deviations, enum deviation_kind kind,
	uint32_t alternatives, uint64_t what);

/* Moves to the next schedule with one more deviation than its parent: within the range of the task,
 * if the state is a task, otherwise among all parents. */
void deviations_find_child(struct deviations *deviations);
/* Returns the last point before `ordinal` whose children belong to this shard; or
 * DEVIATIONS_NONE. */
uint32_t deviations_own_point_before(
	struct deviations *deviations, uint32_t record, uint32_t ordinal);

extern const struct strategy_tasks deviations_tasks;

/* `is_extended`: runs with further deviations are needed. */
void deviations_end_run(struct deviations *deviations, bool is_extended);
