/* See run_tree.h. */
#include "strategies/run_tree.h"

/* A run has few variables behind its last deviation, and most runs are leaves, which have none. */
#define POINTS_PER_NODE 2

static struct run_node *tree_nodes(struct run_tree *tree)
{
	return (struct run_node *)(tree + 1);
}

static struct run_points *tree_points(struct run_tree *tree)
{
	return (struct run_points *)(tree_nodes(tree) + tree->node_capacity);
}

size_t run_tree_bytes(uint32_t node_capacity)
{
	return sizeof(struct run_tree) +
	       node_capacity *
		       (sizeof(struct run_node) + POINTS_PER_NODE * sizeof(struct run_points));
}

void run_tree_begin(struct run_tree *tree, uint32_t node_capacity)
{
	tree->node_capacity = node_capacity;
	tree->points_capacity = node_capacity * POINTS_PER_NODE;
	tree->node_count = tree->points_used = 0;
	tree->roots_done = 0;
	tree->is_done = true; /* there are no bounds */
	for (uint32_t i = 0; i < RUN_TREE_ORDERS_MOST; i++)
		tree->done_variables[i] = 0;
}

/* ---- the run at hand ---- */

static bool is_at_roots(const struct run_tree *tree)
{
	return tree->root < tree->bounds.order_end;
}

uint32_t run_tree_order(struct run_tree *tree)
{
	return is_at_roots(tree) ? tree->root : tree_nodes(tree)[tree->node].order;
}

static void forget_met(struct run_tree *tree)
{
	tree->epoch++;
	tree->met_count = 0;
	tree->values = 0;
}

void run_tree_begin_run(struct run_tree *tree)
{
	const struct run_node *node = &tree_nodes(tree)[tree->node];
	uint32_t variable;

	forget_met(tree);
	tree->path_at = tree->path_count = 0;
	tree->alternatives = 0;
	if (tree->is_done || is_at_roots(tree))
		return;
	variable = tree->is_costly ? tree_points(tree)[node->points_at + tree->entry].variable
				   : RUN_TREE_VALUE;
	tree->path_count = node->depth + 1u;
	tree->path[node->depth] = (struct run_path){.ordinal = tree->ordinal,
		.variable = (uint16_t)variable,
		.alternative = (uint16_t)tree->alternative};
	for (uint32_t i = node->depth; i--; node = &tree_nodes(tree)[node->parent])
		tree->path[i] = (struct run_path){node->ordinal, node->variable, node->alternative};
}

static bool deviates(struct run_tree *tree, uint32_t variable, uint32_t ordinal)
{
	const struct run_path *next = &tree->path[tree->path_at];

	return tree->path_at < tree->path_count && next->variable == variable &&
	       next->ordinal == ordinal;
}

bool run_tree_at(struct run_tree *tree, uint32_t variable)
{
	if (tree->met_epoch[variable] != tree->epoch) {
		tree->met_epoch[variable] = tree->epoch;
		tree->counts[variable] = 0;
		tree->met[tree->met_count++] = (uint16_t)variable;
	}
	if (!deviates(tree, variable, tree->counts[variable]++))
		return false;
	tree->path_at++;
	forget_met(tree);
	return true;
}

