/*
 * Tree of the runs of a bounded search. A run is identified by its *deviations* from the standard
 * schedule of a thread order. A deviation is at point number n of a variable behind the previous
 * deviation: later knowledge about other variables moves no point. At a deviation the thread gets a
 * *position* in the order, the lowest one (number 0) or another. The children of a run deviate once
 * more behind its last deviation. Each run is made once: completed bounds are stored for each
 * order.
 *
 * Up to its last deviation, a run must equal its parent and its siblings, which hashes (*prints*)
 * check at each point. One print covers all synchronisation before the point, the accesses to the
 * point's variable and the prints at earlier deviations; the other covers the accesses to all
 * variables. Runs with a focus (struct strategy) have only the former.
 *
 * A plain value without pointers: nodes and points follow the struct (run_tree_bytes()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategies/key_table.h"

#define RUN_TREE_DEVIATIONS_MOST 64 /* deviations in one run */
#define RUN_TREE_ORDERS_MOST 16384
#define RUN_TREE_VALUE                                                                             \
	UINT16_MAX /* pseudo-variable of a value choice, which is free of cost, unlike a change */
#define RUN_TREE_SAME_SLOTS 16384 /* half of the slots stay free */

/* Points behind the last deviation of a run. */
struct run_points {
	uint32_t count;
	uint16_t variable;
	uint16_t positions; /* maximum number of positions at one of these points */
	uint32_t print;	    /* print of this variable at the last point */
	uint32_t whole;	    /* print of all variables at the last point */
};

struct run_node {
	uint32_t parent; /* own index: a run without deviations */
	uint32_t ordinal;
	uint16_t variable;
	uint16_t alternative; /* index of a value, or position of a change */
	uint16_t order;
	uint8_t changes;   /* number of changes of priority */
	uint8_t is_closed; /* has no children, because an equivalent run was extended */
	/* known to be equivalent to another run; made when its children are needed */
	uint8_t is_deferred;
	uint8_t is_placed;  /* one of its changes has a position other than the lowest */
	uint8_t has_values; /* its value choices have been explored */
	uint8_t depth;	    /* number of deviations of both kinds */
	uint16_t points_count;
	uint32_t points_at;
};

struct run_variable {
	/* number among the heap blocks of one call stack, from 1; 0: not on the heap */
	uint16_t loop;
	uint8_t is_shared;
	uint64_t users; /* threads that use the variable, as hashed bits */
};

/* The runs of interest: at most this many changes, at this many variables. */
struct run_bounds {
	uint32_t changes, variables;
	uint32_t loops;	    /* 0: no limit */
	bool has_positions; /* all positions; otherwise only the lowest */
	bool has_values;    /* all value choices; otherwise only the first value */
	uint32_t order_first, order_end;
};

#define RUN_TREE_TASKS_MOST 64

/* The range [first, end) of runs whose children a task makes: run_tree_tasks.c. */
struct run_tree_limit {
	uint32_t first, end, task;
};

struct run_tree {
	uint32_t node_capacity, node_count;
	uint32_t points_capacity, points_used;
	bool is_lost;	       /* nodes or points are exhausted */
	uint32_t changes_most; /* the maximum number of changes in any run */
	/* number of the shard, from 1; 0: no shards. Set before run_tree_begin() */
	uint32_t shard, shards;
	uint64_t diverged_runs; /* number of runs that could not deviate where they should */
	/* runs that did not equal their parent or siblings up to the last deviation */
	uint64_t varied_runs;
	struct run_bounds bounds;
	/* By order: variables up to which all runs are made, with lowest positions, and with all. */
	uint8_t done_variables[RUN_TREE_ORDERS_MOST], done_placed[RUN_TREE_ORDERS_MOST];

	bool is_done;	     /* all runs within the bounds are made */
	uint32_t root;	     /* next order without a run; order_end: all orders have one */
	uint32_t roots_done; /* number of orders, from 0, that have a run */
	uint32_t depth;	     /* number of deviations of the runs whose children are made now */
	uint32_t depth_most; /* maximum number of deviations of any run */
	enum run_tree_phase {
		RUN_TREE_DEFERRED, /* deferred runs themselves */
		/* children with one more change; a variable's last point is first */
		RUN_TREE_CHANGES,
		RUN_TREE_VALUES /* children with another value */
	} phase;
	/* the entry's points are being explored: the next is number ordinal - 1 */
	bool is_begun;
	uint32_t loop;	    /* maximum loop number of the variables that are explored now */
	uint32_t next_loop; /* the next larger loop number seen; UINT32_MAX: none */
	uint32_t node, entry, ordinal, alternative;

	/* Limits in the current scan for changes; the nearest one is last. */
	struct run_tree_limit limits[RUN_TREE_TASKS_MOST];
	uint32_t limit_count;
	uint32_t awaited; /* the task whose first child is next; 0: none */
	/* Task fields; task 0: the owner's state. The first of the nodes_given nodes are the nodes
	 * [given_first, given_end) of the owner. */
	uint32_t task, given_first, given_end, nodes_given;

