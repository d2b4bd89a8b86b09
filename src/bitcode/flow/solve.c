/* Solution of the constraint graph in waves (flow.h). */
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "bitcode/flow/flow.h"

static void solve_replace(struct bitmap *set, struct bitmap *by)
{
	bitmap_release(set);
	*set = *by;
	*by = (struct bitmap){0};
}

static void solve_move_rules(struct flow_node *to, struct flow_node *from)
{
	for (uint32_t i = 0; i < from->rule_count; i++)
		ARRAY_APPEND(to->rules, to->rule_count, from->rules[i]);
	free(from->rules);
	from->rules = NULL;
	from->rule_count = 0;
}

static void solve_keep_common(struct bitmap *set, const struct bitmap *other)
{
	struct bitmap only = {0}, common = {0};

	bitmap_subtract(&only, set, other);
	bitmap_subtract(&common, set, &only);
	bitmap_release(&only);
	solve_replace(set, &common);
}

/* Combines two sets of points that were already shown to rules or successors. After a union of the
 * nodes, only points in both sets count as shown. */
static void solve_unite_progress(
	struct bitmap *leader, struct bitmap *other, uint32_t leader_count, uint32_t other_count)
{
	if (leader_count && other_count)
		solve_keep_common(leader, other);
	else if (other_count)
		solve_replace(leader, other);
	bitmap_release(other);
}

static void solve_unite(struct flow *flow, uint32_t first, uint32_t second)
{
	struct flow_node *leader, *other;

	first = flow_leader(flow, first);
	second = flow_leader(flow, second);
	if (first == second)
		return;
	leader = &flow->nodes[first];
	other = &flow->nodes[second];
	other->leader = first;
	solve_unite_progress(&leader->ruled, &other->ruled, leader->rule_count, other->rule_count);
	solve_unite_progress(&leader->carried, &other->carried, leader->successors.count,
		other->successors.count);
	solve_move_rules(leader, other);
	(void)bitmap_unite(&leader->points, &other->points);
	(void)bitmap_unite(&leader->successors, &other->successors);
	bitmap_release(&other->points);
	bitmap_release(&other->successors);
}

static void solve_apply_unions(struct flow *flow)
{
	for (uint32_t i = 0; i < flow->union_count; i++)
		solve_unite(flow, flow->unions[i].first, flow->unions[i].second);
	flow->union_count = 0;
	for (uint32_t i = 0; i < flow->node_count; i++) /* shorten the paths to leaders */
		flow->nodes[i].leader = flow_leader(flow, i);
}

/* Tarjan's strongly connected components (1972), without recursion, by number of node. */
struct walk {
	struct flow *flow;
	uint32_t *index, *low; /* index 0: not visited */
	uint64_t *next;	       /* next successor to visit */
	uint32_t *path;	       /* stack of the nodes under visit */
	uint32_t *open;	       /* stack of the nodes with incomplete components */
	uint32_t *order;       /* successors precede */
	bool *is_open;
	uint32_t visited, path_count, open_count, order_count;
};

static void solve_enter(struct walk *walk, uint32_t node)
{
	walk->index[node] = walk->low[node] = ++walk->visited;
	walk->path[walk->path_count++] = node;
	walk->open[walk->open_count++] = node;
	walk->is_open[node] = true;
}

/* Completes a component, whose first visited node is given. */
static void solve_close_component(struct walk *walk, uint32_t node)
{
	uint32_t member;

	do {
		member = walk->open[--walk->open_count];
		walk->is_open[member] = false;
		if (member != node)
			flow_unite(walk->flow, node, member);
	} while (member != node);
	walk->order[walk->order_count++] = node;
}

static void solve_leave(struct walk *walk, uint32_t node)
{
	walk->path_count--;
	if (walk->low[node] == walk->index[node])
		solve_close_component(walk, node);
	if (walk->path_count) {
		const uint32_t before = walk->path[walk->path_count - 1];

		if (walk->low[node] < walk->low[before])
			walk->low[before] = walk->low[node];
	}
}

static void solve_walk_from(struct walk *walk, uint32_t start)
{
	solve_enter(walk, start);
	while (walk->path_count) {
		const uint32_t node = walk->path[walk->path_count - 1];
		uint32_t successor;

		if (!bitmap_next(&walk->flow->nodes[node].successors, &walk->next[node])) {
			solve_leave(walk, node);
			continue;
		}
		successor = flow_leader(walk->flow, (uint32_t)walk->next[node]++);
		if (!walk->index[successor])
			solve_enter(walk, successor);
		else if (walk->is_open[successor] && walk->index[successor] < walk->low[node])
			walk->low[node] = walk->index[successor];
	}
}