uint32_t run_tree_value(struct run_tree *tree, uint32_t count)
{
	uint32_t value;

	if (!deviates(tree, RUN_TREE_VALUE, tree->values++))
		return 0;
	value = tree->path[tree->path_at++].alternative + 1u;
	forget_met(tree);
	tree->alternatives = count - 1;
	if (value < count)
		return value;
	tree->path_at = UINT32_MAX; /* the program does not do what it did */
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

uint32_t run_tree_changes(const struct run_tree *tree)
{
	uint32_t changes = 0;

	for (uint32_t i = 0; i < tree->path_count; i++)
		changes += tree->path[i].variable != RUN_TREE_VALUE;
	return changes;
}

/* ---- which child is of interest ---- */

/* The variables of a run's changes and of one more. */
static uint32_t distinct(struct run_tree *tree, const struct run_node *node, uint16_t variable)
{
	uint16_t seen[RUN_TREE_DEVIATIONS_MOST + 1] = {variable};
	uint32_t count = 1;

	for (uint32_t left = node->depth; left--; node = &tree_nodes(tree)[node->parent]) {
		uint32_t at = 0;

		while (at < count && seen[at] != node->variable)
			at++;
		if (at == count && node->variable != RUN_TREE_VALUE)
			seen[count++] = node->variable;
	}
	return count;
}

/* The largest loop number of a run's changes and of one more; those outside of the heap have 1. */
static uint32_t loop_number(struct run_tree *tree, const struct run_node *node, uint16_t variable,
	const struct run_variable *variables)
{
	uint32_t most = variables[variable].loop;

	for (uint32_t left = node->depth; left--; node = &tree_nodes(tree)[node->parent])
		if (node->variable != RUN_TREE_VALUE && variables[node->variable].loop > most)
			most = variables[node->variable].loop;
	return most ? most : 1;
}

/* Do the bounds hold it, and none that are done? */
static bool is_wanted(struct run_tree *tree, const struct run_node *node, uint16_t variable)
{
	const uint32_t count = distinct(tree, node, variable);

	return count <= tree->bounds.variables && count > tree->done_variables[node->order];
}

/* ---- what comes next ---- */

struct search {
	struct run_tree *tree;
	const struct run_variable *variables;
};

static void begin_scan(struct run_tree *tree)
{
	tree->node = tree->entry = tree->ordinal = tree->alternative = 0;
}

/* All runs have had their children of this kind. */
static void end_of_scan(struct run_tree *tree)
{
	if (tree->is_costly && tree->next_loop != UINT32_MAX &&
		(!tree->bounds.loops || tree->next_loop <= tree->bounds.loops)) {
		tree->loop = tree->next_loop;
	} else if (tree->is_costly) {
		tree->is_costly = false;
		tree->changes++;
	} else if (tree->changes < tree->bounds.changes) {
		tree->is_costly = true;
		tree->loop = 1;
	} else {
		tree->is_done = true;
	}
	tree->next_loop = UINT32_MAX;
	begin_scan(tree);
}

static void next_node(struct run_tree *tree)
{
	tree->node++;
	tree->entry = tree->ordinal = tree->alternative = 0;
}

/* Stands at a child that changes a priority? Else moves on within the run's points, or to the next. */
static bool is_at_change(struct search *search, const struct run_node *node)
{
	struct run_tree *tree = search->tree;

	for (; tree->entry < node->points_count; tree->entry++, tree->ordinal = 0) {
		const struct run_points *points = &tree_points(tree)[node->points_at + tree->entry];
		uint32_t loop;

		if (tree->ordinal && tree->ordinal < points->count)
			return true;
		if (tree->ordinal || points->variable == RUN_TREE_VALUE ||
			!search->variables[points->variable].is_shared)
			continue;
		loop = loop_number(tree, node, points->variable, search->variables);
		if (loop > tree->loop && loop < tree->next_loop &&
			is_wanted(tree, node, points->variable))
			tree->next_loop = loop;
		if (loop == tree->loop && is_wanted(tree, node, points->variable))
			return true;
	}
	next_node(tree);
	return false;
}

/* Likewise a child that chooses another value. */
static bool is_at_value(struct run_tree *tree, struct run_node *node)
{
	for (uint32_t i = 0; i < node->points_count; i++) {
		const struct run_points *points = &tree_points(tree)[node->points_at + i];

		if (points->variable == RUN_TREE_VALUE && tree->ordinal < points->count)
			return true;
	}
	node->has_values = true;
	next_node(tree);
	return false;
}

/* Moves on to a child that there is. */
static void find_child(struct search *search)
{
	struct run_tree *tree = search->tree;

	while (!tree->is_done && !is_at_roots(tree)) {
		struct run_node *node = &tree_nodes(tree)[tree->node];

		if (tree->node == tree->node_count) {
			end_of_scan(tree);
		} else if (node->changes != tree->changes || node->is_closed ||
			   node->depth + 1u >= RUN_TREE_DEVIATIONS_MOST ||
			   node->order < tree->bounds.order_first ||
			   node->order >= tree->bounds.order_end ||
			   (!tree->is_costly && node->has_values)) {
			next_node(tree);
		} else if (tree->is_costly ? is_at_change(search, node) : is_at_value(tree, node)) {
			return;
		}
	}
}

void run_tree_widen(struct run_tree *tree, const struct run_bounds *bounds,
	const struct run_variable *variables)
{
	struct search search = {.tree = tree, .variables = variables};

	tree->bounds = *bounds;
	tree->is_done = false;
	tree->is_costly = false;
	tree->changes = 0;
	tree->next_loop = UINT32_MAX;
	tree->root = tree->roots_done;
	begin_scan(tree);
	find_child(&search);
}

void run_tree_note_done(struct run_tree *tree)
{
	const struct run_bounds *bounds = &tree->bounds;
	uint8_t *done = tree->done_variables;

	for (uint32_t i = bounds->order_first; i < bounds->order_end; i++)
		if (done[i] < bounds->variables)
			done[i] = (uint8_t)bounds->variables;
}

/* ---- after a run ---- */

/* Those with the fewest points first: what is rarely used is tried soon. */
static void sort_points(struct run_points *points, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct run_points moved = points[i];
		uint32_t at = i;

		for (; at && points[at - 1].count > moved.count; at--)
			points[at] = points[at - 1];
		points[at] = moved;
	}
}

