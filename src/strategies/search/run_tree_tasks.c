/*
 * Tasks of a tree: a range of the runs whose children, with one more change each, are made one
 * after the other. The join determines the equivalence with earlier runs (run_tree_close()). The
 * owner's range is first, followed by those of the tasks and the free range.
 */
#include "strategies/search/run_tree.h"
#include "strategies/search/run_tree_internal.h"

#include <string.h>

/* Children count as points times positions. */
#define CHILDREN_LEAST 32
#define CHILDREN_MOST 16384
#define SHARE 4

struct stretch {
	const struct run_variable *variables;
	uint32_t first, end;
};

static uint64_t run_tree_tasks_count_children(
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
				 (tree->bounds.has_positions ? points[i].positions : 1);
	return count;
}

/* Extends the stretch to `wanted` children, or to the last run; returns their number. */
static uint64_t run_tree_tasks_extend(
	struct run_tree *tree, struct stretch *stretch, uint64_t wanted)
{
	uint64_t count = 0;

	for (stretch->end = stretch->first; stretch->end < tree->node_count && count < wanted;
		stretch->end++)
		count += run_tree_tasks_count_children(tree, stretch->end, stretch->variables);
	return count;
}

static void run_tree_tasks_give_points(
	struct run_tree *tree, struct run_tree *task, uint32_t number)
{
	struct run_node *node = &run_tree_nodes(task)[number];
	const struct run_points *points = run_tree_points(tree) + node->points_at;

	if (!run_tree_is_eligible(tree, node)) {
		node->points_at = node->points_count = 0;
		return;
	}
	memcpy(run_tree_points(task) + task->points_used, points,
		node->points_count * sizeof *points);
	node->points_at = task->points_used;
	task->points_used += node->points_count;
}

/* Copies nodes with their ancestors. Parents are in the order of their children: hardly any is
 * copied twice. */
static void run_tree_tasks_give_nodes(
	struct run_tree *tree, struct run_tree *task, uint32_t first, uint32_t count)
{
	const struct run_node *from = run_tree_nodes(tree);
	struct run_node *nodes = run_tree_nodes(task);
	uint32_t last = UINT32_MAX; /* the parent copied last */

	memcpy(nodes, from + first, count * sizeof *nodes);
	task->node_count = count;
	for (uint32_t i = 0; i < count; i++)
		run_tree_tasks_give_points(tree, task, i);
	for (uint32_t i = 0; i < task->node_count; i++) {
		const uint32_t parent = nodes[i].parent;

		if (!nodes[i].depth) {
			nodes[i].parent = i;
		} else if (parent >= first && parent - first < count) {
			nodes[i].parent = parent - first;
		} else if (parent == last) {
			nodes[i].parent = task->node_count - 1;
		} else if (task->node_count < task->node_capacity) {
			nodes[i].parent = task->node_count;
			nodes[task->node_count] = from[last = parent];
			nodes[task->node_count].points_count = 0;
			task->node_count++;
		} else {
			task->is_lost = true;
			return;
		}
	}
}

static void run_tree_tasks_give(struct run_tree *tree, struct run_tree *task, uint32_t number,
	const struct stretch *stretch)
{
	memcpy(task, tree, sizeof *task);
	task->task = number;
	task->limit_count = 0;
	task->given_first = stretch->first;
	task->given_end = stretch->end;
	task->diverged_runs = task->varied_runs = 0;
	task->points_used = 0;
	run_tree_tasks_give_nodes(tree, task, stretch->first, stretch->end - stretch->first);
	task->nodes_given = task->node_count;
	task->next_loop = UINT32_MAX;
	run_tree_begin_node(task, 0);
	if (!task->is_lost)
		run_tree_find(task, stretch->variables);
}

