/* See run_tree.h. */
#include "strategies/run_tree.h"

/* So many variables a run has behind its last deviation, in the mean. */
#define POINTS_PER_NODE 16

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

void run_tree_begin(struct run_tree *tree, uint32_t node_capacity, uint32_t changes_most)
{
	tree->node_capacity = node_capacity;
	tree->points_capacity = node_capacity * POINTS_PER_NODE;
	tree->node_count = tree->points_used = 0;
	tree->roots_done = 0;
	tree->changes_most = changes_most;
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

	forget_met(tree);
	tree->path_at = tree->path_count = 0;
	tree->alternatives = 0;
	if (tree->is_done || is_at_roots(tree))
		return;
	tree->path_count = node->depth + (tree->phase != RUN_TREE_DEFERRED);
	if (tree->phase == RUN_TREE_VALUES)
		tree->path[node->depth] = (struct run_path){
			tree->ordinal, RUN_TREE_VALUE, (uint16_t)tree->alternative};
	else if (tree->phase == RUN_TREE_CHANGES)
		tree->path[node->depth] = (struct run_path){.ordinal = tree->ordinal - 1,
			.variable = tree_points(tree)[node->points_at + tree->entry].variable};
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

bool run_tree_is_past(const struct run_tree *tree)
{
	return tree->path_at == tree->path_count;
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

/* ---- points that are as good as others ---- */

static struct run_same *same_slot(struct run_tree *tree, uint32_t variable, uint32_t ordinal)
{
	uint32_t at = (uint32_t)hash_pair(variable, ordinal) % RUN_TREE_SAME_SLOTS;

	while (tree->same[at].epoch == tree->same_epoch &&
		(tree->same[at].variable != variable || tree->same[at].ordinal != ordinal))
		at = (at + 1) % RUN_TREE_SAME_SLOTS;
	return &tree->same[at];
}

static void forget_same(struct run_tree *tree)
{
	tree->same_count = 0;
	tree->same_epoch++;
}

static bool is_same(struct run_tree *tree, uint32_t variable, uint32_t ordinal)
{
	return same_slot(tree, variable, ordinal)->epoch == tree->same_epoch;
}

void run_tree_note_same(struct run_tree *tree, uint32_t variable, uint32_t ordinal)
{
	struct run_same *slot = same_slot(tree, variable, ordinal);

	if (is_at_roots(tree) || tree->phase != RUN_TREE_CHANGES || !run_tree_is_past(tree) ||
		tree->same_count >= RUN_TREE_SAME_SLOTS / 2)
		return;
	tree->same_count += slot->epoch != tree->same_epoch;
	*slot = (struct run_same){tree->same_epoch, ordinal, (uint16_t)variable};
}

/* ---- what comes next ---- */

struct search {
	struct run_tree *tree;
	const struct run_variable *variables;
};

/* A child of the run whose turn it is, or, with last NULL, a run without deviations. */
static struct run_node *new_node(struct run_tree *tree, const struct run_path *last)
{
	struct run_node *node = &tree_nodes(tree)[tree->node_count];
	const struct run_node *parent = &tree_nodes(tree)[tree->node];

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
	}
	tree->node_count++;
	return node;
}

static void next_entry(struct run_tree *tree)
{
	tree->entry++;
	tree->ordinal = 0;
	tree->is_begun = false;
}

static void begin_node(struct run_tree *tree, uint32_t node)
{
	tree->node = node;
	tree->entry = tree->ordinal = tree->alternative = 0;
	tree->is_begun = false;
	forget_same(tree);
}

/* All runs have been looked at in this phase. */
static void end_of_scan(struct run_tree *tree)
{
	const bool has_more_loops = tree->next_loop != UINT32_MAX &&
				    (!tree->bounds.loops || tree->next_loop <= tree->bounds.loops);

	if (tree->phase == RUN_TREE_DEFERRED) {
		tree->phase = RUN_TREE_VALUES;
	} else if (tree->phase == RUN_TREE_VALUES && tree->changes < tree->bounds.changes) {
		tree->phase = RUN_TREE_CHANGES;
		tree->loop = 1;
	} else if (tree->phase == RUN_TREE_VALUES) {
		tree->is_done = true;
	} else if (has_more_loops) {
		tree->loop = tree->next_loop;
	} else {
		tree->changes++;
		tree->phase =
			tree->changes < tree->bounds.changes ? RUN_TREE_DEFERRED : RUN_TREE_VALUES;
	}
	tree->next_loop = UINT32_MAX;
	begin_node(tree, 0);
}

/* Passes points that are as good as others: their runs are put off. True: there is one that is not. */
static bool pass_same(struct run_tree *tree, uint16_t variable)
{
	for (; tree->ordinal && is_same(tree, variable, tree->ordinal - 1); tree->ordinal--) {
		const struct run_path last = {.ordinal = tree->ordinal - 1, .variable = variable};
		struct run_node *node = NULL;

		if (tree->changes + 1 < tree->changes_most) /* else nobody will want its children */
			node = new_node(tree, &last);
		if (node)
			node->is_deferred = true;
	}
	return tree->ordinal;
}

/* Stands at a child that changes a priority? Else moves on within the run's points, or to the next. */
static bool is_at_change(struct search *search, const struct run_node *node)
{
	struct run_tree *tree = search->tree;

	for (; tree->entry < node->points_count; next_entry(tree)) {
		const struct run_points *points = &tree_points(tree)[node->points_at + tree->entry];
		uint32_t loop;

		if (tree->is_begun && pass_same(tree, points->variable))
			return true;
		if (tree->is_begun || points->variable == RUN_TREE_VALUE ||
			!search->variables[points->variable].is_shared ||
			!is_wanted(tree, node, points->variable))
			continue;
		loop = loop_number(tree, node, points->variable, search->variables);
		if (loop > tree->loop && loop < tree->next_loop)
			tree->next_loop = loop;
		if (loop != tree->loop)
			continue;
		tree->is_begun = true;
		tree->ordinal = points->count;
		if (pass_same(tree, points->variable))
			return true;
	}
	begin_node(tree, tree->node + 1);
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
	begin_node(tree, tree->node + 1);
	return false;
}

static bool is_eligible(const struct run_tree *tree, const struct run_node *node)
{
	if (node->changes != tree->changes || node->is_closed ||
		node->order < tree->bounds.order_first || node->order >= tree->bounds.order_end)
		return false;
	if (tree->phase == RUN_TREE_DEFERRED)
		return node->is_deferred;
	return !node->is_deferred && node->depth + 1u < RUN_TREE_DEVIATIONS_MOST &&
	       (tree->phase == RUN_TREE_CHANGES || !node->has_values);
}

/* Moves on to a run that there is. */
static void find_run(struct search *search)
{
	struct run_tree *tree = search->tree;

	while (!tree->is_done && !is_at_roots(tree)) {
		struct run_node *node = &tree_nodes(tree)[tree->node];

		if (tree->node == tree->node_count)
			end_of_scan(tree);
		else if (!is_eligible(tree, node))
			begin_node(tree, tree->node + 1);
		else if (tree->phase == RUN_TREE_DEFERRED ||
			 (tree->phase == RUN_TREE_VALUES && is_at_value(tree, node)) ||
			 (tree->phase == RUN_TREE_CHANGES && is_at_change(search, node)))
			return;
	}
}

void run_tree_widen(struct run_tree *tree, const struct run_bounds *bounds,
	const struct run_variable *variables)
{
	struct search search = {.tree = tree, .variables = variables};

	tree->bounds = *bounds;
	tree->is_done = false;
	tree->phase = RUN_TREE_VALUES;
	tree->changes = 0;
	tree->next_loop = UINT32_MAX;
	tree->root = tree->roots_done;
	begin_node(tree, 0);
	find_run(&search);
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

/* Variables that more threads use come first; of those, the ones with fewer points. */
static bool is_sooner(const struct run_points *a, const struct run_points *b,
	const struct run_variable *variables)
{
	int users_a = 0, users_b = 0;

	if (a->variable != RUN_TREE_VALUE)
		users_a = __builtin_popcountll(variables[a->variable].users);
	if (b->variable != RUN_TREE_VALUE)
		users_b = __builtin_popcountll(variables[b->variable].users);
	return users_a != users_b ? users_a > users_b : a->count < b->count;
}

static void sort_points(
	struct run_points *points, uint32_t count, const struct run_variable *variables)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct run_points moved = points[i];
		uint32_t at = i;

		for (; at && is_sooner(&moved, &points[at - 1], variables); at--)
			points[at] = points[at - 1];
		points[at] = moved;
	}
}

