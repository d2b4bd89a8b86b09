/* Functions shared by run_tree.c (runs), run_tree_search.c (selection of the next run),
 * run_tree_tasks.c (tasks) and run_tree_shards.c. */
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

/* Does this shard make the children of `node` with the current place? */
bool run_tree_is_own(struct run_tree *tree, const struct run_node *node);

/* ---- run_tree_search.c ---- */

/* Adds a child of the current node, or, with last NULL, a run without deviations. NULL: no
 * space. */
struct run_node *run_tree_new_node(struct run_tree *tree, const struct run_path *last);
/* May the node have children in the current phase? */
bool run_tree_is_eligible(const struct run_tree *tree, const struct run_node *node);
/* Discards the prints of the previous node's children. */
static inline void run_tree_forget_passed(struct run_tree *tree)
{
	tree->passed_count = 0;
	tree->passed_epoch++;
}

/* Continues with the children of `node`. */
void run_tree_begin_node(struct run_tree *tree, uint32_t node);
/* Advances behind the child that has been run. */
void run_tree_leave_child(struct run_tree *tree, bool has_diverged);
/* Advances to the next run that exists. */
void run_tree_find(struct run_tree *tree, const struct run_variable *variables);

#endif
