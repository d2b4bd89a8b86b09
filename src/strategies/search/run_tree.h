/*
 * The runs that a bounded search has made, as a tree: a run is known by its *deviations* from the
 * standard schedule of an order of the threads. Each deviation is at the n-th *point* of a variable
 * behind the deviation before it, so what is learnt of other variables moves no point; there the thread
 * gets one of so many *places* in the order, the last one (number 0) or another. A run's
 * children deviate once more, behind its last deviation; each is made once, however often the bounds
 * are widened: what bounds are done is noted for each order.
 *
 * Up to its last deviation a run is to be what its parent and its siblings were there. Whether it was is seen at its points:
 * *prints* are hashes of all that synchronised before one, with the accesses to its variable there or with those to all
 * variables, and likewise of each deviation before. Runs with a focus (struct strategy) know only the former.
 *
 * A plain value without pointers: nodes and points lie behind it (run_tree_bytes()).
 */
#ifndef RADDLE_STRATEGIES_SEARCH_RUN_TREE_H
#define RADDLE_STRATEGIES_SEARCH_RUN_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/key_table.h"

#define RUN_TREE_DEVIATIONS_MOST 64 /* in one run */
#define RUN_TREE_ORDERS_MOST 16384
#define RUN_TREE_VALUE                                                                             \
	UINT16_MAX /* variable of a choice that is not about threads; it costs nothing */
#define RUN_TREE_SAME_SLOTS 16384 /* half stay free */

/* Behind the last deviation of a run: so many points of the variable. */
struct run_points {
	uint32_t count;
	uint16_t variable;
	uint16_t places; /* the most that one of them has */
	uint32_t print;	 /* at the last one, of this variable */
	uint32_t whole;	 /* likewise, of all of them */
};

struct run_node {
	uint32_t parent; /* itself: a run without deviations */
	uint32_t ordinal;
	uint16_t variable;
	uint16_t alternative; /* of a choice of values; of a change, its place */
	uint16_t order;
	uint8_t changes;     /* deviations that cost */
	uint8_t is_closed;   /* not to be extended: one like it has been */
	uint8_t is_deferred; /* known to be like another, and not run until its children are wanted */
	uint8_t is_placed;   /* one of its changes has a place that is not the last */
	uint8_t has_values; /* its choices of values have been tried */
	uint8_t depth;	    /* deviations of both kinds */
	uint16_t points_count;
	uint32_t points_at;
};

/* What the tree has to know of a variable. */
struct run_variable {
	uint16_t
		loop; /* n-th block that was allocated with one call stack, from 1; 0: not on the heap */
	bool is_shared;
	uint64_t users; /* threads that use it: bits by hash */
};

/* Which runs are of interest: those with at most so many changes, at so many variables. */
struct run_bounds {
	uint32_t changes, variables;
	uint32_t loops;	 /* 0: any */
	bool has_places; /* all places; else the last one only */
	bool has_values; /* all choices that are not about threads; else the first of each */
	uint32_t order_first, order_end;
};

#define RUN_TREE_PARTS_MOST 64

/* The children of the runs [first, end) that a part makes: run_tree_parts.c. */
struct run_tree_limit {
	uint32_t first, end, part;
};

struct run_tree {
	uint32_t node_capacity, node_count;
	uint32_t points_capacity, points_used;
	bool is_lost;		/* one of both has run out */
	uint32_t changes_most;	/* no run will ever have more */
	uint32_t shard, shards; /* from 1; 0: it is whole. Set before anything is begun */
	uint64_t diverged_runs; /* could not deviate where they were to */
	uint64_t varied_runs;	/* were not, up to there, what others were */
	struct run_bounds bounds;
	/* By order: all runs with so many variables are made, those in last places and the others. */
	uint8_t done_variables[RUN_TREE_ORDERS_MOST], done_placed[RUN_TREE_ORDERS_MOST];

	/* Which run is the next. */
	bool is_done;	     /* within the bounds there is none */
	uint32_t root;	     /* next order without a run; order_end: all have one */
	uint32_t roots_done; /* orders from 0 that have one */
	uint32_t depth; /* of the runs whose children are being made: deviations of both kinds */
	uint32_t depth_most; /* that a run has */
	enum run_tree_phase {
		RUN_TREE_DEFERRED, /* these runs themselves, where that was put off */
		RUN_TREE_CHANGES, /* children with one more change, the last point of a variable first */
		RUN_TREE_VALUES /* children with another value */
	} phase;
	bool is_begun; /* the entry's points are being tried: the next is number ordinal - 1 */
	uint32_t loop; /* of those, the ones whose variables have this as their largest number */
	uint32_t next_loop; /* the smallest larger one that has been seen; UINT32_MAX: none */
	uint32_t node, entry, ordinal, alternative;

	/* Parts of the scan that is under way, all of changes; the nearest last. */
	struct run_tree_limit limits[RUN_TREE_PARTS_MOST];
	uint32_t limit_count;
	uint32_t awaited; /* the part whose first child is the next; 0: none */
	/* Of a part, 0: it is whole. It was given so many nodes, of which the first ones are [first, end) there. */
	uint32_t part, given_first, given_end, nodes_given;