	uint32_t path_count, path_at;
	uint32_t alternatives; /* number of alternatives at its last deviating value choice */
	bool is_repeated;      /* its position does not exist at that point */
	uint32_t epoch;
	struct run_path {
		uint32_t ordinal;
		uint16_t variable, alternative;
	} path[RUN_TREE_DEVIATIONS_MOST];
	uint32_t seen_count; /* number of variables behind the last deviation */
	uint16_t seen[KEY_TABLE_CAPACITY];
	uint32_t seen_epoch[KEY_TABLE_CAPACITY];
	uint32_t counts[KEY_TABLE_CAPACITY];
	uint16_t positions[KEY_TABLE_CAPACITY];
	uint32_t same_count, same_epoch; /* points of `node` that are equivalent to others */
	struct run_same {
		uint32_t epoch, ordinal;
		uint16_t variable, alternative;
	} same[RUN_TREE_SAME_SLOTS];
	uint32_t values; /* number of value choices behind the last deviation */
	/* Hash of synchronisation, and of the deviations' variables up to their deviation */
	uint64_t print;
	uint64_t whole; /* print that also covers all variables */
	/* Hashes of variables at their last point behind the last deviation */
	uint32_t prints[KEY_TABLE_CAPACITY];
	uint32_t wholes[KEY_TABLE_CAPACITY]; /* the same for `whole` */
	bool is_partial;		     /* the run has a focus */
	bool has_varied;

	/* Prints at points that children of `node` have passed. */
	uint32_t passed_count, passed_epoch;
	struct run_passed {
		uint32_t epoch, ordinal, print, whole;
		uint16_t variable;
		uint8_t is_partial; /* `whole` is not known yet */
	} passed[RUN_TREE_SAME_SLOTS];
};

size_t run_tree_bytes(uint32_t node_capacity);
void run_tree_begin(struct run_tree *tree, uint32_t node_capacity, uint32_t changes_most);
/* Implements strategy_search.is_valid(). */
bool run_tree_is_valid(struct run_tree *tree, uint32_t node_capacity);
/* Runs within earlier bounds are not made again. */
void run_tree_widen(struct run_tree *tree, const struct run_bounds *bounds,
	const struct run_variable *variables);
void run_tree_note_done(struct run_tree *tree);

/* `is_partial`: the run has a focus and reports only the variables at which it deviates. */
void run_tree_begin_run(struct run_tree *tree, bool is_partial);
uint32_t run_tree_order(struct run_tree *tree);
/* Adds a synchronisation event to the prints. `what`: a hash that is equal in every run. */
static inline void run_tree_note(struct run_tree *tree, uint64_t what)
{
	tree->print = hash_pair(tree->print, what);
	tree->whole = hash_pair(tree->whole, what);
}
/* Returns whether this run deviates at this point with at least one position. `what`: hash of the
 * op. */
bool run_tree_at(struct run_tree *tree, uint32_t variable, uint32_t positions, uint64_t what);
uint32_t run_tree_position(const struct run_tree *tree);
/* Makes a choice among `count` values, at least 2. */
uint32_t run_tree_value(struct run_tree *tree, uint32_t count);
/*
 * Variables of the next run's deviations, ascending; returns their number. 0: the run does not
 * deviate, or may have children other than by value choices.
 */
uint32_t run_tree_last_set(struct run_tree *tree, uint16_t *set);
/* The variables of the current run's deviations, in ascending order; returns their number. */
uint32_t run_tree_set(const struct run_tree *tree, uint16_t *set);
uint32_t run_tree_changes(const struct run_tree *tree);
/* Returns whether the run has made its last deviation. */
bool run_tree_is_past(const struct run_tree *tree);
static inline uint32_t run_tree_last_ordinal(const struct run_tree *tree, uint32_t variable)
{
	return tree->counts[variable] - 1;
}
/* Notes that a run with its last change at this point would be equivalent: it is omitted or
 * deferred. */
void run_tree_note_same(struct run_tree *tree, uint32_t variable, uint32_t ordinal);
/* Returns whether the run differed from its parent or siblings before its last deviation, or did
 * not reach it. */
static inline bool run_tree_has_strayed(const struct run_tree *tree)
{
	return tree->has_varied || tree->path_at != tree->path_count;
}
/* Drops the current run, which proves nothing: it is repeated. */
void run_tree_drop_run(struct run_tree *tree);
/* `is_extended`: runs with further deviations are needed. */
void run_tree_end_run(
	struct run_tree *tree, bool is_extended, const struct run_variable *variables);

/* Returns whether all shards make the current run, while another shard counts it. */
bool run_tree_is_elsewhere(const struct run_tree *tree);
/* Returns a hash of the extended runs, with variables by name. It is equal if all shards distribute
 * the same runs. */
uint64_t run_tree_plan(struct run_tree *tree, const uint64_t *names);

/* Tasks, as in struct strategy_tasks (run_tree_tasks.c). */

bool run_tree_split(struct run_tree *tree, struct run_tree *task, uint32_t number, uint64_t most,
	const struct run_variable *variables);
void run_tree_copy(struct run_tree *to, const struct run_tree *from);
/* Returns whether there is space for the nodes of the task. */
bool run_tree_may_join(const struct run_tree *tree, struct run_tree *task);
/* Joins the awaited task. Its closed runs (run_tree_close()) have no children. */
void run_tree_join(
	struct run_tree *tree, struct run_tree *task, const struct run_variable *variables);
/* Notes that the task's run with this node is equivalent to an earlier run. */
void run_tree_close(struct run_tree *task, uint32_t node);
/* Returns the node of the run that has just ended, given the node count before; UINT32_MAX: none
 * was added. */
uint32_t run_tree_last_node(struct run_tree *tree, uint32_t before);
void run_tree_leave(struct run_tree *tree, uint32_t number, const struct run_variable *variables);