static void note_points(struct run_tree *tree, struct run_node *node)
{
	struct run_points *points = tree_points(tree) + tree->points_used;
	const uint32_t count =
		(node->changes < tree->bounds.changes ? tree->met_count : 0) + (tree->values != 0);
	uint32_t used = 0;

	if (count > tree->points_capacity - tree->points_used) {
		tree->is_lost = true;
		return;
	}
	if (tree->values)
		points[used++] = (struct run_points){tree->values, RUN_TREE_VALUE};
	for (uint32_t i = 0; used < count; i++)
		points[used++] = (struct run_points){tree->counts[tree->met[i]], tree->met[i]};
	sort_points(points, count);
	node->points_at = tree->points_used;
	node->points_count = (uint16_t)count;
	tree->points_used += count;
}

static void add_node(struct run_tree *tree, bool is_extended)
{
	struct run_node *node = &tree_nodes(tree)[tree->node_count];

	if (tree->node_count == tree->node_capacity) {
		tree->is_lost = true;
		return;
	}
	*node = (struct run_node){.parent = is_at_roots(tree) ? tree->node_count : tree->node,
		.order = (uint16_t)run_tree_order(tree),
		.changes = (uint8_t)run_tree_changes(tree),
		.depth = (uint8_t)tree->path_count,
		.is_closed = !is_extended};
	if (tree->path_count) {
		const struct run_path *last = &tree->path[tree->path_count - 1];

		node->ordinal = last->ordinal;
		node->variable = last->variable;
		node->alternative = last->alternative;
	}
	tree->node_count++;
	if (is_extended)
		note_points(tree, node);
}

void run_tree_end_run(struct run_tree *tree, bool is_extended, const struct run_variable *variables)
{
	struct search search = {.tree = tree, .variables = variables};
	const bool has_diverged = tree->path_at != tree->path_count;

	if (tree->is_done || tree->is_lost)
		return;
	tree->diverged_runs += has_diverged;
	if (!has_diverged)
		add_node(tree, is_extended);
	if (is_at_roots(tree)) {
		tree->roots_done = ++tree->root;
	} else if (tree->alternative + 1 < tree->alternatives && !has_diverged) {
		tree->alternative++;
	} else {
		tree->alternative = 0;
		tree->ordinal++;
	}
	find_child(&search);
}
