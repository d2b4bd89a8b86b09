#include "strategies/search/run_tree.h"

#include "strategies/search/run_tree_internal.h"
#include "strategies/strategy.h"

/* Expected mean number of variables behind the last deviation of a run. */
#define POINTS_PER_NODE 16

size_t run_tree_bytes(uint32_t node_capacity)
{
	return sizeof(struct run_tree) +
	       node_capacity *
		       (sizeof(struct run_node) + POINTS_PER_NODE * sizeof(struct run_points));
}

void run_tree_begin(struct run_tree *tree, uint32_t node_capacity, uint32_t changes_most)
{
	tree->node_capacity = node_capacity;
	tree->points_capacity = node_capacity * POINTS_PER_NODE;
	tree->node_count = tree->points_used = 0;
	tree->roots_done = tree->depth_most = 0;
	tree->changes_most = changes_most;
	tree->is_done = true; /* bounds are not set yet */
	tree->diverged_runs = tree->varied_runs = 0;
	for (uint32_t i = 0; i < RUN_TREE_ORDERS_MOST; i++)
		tree->done_variables[i] = tree->done_placed[i] = 0;
}

static bool run_tree_is_variable(uint16_t variable)
{
	return variable < KEY_TABLE_CAPACITY || variable == RUN_TREE_VALUE;
}

static bool run_tree_has_nodes(struct run_tree *tree)
{
	for (uint32_t i = 0; i < tree->node_count; i++) {
		const struct run_node *node = &run_tree_nodes(tree)[i];

		if (node->parent >= tree->node_count || node->depth >= RUN_TREE_DEVIATIONS_MOST ||
			node->order >= RUN_TREE_ORDERS_MOST ||
			!run_tree_is_variable(node->variable) ||
			(node->points_count &&
				(node->points_at > tree->points_used ||
					node->points_count > tree->points_used - node->points_at)))
			return false;
	}
	for (uint32_t i = 0; i < tree->points_used; i++)
		if (!run_tree_is_variable(run_tree_points(tree)[i].variable))
			return false;
	return true;
}

/* Checks the position in a state from a file or another process: the parent of the next run, and the
 * point at which that run deviates. */
static bool run_tree_has_position(struct run_tree *tree)
{
	const struct run_node *node = &run_tree_nodes(tree)[tree->node];

	if (tree->is_done || tree->is_lost || tree->awaited || run_tree_is_at_roots(tree))
		return tree->node <= tree->node_count;
	return tree->node < tree->node_count &&
	       (tree->phase != RUN_TREE_CHANGES ||
		       (tree->entry < node->points_count && tree->ordinal));
}

bool run_tree_is_valid(struct run_tree *tree, uint32_t node_capacity)
{
	if (tree->node_capacity != node_capacity ||
		tree->points_capacity != node_capacity * POINTS_PER_NODE ||
		tree->node_count > node_capacity || tree->points_used > tree->points_capacity ||
		(uint32_t)tree->phase > RUN_TREE_VALUES ||
		tree->bounds.order_end > RUN_TREE_ORDERS_MOST ||
		tree->limit_count > RUN_TREE_TASKS_MOST || tree->seen_count > KEY_TABLE_CAPACITY ||
		tree->nodes_given > tree->node_count || !strategy_is_flag(&tree->is_lost) ||
		!strategy_is_flag(&tree->is_done) || !strategy_is_flag(&tree->is_begun) ||
		!strategy_is_flag(&tree->bounds.has_positions) ||
		!strategy_is_flag(&tree->bounds.has_values))
		return false;
	for (uint32_t i = 0; i < tree->limit_count; i++)
		if (tree->limits[i].first > tree->node_count ||
			tree->limits[i].end > tree->node_count)
			return false;
	return run_tree_has_nodes(tree) && run_tree_has_position(tree);
}

uint32_t run_tree_order(struct run_tree *tree)
{
	return run_tree_is_at_roots(tree) ? tree->root : run_tree_nodes(tree)[tree->node].order;
}

static void run_tree_clear_seen(struct run_tree *tree)
{
	tree->epoch++;
	tree->seen_count = 0;
	tree->values = 0;
}

void run_tree_begin_run(struct run_tree *tree, bool is_partial)
{
	const struct run_node *node = &run_tree_nodes(tree)[tree->node];

	run_tree_clear_seen(tree);
	tree->path_at = tree->path_count = 0;
	tree->alternatives = 0;
	tree->is_repeated = false;
	tree->print = tree->whole = 0;
	tree->is_partial = is_partial;
	tree->has_varied = false;
	if (tree->is_done || run_tree_is_at_roots(tree))
		return;
	tree->path_count = node->depth + (tree->phase != RUN_TREE_DEFERRED);
	if (tree->phase == RUN_TREE_VALUES)
		tree->path[node->depth] = (struct run_path){
			tree->ordinal, RUN_TREE_VALUE, (uint16_t)tree->alternative};
	else if (tree->phase == RUN_TREE_CHANGES)
		tree->path[node->depth] = (struct run_path){.ordinal = tree->ordinal - 1,
			.variable = run_tree_points(tree)[node->points_at + tree->entry].variable,
			.alternative = (uint16_t)tree->alternative};
	for (uint32_t i = node->depth; i--; node = &run_tree_nodes(tree)[node->parent])
		tree->path[i] = (struct run_path){node->ordinal, node->variable, node->alternative};
}

