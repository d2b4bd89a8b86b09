/* Selection of the next run: within the bounds, and not equivalent to another. */
#include "strategies/search/run_tree.h"

#include "strategies/search/run_tree_internal.h"

static uint32_t run_tree_search_distinct(
	struct run_tree *tree, const struct run_node *node, uint16_t variable)
{
	uint16_t seen[RUN_TREE_DEVIATIONS_MOST + 1] = {variable};
	uint32_t count = 1;

	for (uint32_t left = node->depth; left--; node = &run_tree_nodes(tree)[node->parent]) {
		uint32_t at = 0;

		while (at < count && seen[at] != node->variable)
			at++;
		if (at == count && node->variable != RUN_TREE_VALUE)
			seen[count++] = node->variable;
	}
	return count;
}

/* Variables outside of the heap have loop number 1. */
static uint32_t run_tree_search_loop_number(struct run_tree *tree, const struct run_node *node,
	uint16_t variable, const struct run_variable *variables)
{
	uint32_t most = variables[variable].loop;

	for (uint32_t left = node->depth; left--; node = &run_tree_nodes(tree)[node->parent])
		if (node->variable != RUN_TREE_VALUE && variables[node->variable].loop > most)
			most = variables[node->variable].loop;
	return most ? most : 1;
}

static bool run_tree_search_is_wanted(
	struct run_tree *tree, const struct run_node *node, uint16_t variable, uint32_t alternative)
{
	const uint32_t count = run_tree_search_distinct(tree, node, variable);
	const bool is_placed = node->is_placed || alternative;
	const uint8_t *done = is_placed ? tree->done_placed : tree->done_variables;

	return count <= tree->bounds.variables && count > done[node->order] &&
	       (tree->bounds.has_positions || !is_placed);
}

static struct run_same *run_tree_search_same_slot(
	struct run_tree *tree, uint32_t variable, uint32_t ordinal)
{
	const uint64_t key = (uint64_t)tree->alternative << 32 | ordinal;
	uint32_t at = (uint32_t)hash_pair(variable, key) % RUN_TREE_SAME_SLOTS;

	for (uint32_t i = 0;
		i < RUN_TREE_SAME_SLOTS && tree->same[at].epoch == tree->same_epoch &&
		(tree->same[at].variable != variable || tree->same[at].ordinal != ordinal ||
			tree->same[at].alternative != tree->alternative);
		i++)
		at = (at + 1) % RUN_TREE_SAME_SLOTS;
	return &tree->same[at];
}

static bool run_tree_search_is_same(struct run_tree *tree, uint32_t variable, uint32_t ordinal)
{
	return run_tree_search_same_slot(tree, variable, ordinal)->epoch == tree->same_epoch;
}

void run_tree_note_same(struct run_tree *tree, uint32_t variable, uint32_t ordinal)
{
	struct run_same *slot = run_tree_search_same_slot(tree, variable, ordinal);

	if (run_tree_is_at_roots(tree) || tree->phase != RUN_TREE_CHANGES ||
		!run_tree_is_past(tree) || tree->same_count >= RUN_TREE_SAME_SLOTS / 2)
		return;
	tree->same_count += slot->epoch != tree->same_epoch;
	*slot = (struct run_same){
		tree->same_epoch, ordinal, (uint16_t)variable, (uint16_t)tree->alternative};
}

struct search {
	struct run_tree *tree;
	const struct run_variable *variables;
};

struct run_node *run_tree_new_node(struct run_tree *tree, const struct run_path *last)
{
	struct run_node *node = &run_tree_nodes(tree)[tree->node_count];
	const struct run_node *parent = &run_tree_nodes(tree)[tree->node];

	if (tree->node_count == tree->node_capacity) {
		tree->is_lost = true;
		return NULL;
	}
	*node = (struct run_node){
		.parent = tree->node_count, .order = (uint16_t)run_tree_order(tree)};
	if (last) {
		node->parent = tree->node;
		node->ordinal = last->ordinal;
		node->variable = last->variable;
		node->alternative = last->alternative;
		node->changes = (uint8_t)(parent->changes + (last->variable != RUN_TREE_VALUE));
		node->depth = parent->depth + 1;
		node->is_placed = parent->is_placed ||
				  (last->variable != RUN_TREE_VALUE && last->alternative);
	}
	if (node->depth > tree->depth_most)
		tree->depth_most = node->depth;
	tree->node_count++;
	return node;
}