/* Collapses cycles. Returns the leaders, each before its successors; the caller frees the array. */
static uint32_t *solve_collapse_cycles(struct flow *flow, uint32_t *count)
{
	const size_t nodes = flow->node_count;
	struct walk walk = {.flow = flow,
		.index = array_new(nodes, sizeof *walk.index),
		.low = array_new(nodes, sizeof *walk.low),
		.next = array_new(nodes, sizeof *walk.next),
		.path = array_new(nodes, sizeof *walk.path),
		.open = array_new(nodes, sizeof *walk.open),
		.order = array_new(nodes, sizeof *walk.order),
		.is_open = array_new(nodes, sizeof *walk.is_open)};

	for (uint32_t i = 0; i < nodes; i++)
		if (flow->nodes[i].leader == i && !walk.index[i])
			solve_walk_from(&walk, i);
	solve_apply_unions(flow);
	for (uint32_t i = 0; i < walk.order_count / 2; i++) {
		const uint32_t last = walk.order[walk.order_count - 1 - i];

		walk.order[walk.order_count - 1 - i] = walk.order[i];
		walk.order[i] = last;
	}
	free(walk.index);
	free(walk.low);
	free(walk.next);
	free(walk.path);
	free(walk.open);
	free(walk.is_open);
	*count = walk.order_count;
	return walk.order;
}

/* Removes the foreign locations from a node that points to `anything`, which stands for all of
 * them. */
static void solve_drop_foreign(const struct flow *flow, struct flow_node *node)
{
	struct bitmap kept = {0};

	if (!bitmap_has(&node->points, flow->anything))
		return;
	bitmap_subtract(&kept, &node->points, &flow->foreign_locations);
	solve_replace(&node->points, &kept);
}

static void solve_propagate_node(struct flow *flow, uint32_t number)
{
	struct flow_node *node = &flow->nodes[number];
	struct bitmap fresh = {0};

	solve_drop_foreign(flow, node);
	bitmap_subtract(&fresh, &node->points, &node->carried);
	if (fresh.count) {
		(void)bitmap_unite(&node->carried, &fresh);
		bitmap_each(successor, &node->successors)
		{
			const uint32_t leader = flow_leader(flow, (uint32_t)successor);

			if (leader != number)
				(void)bitmap_unite(&flow->nodes[leader].points, &fresh);
		}
	}
	bitmap_release(&fresh);
}

/* Adds edges between rule->other and the values stored in the bytes from this location on. */
static void solve_connect(
	struct flow *flow, const struct flow_rule *rule, uint32_t object, int64_t at)
{
	const int64_t end = at + (int64_t)rule->bytes;

	if (flow->objects[object].kind == FLOW_FUNCTION)
		return;
	for (at &= -FLOW_GRANULE; at < end; at += FLOW_GRANULE) {
		const uint32_t location = flow_holder(flow, object, at);

		if (rule->kind == FLOW_LOAD)
			flow_edge(flow, location, rule->other);
		else
			flow_edge(flow, rule->other, location);
	}
}

static void solve_apply(struct flow *flow, const struct flow_rule *rule, uint32_t location)
{
	const uint32_t object = flow->nodes[location].object;
	const int64_t distance = flow->nodes[location].distance;

	switch (rule->kind) {
	case FLOW_LOAD:
	case FLOW_STORE:
		solve_connect(flow, rule, object, flow_distance(&flow->objects[object], distance));
		return;
	case FLOW_SHIFT:
		if (rule->stride)
			flow_fold(flow, object, rule->stride);
		flow_point(
			flow, rule->other, flow_location(flow, object, distance + rule->distance));
		return;
	case FLOW_CALL:
		if (flow->objects[object].kind == FLOW_FUNCTION ||
			flow->objects[object].kind == FLOW_FOREIGN)
			flow->on_call(flow->context, rule, object);
		return;
	}
}

static void solve_apply_to_each(
	struct flow *flow, const struct flow_rule *rule, const struct bitmap *set)
{
	bitmap_each(location, set) solve_apply(flow, rule, (uint32_t)location);
}

/* Shifts leave locations in `whole` unchanged: these are united at once instead of one by one. */
static void solve_apply_shift(struct flow *flow, const struct flow_rule *rule,
	const struct bitmap *whole, const struct bitmap *others)
{
	struct flow_node *to = &flow->nodes[flow_leader(flow, rule->other)];

	if (bitmap_unite(&to->points, whole))
		flow->has_changed = true;
	solve_apply_to_each(flow, rule, others);
}

static void solve_apply_rules(struct flow *flow, uint32_t node)
{
	struct bitmap fresh = {0}, others = {0}, whole = {0};

	bitmap_subtract(&fresh, &flow->nodes[node].points, &flow->nodes[node].ruled);
	(void)bitmap_unite(&flow->nodes[node].ruled, &fresh);
	bitmap_subtract(&others, &fresh, &flow->whole);
	bitmap_subtract(&whole, &fresh, &others);
	/* Rules added meanwhile see all points in the next wave. */
	for (uint32_t i = 0; fresh.count && i < flow->nodes[node].rule_count; i++) {
		const struct flow_rule rule = flow->nodes[node].rules[i];

		if (rule.kind == FLOW_SHIFT)
			solve_apply_shift(flow, &rule, &whole, &others);
		else
			solve_apply_to_each(flow, &rule, &fresh);
	}
	bitmap_release(&fresh);
	bitmap_release(&others);
	bitmap_release(&whole);
}