static bool run_tree_deviates_here(struct run_tree *tree, uint32_t variable, uint32_t ordinal)
{
	return tree->path_at < tree->path_count && tree->path[tree->path_at].variable == variable &&
	       tree->path[tree->path_at].ordinal == ordinal;
}

static struct run_passed *run_tree_passed_slot(
	struct run_tree *tree, uint32_t variable, uint32_t ordinal)
{
	uint32_t at = (uint32_t)hash_pair(variable, ordinal) % RUN_TREE_SAME_SLOTS;
	struct run_passed *slot = &tree->passed[at];

	for (uint32_t i = 0; i < RUN_TREE_SAME_SLOTS && slot->epoch == tree->passed_epoch &&
			     (slot->variable != variable || slot->ordinal != ordinal);
		i++) {
		at = (at + 1) % RUN_TREE_SAME_SLOTS;
		slot = &tree->passed[at];
	}
	return slot->epoch == tree->passed_epoch || tree->passed_count < RUN_TREE_SAME_SLOTS / 2
		       ? slot
		       : NULL;
}

static void run_tree_note_passed(struct run_tree *tree, struct run_passed *slot, uint32_t variable)
{
	if (slot->epoch != tree->passed_epoch) {
		tree->passed_count++;
		*slot = (struct run_passed){.epoch = tree->passed_epoch,
			.ordinal = tree->counts[variable],
			.print = tree->prints[variable],
			.variable = (uint16_t)variable,
			.is_partial = true};
	}
	if (slot->is_partial && !tree->is_partial) {
		slot->whole = tree->wholes[variable];
		slot->is_partial = false;
	}
}

/* Compares prints at or before a child's own deviation: they must be those of the parent and the
 * siblings. */
static void run_tree_compare_prints(struct run_tree *tree, uint32_t variable)
{
	const struct run_node *node = &run_tree_nodes(tree)[tree->node];
	const struct run_points *points = run_tree_points(tree) + node->points_at + tree->entry;
	const uint32_t ordinal = tree->counts[variable];
	const uint32_t print = tree->prints[variable], whole = tree->wholes[variable];
	struct run_passed *slot;

	if (tree->is_done || run_tree_is_at_roots(tree) || tree->phase == RUN_TREE_DEFERRED)
		return;
	if (tree->phase == RUN_TREE_CHANGES && points->variable == variable &&
		points->count == ordinal + 1)
		tree->has_varied |=
			points->print != print || (!tree->is_partial && points->whole != whole);
	slot = run_tree_passed_slot(tree, variable, ordinal);
	if (!slot)
		return;
	run_tree_note_passed(tree, slot, variable);
	tree->has_varied |= slot->print != print || (!tree->is_partial && slot->whole != whole);
}

static void run_tree_note_access(struct run_tree *tree, uint32_t variable, uint64_t what)
{
	const uint64_t before = hash_pair(tree->print, tree->prints[variable]);

	tree->prints[variable] = (uint32_t)hash_pair(before, what);
	tree->whole = hash_pair(tree->whole, what);
	tree->wholes[variable] = (uint32_t)tree->whole;
}

bool run_tree_at(struct run_tree *tree, uint32_t variable, uint32_t positions, uint64_t what)
{
	if (tree->seen_epoch[variable] != tree->epoch) {
		tree->seen_epoch[variable] = tree->epoch;
		tree->counts[variable] = tree->positions[variable] = tree->prints[variable] = 0;
		tree->seen[tree->seen_count++] = (uint16_t)variable;
	}
	if (positions > tree->positions[variable])
		tree->positions[variable] = (uint16_t)positions;
	run_tree_note_access(tree, variable, what);
	if (tree->path_at + 1 == tree->path_count)
		run_tree_compare_prints(tree, variable);
	if (!run_tree_deviates_here(tree, variable, tree->counts[variable]++))
		return false;
	tree->is_repeated |= tree->path[tree->path_at].alternative >= positions;
	run_tree_note(tree, tree->prints[variable]);
	tree->path_at++;
	run_tree_clear_seen(tree);
	return true;
}

uint32_t run_tree_position(const struct run_tree *tree)
{
	return tree->path[tree->path_at - 1].alternative;
}

uint32_t run_tree_value(struct run_tree *tree, uint32_t count)
{
	uint32_t value;

	if (!run_tree_deviates_here(tree, RUN_TREE_VALUE, tree->values++))
		return 0;
	value = tree->path[tree->path_at++].alternative + 1u;
	run_tree_clear_seen(tree);
	tree->alternatives = count - 1;
	if (value < count)
		return value;
	tree->path_at = UINT32_MAX; /* the program did not repeat its earlier behaviour */
	return 0;
}