	/* The run at hand. */
	uint32_t path_count, path_at;
	uint32_t alternatives; /* at its last choice of values that deviated */
	bool is_repeated;      /* it was to take a place that there is not */
	uint32_t epoch;
	struct run_path {
		uint32_t ordinal;
		uint16_t variable, alternative;
	} path[RUN_TREE_DEVIATIONS_MOST];
	uint32_t met_count; /* variables behind the last deviation */
	uint16_t met[KEY_TABLE_CAPACITY];
	uint32_t met_epoch[KEY_TABLE_CAPACITY];
	uint32_t counts[KEY_TABLE_CAPACITY];
	uint16_t places[KEY_TABLE_CAPACITY];
	uint32_t same_count, same_epoch; /* points of `node` that are as good as others */
	struct run_same {
		uint32_t epoch, ordinal;
		uint16_t variable, alternative;
	} same[RUN_TREE_SAME_SLOTS];
	uint32_t values; /* choices of values behind the last deviation */
	uint64_t print;	 /* of what has synchronised, and of variables up to deviations at them */
	uint64_t whole;	 /* and of all of them */
	uint32_t prints[KEY_TABLE_CAPACITY]; /* of variables, at their last points behind that, */
	uint32_t wholes[KEY_TABLE_CAPACITY]; /* and of all */
	bool is_partial;		     /* it has a focus */
	bool has_varied;

	/* Prints of points that children of `node` have passed. */
	uint32_t passed_count, passed_epoch;
	struct run_passed {
		uint32_t epoch, ordinal, print, whole;
		uint16_t variable;
		bool is_partial; /* nothing of `whole` is known yet */
	} passed[RUN_TREE_SAME_SLOTS];
};

size_t run_tree_bytes(uint32_t node_capacity);
/* Forgets all runs. `tree` is zero or has been used. */
void run_tree_begin(struct run_tree *tree, uint32_t node_capacity, uint32_t changes_most);
/* From here on runs within these bounds are made, but for those within earlier ones. */
void run_tree_widen(struct run_tree *tree, const struct run_bounds *bounds,
	const struct run_variable *variables);
/* The bounds of run_tree_widen() are done: notes it. */
void run_tree_note_done(struct run_tree *tree);

/* `is_partial`: it has a focus, and tells of no variables but those at which it deviates. */
void run_tree_begin_run(struct run_tree *tree, bool is_partial);
/* Of the run that is due. */
uint32_t run_tree_order(struct run_tree *tree);
/* The run synchronises: a hash of how, equal in every run. */
static inline void run_tree_note(struct run_tree *tree, uint64_t what)
{
	tree->print = hash_pair(tree->print, what);
	tree->whole = hash_pair(tree->whole, what);
}
/*
 * The thread stands at a point of the variable, with so many places, 1 at least: does this run deviate here?
 * `what`: a hash of what it is about to do, as above.
 */
bool run_tree_at(struct run_tree *tree, uint32_t variable, uint32_t places, uint64_t what);
/* It does: to which place. */
uint32_t run_tree_place(const struct run_tree *tree);
/* At a choice among `count` values, 2 at least: the one that this run takes. */
uint32_t run_tree_value(struct run_tree *tree, uint32_t count);
/*
 * The run that is due has no children but of other values: the variables at which it will deviate, in
 * ascending order, and their number. 0: it has, or it does not deviate.
 */
uint32_t run_tree_last_set(struct run_tree *tree, uint16_t *set);
/* The variables at which the run at hand is to deviate, in ascending order; their number. */
uint32_t run_tree_set(const struct run_tree *tree, uint16_t *set);
/* Changes of priority that the run at hand is to make. */
uint32_t run_tree_changes(const struct run_tree *tree);
/* Has it made its last deviation? */
bool run_tree_is_past(const struct run_tree *tree);
/* Choices of values behind its last deviation. */
static inline uint32_t run_tree_values_behind(const struct run_tree *tree)
{
	return tree->values;
}
/* n of the point at which run_tree_at() has just been asked. */
static inline uint32_t run_tree_last_ordinal(const struct run_tree *tree, uint32_t variable)
{
	return tree->counts[variable] - 1;
}
/*
 * Before the end: a run with its last change at this point instead would be the same, but for the order
 * of independent ops. It is left out, or made when its children are wanted.
 */
void run_tree_note_same(struct run_tree *tree, uint32_t variable, uint32_t ordinal);
/* The run that ends is not what its parent and its siblings were up to its last deviation, or has not come there. */
static inline bool run_tree_has_strayed(const struct run_tree *tree)
{
	return tree->has_varied || tree->path_at != tree->path_count;
}
/* The run proves nothing, and is made again. */
void run_tree_drop_run(struct run_tree *tree);
/* `is_extended`: runs with further deviations are of interest. */
void run_tree_end_run(
	struct run_tree *tree, bool is_extended, const struct run_variable *variables);

/* ---- run_tree_shards.c ---- */

/* Is the run at hand made in every shard, and counted in another one? */
bool run_tree_is_elsewhere(const struct run_tree *tree);
/* Of the runs that are gone on from, by names of variables: equal where shards have dealt out the same. */
uint64_t run_tree_plan(struct run_tree *tree, const uint64_t *names);

/* ---- run_tree_parts.c: parts, as in struct strategy_parts ---- */

bool run_tree_split(struct run_tree *tree, struct run_tree *part, uint32_t number, uint64_t most,
	const struct run_variable *variables);
/* What it is now, into another block. */
void run_tree_copy(struct run_tree *to, const struct run_tree *from);
/* Is there room for what the part has made? */
bool run_tree_may_join(const struct run_tree *tree, const struct run_tree *part);
/* The awaited part; of its runs those that are closed (run_tree_close()) have no children. */
void run_tree_join(
	struct run_tree *tree, struct run_tree *part, const struct run_variable *variables);
/* The part's run with this node is like one that was made before. */
void run_tree_close(struct run_tree *part, uint32_t node);
/* The node of the run that has just ended, if there were so many before; UINT32_MAX: it has none. */
uint32_t run_tree_last_node(struct run_tree *tree, uint32_t before);
void run_tree_leave(struct run_tree *tree, uint32_t number, const struct run_variable *variables);

#endif
