/* Nodes and objects are referred to by number, as their arrays move when they grow. */
#include "bitcode/flow/flow.h"

#include <stdlib.h>

#include "base/array.h"

#define NO_OBJECT UINT32_MAX

uint32_t flow_leader(const struct flow *flow, uint32_t node)
{
	while (flow->nodes[node].leader != node)
		node = flow->nodes[node].leader;
	return node;
}

uint32_t flow_node(struct flow *flow)
{
	flow->nodes = array_room(flow->nodes, flow->node_count, sizeof *flow->nodes);
	flow->nodes[flow->node_count] =
		(struct flow_node){.leader = flow->node_count, .object = NO_OBJECT};
	return flow->node_count++;
}

void flow_point(struct flow *flow, uint32_t node, uint32_t location)
{
	if (bitmap_add(&flow->nodes[flow_leader(flow, node)].points, location))
		flow->has_changed = true;
}

void flow_edge(struct flow *flow, uint32_t from, uint32_t to)
{
	from = flow_leader(flow, from);
	to = flow_leader(flow, to);
	if (from == to || !bitmap_add(&flow->nodes[from].successors, to))
		return;
	/*
	 * Adds only points that all other successors already have; the other points follow in the
	 * next wave.
	 */
	if (bitmap_unite(&flow->nodes[to].points, &flow->nodes[from].carried))
		flow->has_changed = true;
}

void flow_unite(struct flow *flow, uint32_t first, uint32_t second)
{
	ARRAY_APPEND(flow->unions, flow->union_count,
		(struct flow_pair){.first = first, .second = second});
	flow->has_changed = true;
}

void flow_rule(struct flow *flow, uint32_t node, const struct flow_rule *rule)
{
	struct flow_node *to = &flow->nodes[flow_leader(flow, node)];

	ARRAY_APPEND(to->rules, to->rule_count, *rule);
	bitmap_release(&to->ruled); /* the new rule has not seen any points yet */
	flow->has_changed = true;
}

void flow_copy(struct flow *flow, uint32_t to, uint32_t from, uint64_t bytes)
{
	ARRAY_APPEND(flow->copies, flow->copy_count,
		(struct flow_copy){.to = to, .from = from, .bytes = bytes});
}

uint32_t flow_object(struct flow *flow, enum flow_object_kind kind, void *value)
{
	ARRAY_APPEND(flow->objects, flow->object_count,
		(struct flow_object){.kind = kind,
			.value = value,
			.stride = kind == FLOW_FUNCTION || kind == FLOW_FOREIGN});
	return flow->object_count - 1;
}

int64_t flow_distance(const struct flow_object *object, int64_t distance)
{
	if (!object->stride)
		return distance;
	distance %= object->stride;
	return distance < 0 ? distance + object->stride : distance;
}

static void flow_share_location(struct flow *flow, uint32_t location)
{
	flow_unite(flow, location, flow->foreign);
	if (location != flow->anything)
		(void)bitmap_add(&flow->foreign_locations, location);
}

static uint32_t flow_add_location(struct flow *flow, uint32_t number, int64_t distance)
{
	const uint32_t location = flow_node(flow);
	struct flow_object *object = &flow->objects[number];

	flow->nodes[location].object = number;
	flow->nodes[location].distance = distance;
	ARRAY_APPEND(object->locations, object->location_count, location);
	if (object->stride == 1 && distance == 0)
		(void)bitmap_add(&flow->whole, location);
	if (object->is_foreign)
		flow_share_location(flow, location);
	return location;
}

uint32_t flow_location(struct flow *flow, uint32_t number, int64_t distance)
{
	const struct flow_object *object = &flow->objects[number];

	distance = flow_distance(object, distance);
	for (uint32_t i = 0; i < object->location_count; i++)
		if (flow->nodes[object->locations[i]].distance == distance)
			return object->locations[i];
	if (object->location_count >= FLOW_LOCATIONS_MOST && object->stride != 1) {
		flow_fold(flow, number, 1);
		return flow_location(flow, number, 0);
	}
	return flow_add_location(flow, number, distance);
}

uint32_t flow_holder(struct flow *flow, uint32_t object, int64_t distance)
{
	const int64_t stride = flow->objects[object].stride;

	return flow_location(flow, object, stride % FLOW_GRANULE ? 0 : distance & -FLOW_GRANULE);
}

int64_t flow_common_divisor(int64_t a, int64_t b)
{
	while (b) {
		const int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a < 0 ? -a : a;
}

/* Old locations stay members of sets. Each is united with the location that replaces it. */
void flow_fold(struct flow *flow, uint32_t number, int64_t stride)
{
	const int64_t folded = flow_common_divisor(flow->objects[number].stride, stride);
	const uint32_t locations = flow->objects[number].location_count;

	if (!folded || folded == flow->objects[number].stride)
		return;
	flow->objects[number].stride = folded;
	if (folded == 1)
		(void)bitmap_add(&flow->whole, flow_location(flow, number, 0));
	for (uint32_t i = 0; i < locations; i++) {
		const uint32_t old = flow->objects[number].locations[i];
		const uint32_t now = flow_holder(flow, number, flow->nodes[old].distance);

		flow_unite(flow, old, now);
	}
}

void flow_make_foreign(struct flow *flow, uint32_t number)
{
	if (flow->objects[number].is_foreign)
		return;
	flow->objects[number].is_foreign = true;
	if (flow->objects[number].kind == FLOW_FUNCTION) {
		flow->on_foreign_function(flow->context, number);
		return;
	}
	/* Foreign code may write at any distance. */
	flow_fold(flow, number, 1);
	for (uint32_t i = 0; i < flow->objects[number].location_count; i++)
		flow_share_location(flow, flow->objects[number].locations[i]);
}

void flow_init(struct flow *flow)
{
	uint32_t memory;

	*flow = (struct flow){0};
	flow->foreign = flow_node(flow);
	memory = flow_object(flow, FLOW_FOREIGN, NULL);
	flow->anything = flow_location(flow, memory, 0);
	flow->objects[memory].is_foreign = true;
	flow_share_location(flow, flow->anything);
	flow_point(flow, flow->foreign, flow->anything);
}

void flow_release(struct flow *flow)
{
	for (uint32_t i = 0; i < flow->node_count; i++) {
		bitmap_release(&flow->nodes[i].points);
		bitmap_release(&flow->nodes[i].carried);
		bitmap_release(&flow->nodes[i].ruled);
		bitmap_release(&flow->nodes[i].successors);
		free(flow->nodes[i].rules);
	}
	for (uint32_t i = 0; i < flow->object_count; i++)
		free(flow->objects[i].locations);
	free(flow->nodes);
	free(flow->objects);
	free(flow->copies);
	bitmap_release(&flow->opened);
	bitmap_release(&flow->whole);
	bitmap_release(&flow->foreign_locations);
	free(flow->unions);
}