static void run_tree_search_next_entry(struct run_tree *tree)
{
	tree->entry++;
	tree->ordinal = tree->alternative = 0;
	tree->is_begun = false;
}

void run_tree_begin_node(struct run_tree *tree, uint32_t node)
{
	tree->node = node;
	tree->entry = tree->ordinal = tree->alternative = 0;
	tree->is_begun = false;
	tree->same_count = 0;
	tree->same_epoch++;
	run_tree_forget_passed(tree);
}

static void run_tree_search_end_scan(struct run_tree *tree)
{
	const bool has_more_loops = tree->next_loop != UINT32_MAX &&
				    (!tree->bounds.loops || tree->next_loop <= tree->bounds.loops);

	if (tree->phase == RUN_TREE_DEFERRED) {
		tree->phase = RUN_TREE_CHANGES;
		tree->loop = 1;
	} else if (tree->phase == RUN_TREE_CHANGES && has_more_loops) {
		tree->loop = tree->next_loop;
	} else if (tree->phase == RUN_TREE_CHANGES) {
		tree->phase = RUN_TREE_VALUES;
	} else {
		tree->phase = RUN_TREE_DEFERRED;
		tree->is_done = tree->depth++ == tree->depth_most;
	}
	tree->next_loop = UINT32_MAX;
	run_tree_begin_node(tree, 0);
}

/* Defers the runs of points that are equivalent to others. Returns true if another point is left. */
static bool run_tree_search_defer_equal(struct run_tree *tree, uint16_t variable)
{
	const struct run_node *parent = &run_tree_nodes(tree)[tree->node];

	for (; tree->ordinal && run_tree_search_is_same(tree, variable, tree->ordinal - 1);
		tree->ordinal--) {
		const struct run_path last = {.ordinal = tree->ordinal - 1,
			.variable = variable,
			.alternative = (uint16_t)tree->alternative};
		struct run_node *node = NULL;

		if (parent->changes + 1u <
			tree->changes_most) /* if not, its children are never needed */
			node = run_tree_new_node(tree, &last);
		if (node)
			node->is_deferred = true;
	}
	return tree->ordinal;
}

/* The next child with a change at the entry's variable and the current position. Returns false if
 * there is none. */
static bool run_tree_search_next_at_position(
	struct search *search, const struct run_node *node, const struct run_points *points)
{
	struct run_tree *tree = search->tree;
	uint32_t loop;

	if (tree->is_begun)
		return run_tree_search_defer_equal(tree, points->variable);
	if (!run_tree_search_is_wanted(tree, node, points->variable, tree->alternative))
		return false;
	loop = run_tree_search_loop_number(tree, node, points->variable, search->variables);
	if (loop > tree->loop && loop < tree->next_loop)
		tree->next_loop = loop;
	if (loop != tree->loop || !run_tree_is_own(tree, node))
		return false;
	tree->is_begun = true;
	tree->ordinal = points->count;
	return run_tree_search_defer_equal(tree, points->variable);
}

static bool run_tree_search_is_at_change(struct search *search, const struct run_node *node)
{
	struct run_tree *tree = search->tree;

	for (; tree->entry < node->points_count; run_tree_search_next_entry(tree)) {
		const struct run_points *points =
			&run_tree_points(tree)[node->points_at + tree->entry];
		const uint32_t positions = tree->bounds.has_positions ? points->positions : 1;

		if (points->variable == RUN_TREE_VALUE ||
			!search->variables[points->variable].is_shared)
			continue;
		for (; tree->alternative < positions; tree->alternative++) {
			if (run_tree_search_next_at_position(search, node, points))
				return true;
			tree->is_begun = false;
		}
	}
	run_tree_begin_node(tree, tree->node + 1);
	return false;
}

