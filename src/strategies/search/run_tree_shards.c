/*
 * Shards of a tree. Every shard makes the runs that may be extended. Runs with the maximum number
 * of changes are distributed by a hash of the path to the last change and its position. Equivalent
 * points, also of other variables, belong to one shard, which runs only one of them.
 */
#include "strategies/search/run_tree.h"

#include "base/hash.h"
#include "strategies/search/run_tree_internal.h"

static uint64_t run_tree_shards_hash_path(
	struct run_tree *tree, const struct run_node *node, const uint64_t *names)
{
	uint64_t hash = node->order;

	for (uint32_t left = node->depth; left--; node = &run_tree_nodes(tree)[node->parent]) {
		const uint64_t variable = node->variable == RUN_TREE_VALUE || !names
						  ? node->variable
						  : names[node->variable];

		hash = hash_pair(hash, hash_pair(variable, node->ordinal));
		hash = hash_pair(hash, node->alternative);
	}
	return hash;
}

bool run_tree_is_own(struct run_tree *tree, const struct run_node *node)
{
	uint64_t hash;

	if (tree->shards < 2 || node->changes + 1u < tree->changes_most)
		return true;
	hash = hash_pair(run_tree_shards_hash_path(tree, node, NULL), tree->alternative);
	return hash % tree->shards + 1 == tree->shard;
}

bool run_tree_is_elsewhere(const struct run_tree *tree)
{
	return tree->shard > 1 &&
	       (!tree->changes_most || run_tree_changes(tree) < tree->changes_most);
}

uint64_t run_tree_plan(struct run_tree *tree, const uint64_t *names)
{
	uint64_t sum = 0;

	/* A sum: tasks are joined in any order. */
	for (uint32_t i = 0; i < tree->node_count; i++) {
		const struct run_node *node = &run_tree_nodes(tree)[i];

		if (node->changes >= tree->changes_most || node->is_closed)
			continue;
		sum += hash_pair(run_tree_shards_hash_path(tree, node, NULL),
			run_tree_shards_hash_path(tree, node, names));
	}
	return sum;
}
