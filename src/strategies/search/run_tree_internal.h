/* What run_tree.c (the runs) and run_tree_search.c (which comes next) share. */
#ifndef RADDLE_STRATEGIES_SEARCH_RUN_TREE_INTERNAL_H
#define RADDLE_STRATEGIES_SEARCH_RUN_TREE_INTERNAL_H

#include "strategies/search/run_tree.h"

static inline struct run_node *run_tree_nodes(struct run_tree *tree)
{
	return (struct run_node *)(tree + 1);
}

static inline struct run_points *run_tree_points(struct run_tree *tree)
{
	return (struct run_points *)(run_tree_nodes(tree) + tree->node_capacity);
}

/* Are there orders without a run? */
static inline bool run_tree_is_at_roots(const struct run_tree *tree)
{
	return tree->root < tree->bounds.order_end;
}

/* ---- run_tree_shards.c ---- */

/* Does the shard make the children of the run that give a thread the place that is being tried? */
bool run_tree_is_own(struct run_tree *tree, const struct run_node *node);

/* ---- run_tree_search.c ---- */

/* A child of the run whose turn it is, or, with last NULL, a run without deviations. NULL: no room. */
struct run_node *run_tree_new_node(struct run_tree *tree, const struct run_path *last);
/* May it have children in this phase? */
bool run_tree_is_eligible(const struct run_tree *tree, const struct run_node *node);
/* Prints of what children of this node pass are not comparable to those of others. */
static inline void run_tree_forget_passed(struct run_tree *tree)
{
	tree->passed_count = 0;
	tree->passed_epoch++;
}

/* Its children are the next. */
void run_tree_begin_node(struct run_tree *tree, uint32_t node);
/* Behind the child that has been run. */
void run_tree_leave_child(struct run_tree *tree, bool has_diverged);
/* Moves on to a run that there is. */
void run_tree_find(struct run_tree *tree, const struct run_variable *variables);

#endif