static void solve_open_objects(struct flow *flow)
{
	struct bitmap fresh = {0};

	bitmap_subtract(
		&fresh, &flow->nodes[flow_leader(flow, flow->foreign)].points, &flow->opened);
	(void)bitmap_unite(&flow->opened, &fresh);
	bitmap_each(location, &fresh) flow_make_foreign(flow, flow->nodes[location].object);
	bitmap_release(&fresh);
}

static void solve_copy_object(
	struct flow *flow, const struct flow_copy *copy, uint32_t to, uint32_t from)
{
	const uint32_t to_object = flow->nodes[to].object;
	const uint32_t from_object = flow->nodes[from].object;
	const int64_t start = flow->nodes[from].distance;
	const int64_t shift = flow->nodes[to].distance - start;

	if (flow->objects[to_object].kind == FLOW_FUNCTION ||
		flow->objects[from_object].kind == FLOW_FUNCTION ||
		(flow->objects[to_object].is_foreign && flow->objects[from_object].is_foreign))
		return;
	flow_fold(flow, to_object, flow->objects[from_object].stride);
	for (uint32_t i = 0; i < flow->objects[from_object].location_count; i++) {
		const uint32_t location = flow->objects[from_object].locations[i];
		const int64_t distance = flow->nodes[location].distance;

		if (!flow->objects[from_object].stride &&
			(distance < (start & -FLOW_GRANULE) ||
				(distance > start && (uint64_t)(distance - start) >= copy->bytes)))
			continue;
		flow_edge(flow, location, flow_holder(flow, to_object, distance + shift));
	}
}

static uint64_t solve_locations_behind(const struct flow *flow, const struct bitmap *set)
{
	uint64_t count = 0;

	bitmap_each(location, set)
	{
		const struct flow_object *object = &flow->objects[flow->nodes[location].object];

		count += 1 + object->location_count + !!object->stride;
	}
	return count;
}

/* Limit on pairs of locations. Beyond it, a copy ignores distances. */
#define PAIRS_MOST 256

/* Copies widely: addresses stored in one set's objects may then be stored anywhere in the
 * other's. */
static void solve_copy_widely(struct flow *flow, struct flow_copy *copy, const struct bitmap *to,
	const struct bitmap *from)
{
	if (!copy->hub)
		copy->hub = flow_node(flow);
	bitmap_each(location, from)
	{
		const struct flow_object *object = &flow->objects[flow->nodes[location].object];

		for (uint32_t i = 0; i < object->location_count; i++)
			flow_edge(flow, object->locations[i], copy->hub);
	}
	bitmap_each(location, to)
	{
		const struct flow_object *object = &flow->objects[flow->nodes[location].object];

		for (uint32_t i = 0; i < object->location_count; i++)
			flow_edge(flow, copy->hub, object->locations[i]);
	}
}

static void solve_apply_copy(struct flow *flow, uint32_t number)
{
	struct flow_copy *copy = &flow->copies[number];
	struct bitmap to = {0}, from = {0};
	uint64_t seen;

	(void)bitmap_unite(&to, &flow->nodes[flow_leader(flow, copy->to)].points);
	(void)bitmap_unite(&from, &flow->nodes[flow_leader(flow, copy->from)].points);
	seen = (solve_locations_behind(flow, &to) << 32) + solve_locations_behind(flow, &from);
	if (seen != copy->seen && (copy->hub || (uint64_t)to.count * from.count > PAIRS_MOST)) {
		copy->seen = seen;
		solve_copy_widely(flow, copy, &to, &from);
	} else if (seen != copy->seen) {
		copy->seen = seen;
		bitmap_each(target, &to)
		{
			bitmap_each_inner(source, &from)
			{
				solve_copy_object(flow, copy, (uint32_t)target, (uint32_t)source);
			}
		}
	}
	bitmap_release(&to);
	bitmap_release(&from);
}

#define NODES_BETWEEN_CHECKS 256

static bool solve_is_late(const struct flow *flow, uint32_t node)
{
	struct timespec now;

	if (!flow->deadline || node % NODES_BETWEEN_CHECKS)
		return false;
	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* the clock exists */
	return now.tv_sec >= flow->deadline;
}

/* Solves one wave. Returns false if the deadline has passed. */
static bool solve_wave(struct flow *flow, const uint32_t *order, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (solve_is_late(flow, i))
			return false;
		solve_propagate_node(flow, order[i]);
	}
	flow->has_changed = false;
	for (uint32_t i = 0; i < count; i++) {
		if (solve_is_late(flow, i))
			return false;
		if (flow->nodes[order[i]].rule_count)
			solve_apply_rules(flow, order[i]);
	}
	solve_open_objects(flow);
	for (uint32_t i = 0; i < flow->copy_count; i++)
		solve_apply_copy(flow, i);
	return true;
}

bool flow_solve(struct flow *flow)
{
	bool is_in_time;

	do {
		uint32_t count, *order;

		flow->has_changed = false;
		solve_apply_unions(flow);
		order = solve_collapse_cycles(flow, &count);
		is_in_time = solve_wave(flow, order, count);
		free(order);
	} while (is_in_time && flow->has_changed);
	return is_in_time;
}
