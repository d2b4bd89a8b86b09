/*
 * Tasks of a tree: a range of the runs whose children, with one more change each, are made one
 * after the other. The task gets these nodes and their ancestors. Its runs are independent of other
 * runs, except for the equivalence with earlier ones. The join determines equivalence, where the
 * owner knows all runs (run_tree_close()). The owner's range comes first, followed by those of the
 * tasks and the free range.
 */
#include "strategies/search/run_tree.h"
#include "strategies/search/run_tree_internal.h"

#include <string.h>

/* Limits for the number of children of a task, counted as points times places. */
#define CHILDREN_LEAST 32
#define CHILDREN_MOST 16384
/* A task gets 1/SHARE of the free range, and leaves the rest to later tasks. */
#define SHARE 4

/* A range of runs in a scan. */
struct stretch {
	const struct run_variable *variables;
	uint32_t first, end;
};

static uint64_t count_children(
	struct run_tree *tree, uint32_t number, const struct run_variable *variables)
{
	const struct run_node *node = &run_tree_nodes(tree)[number];
	const struct run_points *points = run_tree_points(tree) + node->points_at;
	uint64_t count = 0;

	if (!run_tree_is_eligible(tree, node))
		return 0;
	for (uint32_t i = 0; i < node->points_count; i++)
		if (points[i].variable != RUN_TREE_VALUE && variables[points[i].variable].is_shared)
			count += (uint64_t)points[i].count *
				 (tree->bounds.has_places ? points[i].places : 1);
	return count;
}

/* Sets the end such that the range has `wanted` children, or to the last run; returns their
 * number. */
static uint64_t run_tree_parts_extend(
	struct run_tree *tree, struct stretch *stretch, uint64_t wanted)
{
	uint64_t count = 0;

	for (stretch->end = stretch->first; stretch->end < tree->node_count && count < wanted;
		stretch->end++)
		count += count_children(tree, stretch->end, stretch->variables);
	return count;
}

/* ---- content of a task ---- */

static void give_points(struct run_tree *tree, struct run_tree *part, uint32_t number)
{
	struct run_node *node = &run_tree_nodes(part)[number];
	const struct run_points *points = run_tree_points(tree) + node->points_at;

	if (!run_tree_is_eligible(tree, node)) {
		node->points_at = node->points_count = 0;
		return;
	}
	memcpy(run_tree_points(part) + part->points_used, points,
		node->points_count * sizeof *points);
	node->points_at = part->points_used;
	part->points_used += node->points_count;
}

/* Copies the runs of the range and their ancestors. Parents are in the order of their children, so
 * hardly any parent is copied twice. */
static void give_nodes(struct run_tree *tree, struct run_tree *part, uint32_t first, uint32_t count)
{
	const struct run_node *from = run_tree_nodes(tree);
	struct run_node *nodes = run_tree_nodes(part);
	uint32_t last = UINT32_MAX; /* the parent copied last */

	memcpy(nodes, from + first, count * sizeof *nodes);
	part->node_count = count;
	for (uint32_t i = 0; i < count; i++)
		give_points(tree, part, i);
	for (uint32_t i = 0; i < part->node_count; i++) {
		const uint32_t parent = nodes[i].parent;

		if (!nodes[i].depth) {
			nodes[i].parent = i;
		} else if (parent >= first && parent - first < count) {
			nodes[i].parent = parent - first;
		} else if (parent == last) {
			nodes[i].parent = part->node_count - 1;
		} else if (part->node_count < part->node_capacity) {
			nodes[i].parent = part->node_count;
			nodes[part->node_count] = from[last = parent];
			nodes[part->node_count].points_count = 0;
			part->node_count++;
		} else {
			part->is_lost = true;
			return;
		}
	}
}

static void run_tree_parts_give(struct run_tree *tree, struct run_tree *part, uint32_t number,
	const struct stretch *stretch)
{
	memcpy(part, tree, sizeof *part);
	part->part = number;
	part->limit_count = 0;
	part->given_first = stretch->first;
	part->given_end = stretch->end;
	part->diverged_runs = part->varied_runs = 0;
	part->points_used = 0;
	give_nodes(tree, part, stretch->first, stretch->end - stretch->first);
	part->nodes_given = part->node_count;
	part->next_loop = UINT32_MAX;
	run_tree_begin_node(part, 0);
	if (!part->is_lost)
		run_tree_find(part, stretch->variables);
}

