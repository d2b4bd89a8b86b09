/*
 * Exhaustive search over all runs that deviate from a standard schedule at a few points, fewer
 * costly deviations first. Used by icb and vt (Musuvathi and Qadeer, PLDI 2007, algorithm 1, where
 * a queue holds the work of the next bound).
 *
 * A run is identified by its *deviations*: at a *point*, the run takes another alternative than the
 * standard schedule. Each run made becomes a record. Its children have one more deviation, behind
 * its last one. Each run is therefore made exactly once, and only the position of the next child is
 * stored, not the children.
 *
 * Up to its last deviation, a run must equal its parent and its siblings. Hashes of everything done
 * before a point (*prints*) check this. Each child passes or reaches the point of the previous
 * child, and the last child reaches the parent's last point. Comparing neighbours therefore
 * compares all of them.
 */
#ifndef RADDLE_STRATEGIES_SEARCH_DEVIATIONS_H
#define RADDLE_STRATEGIES_SEARCH_DEVIATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

#define DEVIATIONS_MOST 1024 /* in one run */
#define DEVIATIONS_NONE UINT32_MAX

enum deviation_kind {
	DEVIATION_FREE,	  /* no cost: no thread was preempted */
	DEVIATION_COSTLY, /* counts against the bound */
	DEVIATION_KIND_COUNT
};

struct deviation {
	/* number of the point among those of its kind since the previous deviation, from 0 */
	uint32_t ordinal;
	uint16_t alternative;
	uint16_t kind; /* enum deviation_kind */
};

struct deviation_record {
	uint32_t parent; /* own index: no parent */
	uint32_t root;
	struct deviation last;
	/* number of points behind the last deviation, by kind */
	uint32_t points[DEVIATION_KIND_COUNT];
	/* print at the last of these points that has children here, by kind */
	uint32_t prints[DEVIATION_KIND_COUNT];
};

/* A child that has been run: the position of its deviation, and the print there. */
struct deviation_child {
	uint32_t record, kind, ordinal; /* `record` DEVIATIONS_NONE: none */
	uint32_t print;
};

#define DEVIATIONS_TASKS_MOST 64

/* The range of children that a task explores, from one point to another: deviations_tasks.c. */
struct deviation_limit {
	uint32_t record, ordinal;
	uint32_t end_record, end_ordinal;
	uint32_t task;
};

struct deviations {
	uint32_t capacity, count; /* of records */
	uint32_t roots, root;	  /* number of standard schedules; the next one to run */
	uint32_t bound;		  /* maximum number of costly deviations in a run */
	/* number of costly deviations of the records from level_start on */
	uint32_t level;
	uint32_t level_start, level_end;
	uint32_t kind;		       /* kind of deviation of the children that are made now */
	uint32_t record;	       /* their parent */
	uint32_t ordinal, alternative; /* position of the next child */
	uint32_t levels_done;	       /* all runs with fewer costly deviations are made */
	bool is_exhausted;
	bool is_lost;		      /* no space for records is left */
	uint64_t runs, diverged_runs; /* diverged_runs: runs that did not repeat their prefix */
	struct deviation_child last_child;

	/*
	 * Number of this shard, from 1, of `shards`; 0: no shards. All shards make the runs with at
	 * most one deviation, and shard 1 counts them. The points of second deviations are
	 * distributed by hash.
	 */
	uint32_t shard, shards;
	uint64_t runs_elsewhere; /* runs that another shard counts */

	/* Ranges of tasks among the children of this kind and level; the nearest one is last. */
	struct deviation_limit limits[DEVIATIONS_TASKS_MOST];
	uint32_t limit_count;
	uint32_t awaited; /* the task whose first child is next; 0: none */
	/* the ratio estimates the number of children per point */
	uint64_t points_tried, children_made;
	/* Task fields; task 0: this is the owner's state. Its first record is number `given_first`
	 * of the owner; the task received `count_given` records. */
	uint32_t task, given_first, count_given;
	uint32_t end_record, end_ordinal;
	/* Task: the position of the child before the first one, in the first record, and the print
	 * there if has_before. */
	struct deviation_child before;
	bool has_before;

	/* The current run. */
	uint32_t path_count, path_at;
	uint32_t points[DEVIATION_KIND_COUNT];
	uint64_t print;			       /* hash of everything done so far */
	uint32_t prints[DEVIATION_KIND_COUNT]; /* becomes deviation_record.prints */
	uint32_t last_print;		       /* print at the last deviation */
	/* the run did not repeat the print of an earlier run */
	bool has_varied;
	uint32_t alternatives; /* number of alternatives at the last deviation */
	struct deviation path[DEVIATIONS_MOST];
};

/* The records follow the struct. The first ones are the runs without deviations. */
static inline struct deviation_record *deviations_records(struct deviations *deviations)
{
	return (struct deviation_record *)(deviations + 1);
}

/* Size including the space for records. */
size_t deviations_bytes(uint32_t capacity);
/* `roots`: number of standard schedules, each of which is run first. */
void deviations_begin(
	struct deviations *deviations, uint32_t capacity, uint32_t bound, uint32_t roots);
void deviations_begin_run(struct deviations *deviations);
/* Does another shard count the current run? */
bool deviations_is_elsewhere(const struct deviations *deviations);
/* The standard schedule of the current run. */
uint32_t deviations_root(struct deviations *deviations);

/* Adds an event to the print; `what` is a hash that is equal in every run and process. */
static inline void deviations_note(struct deviations *deviations, uint64_t what)
{
	deviations->print = hash_pair(deviations->print, what);
}

/*
 * At a point with `alternatives` (at least 1) besides the standard: returns the alternative of this
 * run, or DEVIATIONS_NONE for the standard. `what`: hash of the standard op, as in
 * deviations_note().
 */
uint32_t deviations_at(struct deviations *deviations, enum deviation_kind kind,
	uint32_t alternatives, uint64_t what);

/* Advances to the next child that exists, up to the range of a task or to the end. */
void deviations_find_child(struct deviations *deviations);
/* The last point before `ordinal` whose children belong to this shard; DEVIATIONS_NONE: none. */
uint32_t deviations_own_point_before(
	struct deviations *deviations, uint32_t record, uint32_t ordinal);

/* Tasks, as in struct strategy_tasks. */
bool deviations_split(
	struct deviations *deviations, struct deviations *task, uint32_t number, uint64_t most);
void deviations_copy(struct deviations *to, const struct deviations *from);
bool deviations_join(struct deviations *deviations, struct deviations *task);
void deviations_leave(struct deviations *deviations, uint32_t number);

/* `is_extended`: runs with further deviations are needed. */
void deviations_end_run(struct deviations *deviations, bool is_extended);

#endif