static bool run_tree_search_is_at_value(struct run_tree *tree, struct run_node *node)
{
	for (uint32_t i = 0; i < node->points_count; i++) {
		const struct run_points *points = &run_tree_points(tree)[node->points_at + i];

		if (points->variable == RUN_TREE_VALUE && tree->ordinal < points->count)
			return true;
	}
	node->has_values = true;
	run_tree_begin_node(tree, tree->node + 1);
	return false;
}

bool run_tree_is_eligible(const struct run_tree *tree, const struct run_node *node)
{
	if (node->depth != tree->depth || node->is_closed ||
		node->order < tree->bounds.order_first || node->order >= tree->bounds.order_end)
		return false;
	if (tree->phase == RUN_TREE_VALUES)
		return tree->bounds.has_values && !node->is_deferred && !node->has_values &&
		       node->depth + 1u < RUN_TREE_DEVIATIONS_MOST;
	return node->changes < tree->bounds.changes &&
	       node->is_deferred == (tree->phase == RUN_TREE_DEFERRED) &&
	       node->depth + 1u < RUN_TREE_DEVIATIONS_MOST;
}

/* Returns whether the search has reached the range of a task, or the end of its own range. */
static bool run_tree_search_is_at_limit(struct run_tree *tree)
{
	if (tree->phase != RUN_TREE_CHANGES)
		return false;
	if (tree->task && tree->node == tree->given_end - tree->given_first) {
		tree->is_done = true;
		return true;
	}
	if (!tree->limit_count || tree->node != tree->limits[tree->limit_count - 1].first)
		return false;
	tree->awaited = tree->limits[tree->limit_count - 1].task;
	return true;
}

void run_tree_find(struct run_tree *tree, const struct run_variable *variables)
{
	struct search search = {.tree = tree, .variables = variables};

	while (!tree->is_done && !run_tree_is_at_roots(tree) &&
		!run_tree_search_is_at_limit(tree)) {
		struct run_node *node = &run_tree_nodes(tree)[tree->node];

		if (tree->node == tree->node_count)
			run_tree_search_end_scan(tree);
		else if (!run_tree_is_eligible(tree, node))
			run_tree_begin_node(tree, tree->node + 1);
		else if (tree->phase == RUN_TREE_DEFERRED ||
			 (tree->phase == RUN_TREE_VALUES &&
				 run_tree_search_is_at_value(tree, node)) ||
			 (tree->phase == RUN_TREE_CHANGES &&
				 run_tree_search_is_at_change(&search, node)))
			return;
	}
}

void run_tree_leave_child(struct run_tree *tree, bool has_diverged)
{
	if (tree->phase == RUN_TREE_DEFERRED) {
		run_tree_begin_node(tree, tree->node + 1);
	} else if (tree->phase == RUN_TREE_CHANGES) {
		tree->ordinal--;
	} else if (tree->alternative + 1 < tree->alternatives && !has_diverged) {
		tree->alternative++;
	} else {
		tree->alternative = 0;
		tree->ordinal++;
	}
}

void run_tree_widen(struct run_tree *tree, const struct run_bounds *bounds,
	const struct run_variable *variables)
{
	tree->bounds = *bounds;
	tree->is_done = false;
	tree->phase = RUN_TREE_CHANGES; /* runs without deviations are never deferred */
	tree->loop = 1;
	tree->depth = 0;
	tree->next_loop = UINT32_MAX;
	tree->root = tree->roots_done;
	run_tree_begin_node(tree, 0);
	run_tree_find(tree, variables);
}

void run_tree_note_done(struct run_tree *tree)
{
	const struct run_bounds *bounds = &tree->bounds;

	for (uint32_t i = bounds->order_first; i < bounds->order_end; i++) {
		if (tree->done_variables[i] < bounds->variables)
			tree->done_variables[i] = (uint8_t)bounds->variables;
		if (bounds->has_positions && tree->done_placed[i] < bounds->variables)
			tree->done_placed[i] = (uint8_t)bounds->variables;
	}
}