bool run_tree_split(struct run_tree *tree, struct run_tree *task, uint32_t number, uint64_t most,
	const struct run_variable *variables)
{
	const bool has_tasks = tree->limit_count != 0;
	struct stretch stretch = {.variables = variables, .first = tree->node};
	const uint32_t free = has_tasks ? tree->limits[0].end : tree->node + 1;
	uint64_t ahead = 0, size;

	if (tree->is_done || tree->is_lost || tree->awaited || run_tree_is_at_roots(tree) ||
		tree->phase != RUN_TREE_CHANGES || tree->limit_count == RUN_TREE_TASKS_MOST)
		return false;
	for (uint32_t i = tree->node; i < free && i < tree->node_count && ahead < most; i++)
		ahead += run_tree_tasks_count_children(tree, i, variables);
	if (ahead >= most)
		return false;
	if (most - ahead > (uint64_t)SHARE * CHILDREN_MOST)
		most = ahead + (uint64_t)SHARE * CHILDREN_MOST;
	stretch.first = free;
	size = run_tree_tasks_extend(tree, &stretch, most - ahead) / SHARE;
	if (size < CHILDREN_LEAST)
		return false;
	if (!has_tasks) {
		(void)run_tree_tasks_extend(tree, &stretch, size); /* the result is not needed */
		stretch.first = stretch.end;
	}
	if (!run_tree_tasks_extend(tree, &stretch, size))
		return false;
	run_tree_tasks_give(tree, task, number, &stretch);
	if (task->is_done || task->is_lost)
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

uint32_t run_tree_last_node(struct run_tree *tree, uint32_t before)
{
	/* Deferred nodes may follow the node of the run. */
	return tree->node_count > before && !run_tree_nodes(tree)[before].is_deferred ? before
										      : UINT32_MAX;
}

void run_tree_close(struct run_tree *task, uint32_t node)
{
	run_tree_nodes(task)[node].is_closed = true;
}

bool run_tree_may_join(const struct run_tree *tree, struct run_tree *task)
{
	const uint32_t first = task->given_first;

	/* The task's nodes follow the owner's, and each parent comes before its child. */
	for (uint32_t i = task->nodes_given; i < task->node_count; i++)
		if (first > tree->node_count ||
			run_tree_nodes(task)[i].parent >=
				tree->node_count - first + i - task->nodes_given)
			return false;
	return !task->is_lost && task->given_end <= tree->node_count && first < task->given_end &&
	       task->node_count - task->nodes_given <= tree->node_capacity - tree->node_count &&
	       task->points_used <= tree->points_capacity - tree->points_used;
}

static void run_tree_tasks_join_node(struct run_tree *tree, struct run_tree *task, uint32_t number)
{
	struct run_node *node = &run_tree_nodes(tree)[tree->node_count++];

	*node = run_tree_nodes(task)[number];
	node->parent += task->given_first;
	if (node->is_closed || !node->points_count) {
		node->points_at = node->points_count = 0;
		return;
	}
	memcpy(run_tree_points(tree) + tree->points_used, run_tree_points(task) + node->points_at,
		node->points_count * sizeof(struct run_points));
	node->points_at = tree->points_used;
	tree->points_used += node->points_count;
}

static void run_tree_tasks_join_position(struct run_tree *tree, const struct run_tree *task)
{
	if (task->is_done) {
		run_tree_begin_node(tree, task->given_end);
		return;
	}
	tree->node = task->given_first + task->node;
	tree->entry = task->entry;
	tree->ordinal = task->ordinal;
	tree->alternative = task->alternative;
	tree->is_begun = task->is_begun;
	tree->same_count = task->same_count;
	tree->same_epoch = task->same_epoch;
	memcpy(tree->same, task->same, sizeof tree->same);
	tree->passed_count = task->passed_count;
	tree->passed_epoch = task->passed_epoch;
	memcpy(tree->passed, task->passed, sizeof tree->passed);
}

void run_tree_join(
	struct run_tree *tree, struct run_tree *task, const struct run_variable *variables)
{
	for (uint32_t i = task->nodes_given; i < task->node_count; i++)
		run_tree_tasks_join_node(tree, task, i);
	tree->diverged_runs += task->diverged_runs;
	tree->varied_runs += task->varied_runs;
	if (task->depth_most > tree->depth_most)
		tree->depth_most = task->depth_most;
	if (task->next_loop < tree->next_loop)
		tree->next_loop = task->next_loop;
	tree->alternatives = task->alternatives;
	run_tree_tasks_join_position(tree, task);
	run_tree_leave(tree, task->task, variables);
}

void run_tree_leave(struct run_tree *tree, uint32_t number, const struct run_variable *variables)
{
	if (!number) {
		number = tree->awaited;
		tree->limit_count = 0;
	}
	for (uint32_t i = 0; i < tree->limit_count; i++) {
		if (tree->limits[i].task != number)
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
