/* Shared by run_tree.c (runs), run_tree_search.c, run_tree_tasks.c and run_tree_shards.c. */
#pragma once

#include "strategies/search/run_tree.h"

static inline struct run_node *run_tree_nodes(struct run_tree *tree)
{
	return (struct run_node *)(tree + 1);
}

static inline struct run_points *run_tree_points(struct run_tree *tree)
{
	return (struct run_points *)(run_tree_nodes(tree) + tree->node_capacity);
}

static inline bool run_tree_is_at_roots(const struct run_tree *tree)
{
	return tree->root < tree->bounds.order_end;
}

/* Returns whether this shard makes the children of `node` with the current position. */
bool run_tree_is_own(struct run_tree *tree, const struct run_node *node);

/* Creates a child of the current node; `last` NULL: a run without deviations. Returns NULL if no
 * space is left. */
struct run_node *run_tree_new_node(struct run_tree *tree, const struct run_path *last);
bool run_tree_is_eligible(const struct run_tree *tree, const struct run_node *node);
static inline void run_tree_forget_passed(struct run_tree *tree)
{
	tree->passed_count = 0;
	tree->passed_epoch++;
}

void run_tree_begin_node(struct run_tree *tree, uint32_t node);
void run_tree_leave_child(struct run_tree *tree, bool has_diverged);
void run_tree_find(struct run_tree *tree, const struct run_variable *variables);