static void note_points(
	struct run_tree *tree, struct run_node *node, const struct run_variable *variables)
{
	struct run_points *points = tree_points(tree) + tree->points_used;
	const uint32_t count =
		(node->changes < tree->changes_most ? tree->met_count : 0) + (tree->values != 0);
	uint32_t used = 0;

	if (count > tree->points_capacity - tree->points_used) {
		tree->is_lost = true;
		return;
	}
	if (tree->values)
		points[used++] = (struct run_points){tree->values, RUN_TREE_VALUE};
	for (uint32_t i = 0; used < count; i++)
		points[used++] = (struct run_points){tree->counts[tree->met[i]], tree->met[i]};
	sort_points(points, count, variables);
	node->points_at = tree->points_used;
	node->points_count = (uint16_t)count;
	tree->points_used += count;
}

/* The run has been made. */
static void note_run(struct run_tree *tree, struct run_node *node, bool is_extended,
	const struct run_variable *variables)
{
	node->is_deferred = false;
	node->is_closed = !is_extended;
	if (is_extended)
		note_points(tree, node, variables);
}

/* Behind the child that has been run. */
static void leave_child(struct run_tree *tree, bool has_diverged)
{
	if (tree->phase == RUN_TREE_DEFERRED) {
		begin_node(tree, tree->node + 1);
	} else if (tree->phase == RUN_TREE_CHANGES) {
		tree->ordinal--;
	} else if (tree->alternative + 1 < tree->alternatives && !has_diverged) {
		tree->alternative++;
	} else {
		tree->alternative = 0;
		tree->ordinal++;
	}
}

/* The run at hand has no children: it need not be kept. */
static bool is_leaf(const struct run_tree *tree)
{
	return !is_at_roots(tree) && !tree->values && run_tree_changes(tree) >= tree->changes_most;
}

void run_tree_end_run(struct run_tree *tree, bool is_extended, const struct run_variable *variables)
{
	struct search search = {.tree = tree, .variables = variables};
	const bool has_diverged = tree->path_at != tree->path_count;
	const bool is_deferred = !is_at_roots(tree) && tree->phase == RUN_TREE_DEFERRED;
	struct run_node *node;

	if (tree->is_done || tree->is_lost)
		return;
	tree->diverged_runs += has_diverged;
	if ((!has_diverged && !is_leaf(tree)) || is_deferred) {
		node = is_deferred
			       ? &tree_nodes(tree)[tree->node]
			       : new_node(tree, tree->path_count ? &tree->path[tree->path_count - 1]
								 : NULL);
		if (node)
			note_run(tree, node, is_extended && !has_diverged, variables);
	}
	if (is_at_roots(tree))
		tree->roots_done = ++tree->root;
	else
		leave_child(tree, has_diverged);
	find_run(&search);
}