bool run_tree_split(struct run_tree *tree, struct run_tree *part, uint32_t number, uint64_t most,
	const struct run_variable *variables)
{
	const bool has_parts = tree->limit_count != 0;
	struct stretch stretch = {.variables = variables, .first = tree->node};
	const uint32_t free = has_parts ? tree->limits[0].end : tree->node + 1;
	uint64_t ahead = 0, size;

	if (tree->is_done || tree->is_lost || tree->awaited || run_tree_is_at_roots(tree) ||
		tree->phase != RUN_TREE_CHANGES || tree->limit_count == RUN_TREE_PARTS_MOST)
		return false;
	for (uint32_t i = tree->node; i < free && i < tree->node_count && ahead < most; i++)
		ahead += count_children(tree, i, variables);
	if (ahead >= most)
		return false;
	if (most - ahead > (uint64_t)SHARE * CHILDREN_MOST)
		most = ahead + (uint64_t)SHARE * CHILDREN_MOST;
	stretch.first = free;
	size = run_tree_parts_extend(tree, &stretch, most - ahead) / SHARE;
	if (size < CHILDREN_LEAST)
		return false;
	/* The owner keeps the first range, unless it already has work before the first task. */
	if (!has_parts) {
		(void)run_tree_parts_extend(tree, &stretch, size); /* the result is not needed */
		stretch.first = stretch.end;
	}
	if (!run_tree_parts_extend(tree, &stretch, size))
		return false;
	run_tree_parts_give(tree, part, number, &stretch);
	if (part->is_done || part->is_lost)
		return false;
	memmove(&tree->limits[1], &tree->limits[0], tree->limit_count * sizeof tree->limits[0]);
	tree->limits[0] = (struct run_tree_limit){stretch.first, stretch.end, number};
	tree->limit_count++;
	return true;
}

void run_tree_copy(struct run_tree *to, const struct run_tree *from)
{
	/* The accessors need a non-const tree; `from` is not changed. */
	struct run_tree *source = (struct run_tree *)(uintptr_t)from;

	memcpy(to, from, sizeof *to);
	memcpy(run_tree_nodes(to), run_tree_nodes(source),
		from->node_count * sizeof(struct run_node));
	memcpy(run_tree_points(to), run_tree_points(source),
		from->points_used * sizeof(struct run_points));
}

/* ---- joining ---- */

uint32_t run_tree_last_node(struct run_tree *tree, uint32_t before)
{
	/* Deferred nodes may follow the node of the run. */
	return tree->node_count > before && !run_tree_nodes(tree)[before].is_deferred ? before
										      : UINT32_MAX;
}

void run_tree_close(struct run_tree *part, uint32_t node)
{
	run_tree_nodes(part)[node].is_closed = true;
}

bool run_tree_may_join(const struct run_tree *tree, const struct run_tree *part)
{
	return !part->is_lost &&
	       part->node_count - part->nodes_given <= tree->node_capacity - tree->node_count &&
	       part->points_used <= tree->points_capacity - tree->points_used;
}

static void join_node(struct run_tree *tree, struct run_tree *part, uint32_t number)
{
	struct run_node *node = &run_tree_nodes(tree)[tree->node_count++];

	*node = run_tree_nodes(part)[number];
	node->parent += part->given_first;
	if (node->is_closed || !node->points_count) {
		node->points_at = node->points_count = 0;
		return;
	}
	memcpy(run_tree_points(tree) + tree->points_used, run_tree_points(part) + node->points_at,
		node->points_count * sizeof(struct run_points));
	node->points_at = tree->points_used;
	tree->points_used += node->points_count;
}

/* Moves the owner to the task's position, or behind its range. */
static void join_place(struct run_tree *tree, const struct run_tree *part)
{
	if (part->is_done) {
		run_tree_begin_node(tree, part->given_end);
		return;
	}
	tree->node = part->given_first + part->node;
	tree->entry = part->entry;
	tree->ordinal = part->ordinal;
	tree->alternative = part->alternative;
	tree->is_begun = part->is_begun;
	tree->same_count = part->same_count;
	tree->same_epoch = part->same_epoch;
	memcpy(tree->same, part->same, sizeof tree->same);
	tree->passed_count = part->passed_count;
	tree->passed_epoch = part->passed_epoch;
	memcpy(tree->passed, part->passed, sizeof tree->passed);
}

void run_tree_join(
	struct run_tree *tree, struct run_tree *part, const struct run_variable *variables)
{
	for (uint32_t i = part->nodes_given; i < part->node_count; i++)
		join_node(tree, part, i);
	tree->diverged_runs += part->diverged_runs;
	tree->varied_runs += part->varied_runs;
	if (part->depth_most > tree->depth_most)
		tree->depth_most = part->depth_most;
	if (part->next_loop < tree->next_loop)
		tree->next_loop = part->next_loop;
	tree->alternatives = part->alternatives;
	join_place(tree, part);
	run_tree_leave(tree, part->part, variables);
}

void run_tree_leave(struct run_tree *tree, uint32_t number, const struct run_variable *variables)
{
	if (!number) {
		number = tree->awaited;
		tree->limit_count = 0;
	}
	for (uint32_t i = 0; i < tree->limit_count; i++) {
		if (tree->limits[i].part != number)
			continue;
		tree->limit_count--;
		memmove(&tree->limits[i], &tree->limits[i + 1],
			(tree->limit_count - i) * sizeof tree->limits[i]);
	}
	if (!number || tree->awaited != number)
		return;
	tree->awaited = 0;
	run_tree_find(tree, variables);
}