uint32_t run_tree_set(const struct run_tree *tree, uint16_t *set)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < tree->path_count; i++) {
		const uint16_t variable = tree->path[i].variable;
		uint32_t at = 0;

		while (at < count && set[at] < variable)
			at++;
		if (variable == RUN_TREE_VALUE || (at < count && set[at] == variable))
			continue;
		for (uint32_t j = count++; j > at; j--)
			set[j] = set[j - 1];
		set[at] = variable;
	}
	return count;
}

uint32_t run_tree_last_set(struct run_tree *tree, uint16_t *set)
{
	if (tree->is_done || run_tree_is_at_roots(tree) || tree->phase != RUN_TREE_CHANGES ||
		run_tree_nodes(tree)[tree->node].changes + 1u < tree->changes_most)
		return 0;
	run_tree_begin_run(tree, false); /* called again at the beginning of the run */
	return run_tree_set(tree, set);
}

uint32_t run_tree_changes(const struct run_tree *tree)
{
	uint32_t changes = 0;

	for (uint32_t i = 0; i < tree->path_count; i++)
		changes += tree->path[i].variable != RUN_TREE_VALUE;
	return changes;
}

bool run_tree_is_past(const struct run_tree *tree)
{
	return tree->path_at == tree->path_count;
}

/* Orders variables: those with more users first; among equals those with fewer points. */
static bool run_tree_is_sooner(const struct run_points *a, const struct run_points *b,
	const struct run_variable *variables)
{
	int users_a = 0, users_b = 0;

	if (a->variable != RUN_TREE_VALUE)
		users_a = __builtin_popcountll(variables[a->variable].users);
	if (b->variable != RUN_TREE_VALUE)
		users_b = __builtin_popcountll(variables[b->variable].users);
	return users_a != users_b ? users_a > users_b : a->count < b->count;
}

static void run_tree_sort_points(
	struct run_points *points, uint32_t count, const struct run_variable *variables)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct run_points moved = points[i];
		uint32_t at = i;

		for (; at && run_tree_is_sooner(&moved, &points[at - 1], variables); at--)
			points[at] = points[at - 1];
		points[at] = moved;
	}
}

static void run_tree_note_points(
	struct run_tree *tree, struct run_node *node, const struct run_variable *variables)
{
	struct run_points *points = run_tree_points(tree) + tree->points_used;
	const uint32_t count =
		(node->changes < tree->changes_most ? tree->seen_count : 0) + (tree->values != 0);
	uint32_t used = 0;

	if (count > tree->points_capacity - tree->points_used) {
		tree->is_lost = true;
		return;
	}
	if (tree->values)
		points[used++] = (struct run_points){tree->values, RUN_TREE_VALUE, 0, 0, 0};
	for (uint32_t i = 0; used < count; i++) {
		const uint16_t variable = tree->seen[i];

		points[used++] = (struct run_points){tree->counts[variable], variable,
			tree->positions[variable], tree->prints[variable], tree->wholes[variable]};
	}
	run_tree_sort_points(points, count, variables);
	node->points_at = tree->points_used;
	node->points_count = (uint16_t)count;
	tree->points_used += count;
}

static void run_tree_note_run(struct run_tree *tree, struct run_node *node, bool is_extended,
	const struct run_variable *variables)
{
	node->is_deferred = false;
	node->is_closed = !is_extended;
	if (is_extended)
		run_tree_note_points(tree, node, variables);
}

static bool run_tree_is_leaf(const struct run_tree *tree)
{
	return !run_tree_is_at_roots(tree) && !tree->values &&
	       run_tree_changes(tree) >= tree->changes_most;
}

void run_tree_drop_run(struct run_tree *tree)
{
	run_tree_forget_passed(tree);
}

void run_tree_end_run(struct run_tree *tree, bool is_extended, const struct run_variable *variables)
{
	const bool has_diverged = tree->path_at != tree->path_count;
	const bool is_deferred = !run_tree_is_at_roots(tree) && tree->phase == RUN_TREE_DEFERRED;
	struct run_node *node;

	if (tree->is_done || tree->is_lost)
		return;
	tree->diverged_runs += has_diverged;
	tree->varied_runs += tree->has_varied;
	if ((!has_diverged && !run_tree_is_leaf(tree)) || is_deferred) {
		node = is_deferred ? &run_tree_nodes(tree)[tree->node]
				   : run_tree_new_node(tree,
					     tree->path_count ? &tree->path[tree->path_count - 1]
							      : NULL);
		if (node)
			run_tree_note_run(tree, node,
				is_extended && !has_diverged && !tree->is_repeated, variables);
	}
	if (run_tree_is_at_roots(tree))
		tree->roots_done = ++tree->root;
	else
		run_tree_leave_child(tree, has_diverged);
	run_tree_find(tree, variables);
}
