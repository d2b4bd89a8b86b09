/*
 * Going through all runs that differ from a standard schedule at a few points, those with fewer costly
 * differences first: what icb, vt and bounded have in common (Musuvathi and Qadeer, PLDI 2007,
 * algorithm 1, where a queue holds the work of the next bound).
 *
 * A run is known by its *deviations*: at a *point* it took another alternative than the standard one.
 * Each run that is made becomes a record; its children have one deviation more, behind its last one.
 * So each run is made once, and only the way to the next child is kept, not the children.
 *
 * Up to its last deviation a run is to be what its parent and its siblings were there. Whether it was, hashes of all that was
 * done before a point (*prints*) show: each child passes, or stands at, the point of the child before it, and the last
 * one stands at the parent's last point. So every two of them are compared, at the cost of a few numbers.
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
	DEVIATION_FREE,	  /* costs nothing: nobody was interrupted */
	DEVIATION_COSTLY, /* counts against the bound */
	DEVIATION_KIND_COUNT
};

struct deviation {
	uint32_t ordinal; /* n-th point of its kind since the deviation before it, from 0 */
	uint16_t alternative;
	uint16_t kind; /* enum deviation_kind */
};

struct deviation_record {
	uint32_t parent; /* itself: none */
	uint32_t root;
	struct deviation last;
	uint32_t points[DEVIATION_KIND_COUNT]; /* behind the last deviation */
	uint32_t prints[DEVIATION_KIND_COUNT]; /* at the last of these that has children here */
};

/* A child that has been run: where it deviated, and what had been done before. */
struct deviation_child {
	uint32_t record, kind, ordinal; /* DEVIATIONS_NONE: there is none */
	uint32_t print;
};

#define DEVIATIONS_PARTS_MOST 64

/* The children of a part, from a point on and up to another: deviations_parts.c. */
struct deviation_limit {
	uint32_t record, ordinal;
	uint32_t end_record, end_ordinal;
	uint32_t part;
};

struct deviations {
	uint32_t capacity, count; /* of records */
	uint32_t roots, root;	  /* standard schedules; the next that has not been run yet */
	uint32_t bound;		  /* no run with more costly deviations */
	uint32_t level;		  /* costly deviations of the records from level_start on */
	uint32_t level_start, level_end;
	uint32_t kind;		       /* of the children that are being made */
	uint32_t record;	       /* whose children they are */
	uint32_t ordinal, alternative; /* of the next child */
	uint32_t levels_done;	       /* all runs with fewer costly deviations have been made */
	bool is_exhausted;
	bool is_lost;		      /* records have run out */
	uint64_t runs, diverged_runs; /* the latter were not what they had been before */
	struct deviation_child last_child;

	/*
	 * A shard, from 1, of so many; 0: it is whole. All shards make the runs with one deviation at most, which are the
	 * first one's to count; behind those the points of second deviations are dealt by their hashes.
	 */
	uint32_t shard, shards;
	uint64_t runs_elsewhere; /* that are not its own */

	/* Parts of the children of this kind and level, the nearest last. */
	struct deviation_limit limits[DEVIATIONS_PARTS_MOST];
	uint32_t limit_count;
	uint32_t awaited;		      /* the part whose first child is the next; 0: none */
	uint64_t points_tried, children_made; /* so many children such points have */
	/* Of a part, 0: it is whole. The first of its records is `given_first` there; it was given so many. */
	uint32_t part, given_first, count_given;
	uint32_t end_record, end_ordinal;
	/* Likewise: the point of the child before its first one, in its first record, and its print there. */
	struct deviation_child before;
	bool has_before;

	/* The run at hand. */
	uint32_t path_count, path_at;
	uint32_t points[DEVIATION_KIND_COUNT];
	uint64_t print;			       /* of what has been done */
	uint32_t prints[DEVIATION_KIND_COUNT]; /* as in its record */
	uint32_t last_print;		       /* where it deviated last */
	bool has_varied;		       /* from what was done there before */
	uint32_t alternatives;		       /* at its last deviation */
	struct deviation path[DEVIATIONS_MOST];
};

/* They lie behind; the first are the runs without deviations. */
static inline struct deviation_record *deviations_records(struct deviations *deviations)
{
	return (struct deviation_record *)(deviations + 1);
}

/* With room for the records behind it. */
size_t deviations_bytes(uint32_t capacity);
/* `roots`: so many standard schedules, each of which is run first. */
void deviations_begin(
	struct deviations *deviations, uint32_t capacity, uint32_t bound, uint32_t roots);
void deviations_begin_run(struct deviations *deviations);
/* Is the run at hand one of another shard? */
bool deviations_is_elsewhere(const struct deviations *deviations);
/* From which standard schedule the run at hand deviates. */
uint32_t deviations_root(struct deviations *deviations);

/* The run has done that: a hash that is equal in every run, in every process. */
static inline void deviations_note(struct deviations *deviations, uint64_t what)
{
	deviations->print = hash_pair(deviations->print, what);
}

/*
 * At a point with so many alternatives to the standard (at least 1): the one that this run takes, or
 * DEVIATIONS_NONE for the standard. `what`: a hash of what would be done there, as above.
 */
uint32_t deviations_at(struct deviations *deviations, enum deviation_kind kind,
	uint32_t alternatives, uint64_t what);

/* Moves on to a child that there is, up to a part or the end. */
void deviations_find_child(struct deviations *deviations);
/* The point before `ordinal` whose children are its own to make; DEVIATIONS_NONE: there is none. */
uint32_t deviations_own_point_before(
	struct deviations *deviations, uint32_t record, uint32_t ordinal);

/* Parts, as in struct strategy_parts. */
bool deviations_split(
	struct deviations *deviations, struct deviations *part, uint32_t number, uint64_t most);
/* What it is now, into another block. */
void deviations_copy(struct deviations *to, const struct deviations *from);
bool deviations_join(struct deviations *deviations, struct deviations *part);
void deviations_leave(struct deviations *deviations, uint32_t number);

/* `is_extended`: runs with further deviations are of interest. */
void deviations_end_run(struct deviations *deviations, bool is_extended);

#endif
