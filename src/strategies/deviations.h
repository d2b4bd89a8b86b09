/*
 * Going through all runs that differ from a standard schedule at a few points, those with fewer costly
 * differences first: what icb, vt and bounded have in common (Musuvathi and Qadeer, PLDI 2007,
 * algorithm 1, where a queue holds the work of the next bound).
 *
 * A run is known by its *deviations*: at a *point* it took another alternative than the standard one.
 * Each run that is made becomes a record; its children have one deviation more, behind its last one.
 * So each run is made once, and only the way to the next child is kept, not the children.
 */
#ifndef RADDLE_STRATEGIES_DEVIATIONS_H
#define RADDLE_STRATEGIES_DEVIATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	bool is_lost; /* records have run out */
	uint64_t runs, diverged_runs;

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

	/* The run at hand. */
	uint32_t path_count, path_at;
	uint32_t points[DEVIATION_KIND_COUNT];
	uint32_t alternatives; /* at its last deviation */
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

/*
 * At a point with so many alternatives to the standard (at least 1): the one that this run takes, or
 * DEVIATIONS_NONE for the standard.
 */
uint32_t deviations_at(
	struct deviations *deviations, enum deviation_kind kind, uint32_t alternatives);

/* Moves on to a child that there is, up to a part or the end. */
void deviations_find_child(struct deviations *deviations);

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
