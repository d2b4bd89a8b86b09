#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "bitcode/flow/flow.h"

/* ---- support ---- */

static uint32_t called_object, called_times;

static void on_call(void *context, const struct flow_rule *rule, uint32_t object)
{
	(void)context;
	(void)rule;
	called_object = object;
	called_times++;
}

static void on_foreign_function(void *context, uint32_t object)
{
	(void)context;
	called_object = object;
}

static void begin(struct flow *flow)
{
	flow_init(flow);
	flow->on_call = on_call;
	flow->on_foreign_function = on_foreign_function;
	called_object = UINT32_MAX;
	called_times = 0;
}

static uint32_t pointer_to(struct flow *flow, uint32_t object, int64_t distance)
{
	const uint32_t node = flow_node(flow);

	flow_point(flow, node, flow_location(flow, object, distance));
	return node;
}

static void load(struct flow *flow, uint32_t to, uint32_t pointer, uint64_t bytes)
{
	const struct flow_rule rule = {.kind = FLOW_LOAD, .other = to, .bytes = bytes};

	flow_rule(flow, pointer, &rule);
}

static void store(struct flow *flow, uint32_t pointer, uint32_t from, uint64_t bytes)
{
	const struct flow_rule rule = {.kind = FLOW_STORE, .other = from, .bytes = bytes};

	flow_rule(flow, pointer, &rule);
}

static void shift(struct flow *flow, uint32_t to, uint32_t from, int64_t distance, int64_t stride)
{
	const struct flow_rule rule = {
		.kind = FLOW_SHIFT, .other = to, .distance = distance, .stride = stride};

	flow_rule(flow, from, &rule);
}

static bool points(const struct flow *flow, uint32_t node, uint32_t object, int64_t distance)
{
	bitmap_each(location, &flow->nodes[flow_leader(flow, node)].points)
	{
		if (flow->nodes[location].object == object &&
			flow_distance(&flow->objects[object], flow->nodes[location].distance) ==
				flow_distance(&flow->objects[object], distance))
			return true;
	}
	return false;
}

static bool points_into(const struct flow *flow, uint32_t node, uint32_t object)
{
	bitmap_each(location, &flow->nodes[flow_leader(flow, node)].points)
	{
		if (flow->nodes[location].object == object)
			return true;
	}
	return false;
}

/* ---- tests ---- */

static void test_flow__keeps_fields_apart(void **state)
{
	struct flow flow;
	uint32_t pair, left, right, base, second, got_first, got_second;

	(void)state;
	begin(&flow);
	pair = flow_object(&flow, FLOW_GLOBAL, NULL);
	left = flow_object(&flow, FLOW_GLOBAL, NULL);
	right = flow_object(&flow, FLOW_GLOBAL, NULL);
	base = pointer_to(&flow, pair, 0);
	second = flow_node(&flow);
	shift(&flow, second, base, 8, 0);
	store(&flow, base, pointer_to(&flow, left, 0), 8);
	store(&flow, second, pointer_to(&flow, right, 0), 8);
	load(&flow, got_first = flow_node(&flow), base, 8);
	load(&flow, got_second = flow_node(&flow), second, 8);
	flow_solve(&flow);
	assert_true(points(&flow, got_first, left, 0));
	assert_false(points_into(&flow, got_first, right));
	assert_true(points(&flow, got_second, right, 0));
	assert_false(points_into(&flow, got_second, left));
	flow_release(&flow);
}

static void test_flow__sees_parts_and_wholes_of_pointers(void **state)
{
	struct flow flow;
	uint32_t location, what, base, part, half, wide;

	(void)state;
	begin(&flow);
	location = flow_object(&flow, FLOW_GLOBAL, NULL);
	what = flow_object(&flow, FLOW_GLOBAL, NULL);
	base = pointer_to(&flow, location, 8);
	store(&flow, base, pointer_to(&flow, what, 0), 8);
	load(&flow, half = flow_node(&flow), pointer_to(&flow, location, 12), 4);
	load(&flow, wide = flow_node(&flow), pointer_to(&flow, location, 0), 16);
	load(&flow, part = flow_node(&flow), pointer_to(&flow, location, 0), 8);
	flow_solve(&flow);
	assert_true(points(&flow, half, what, 0));
	assert_true(points(&flow, wide, what, 0));
	assert_false(points_into(&flow, part, what));
	flow_release(&flow);
}

static void test_flow__ends_at_the_deadline(void **state)
{
	struct flow flow;
	uint32_t location, what, base, got;

	(void)state;
	begin(&flow);
	location = flow_object(&flow, FLOW_GLOBAL, NULL);
	what = flow_object(&flow, FLOW_GLOBAL, NULL);
	base = pointer_to(&flow, location, 0);
	store(&flow, base, pointer_to(&flow, what, 0), 8);
	load(&flow, got = flow_node(&flow), base, 8);
	flow.deadline = 1;
	assert_false(flow_solve(&flow));
	flow.deadline = 0;
	assert_true(flow_solve(&flow));
	assert_true(points(&flow, got, what, 0));
	flow_release(&flow);
}

static void test_flow__folds_arrays_by_their_stride(void **state)
{
	struct flow flow;
	uint32_t array, left, right, element, field, got, other;

	(void)state;
	begin(&flow);
	array = flow_object(&flow, FLOW_GLOBAL, NULL);
	left = flow_object(&flow, FLOW_GLOBAL, NULL);
	right = flow_object(&flow, FLOW_GLOBAL, NULL);
	/* Stored into an element of which the number is known, read from any. */
	store(&flow, pointer_to(&flow, array, 32), pointer_to(&flow, left, 0), 8);
	store(&flow, pointer_to(&flow, array, 40), pointer_to(&flow, right, 0), 8);
	shift(&flow, element = flow_node(&flow), pointer_to(&flow, array, 0), 0, 16);
	shift(&flow, field = flow_node(&flow), element, 8, 0);
	load(&flow, got = flow_node(&flow), element, 8);
	load(&flow, other = flow_node(&flow), field, 8);
	flow_solve(&flow);
	assert_true(points(&flow, got, left, 0));
	assert_false(points_into(&flow, got, right));
	assert_true(points(&flow, other, right, 0));
	assert_false(points_into(&flow, other, left));
	assert_int_equal(flow.objects[array].stride, 16);
	flow_release(&flow);
}

/* p = p + 8 for ever: it ends, and nothing is lost. */
static void test_flow__ends_where_pointers_run_on(void **state)
{
	struct flow flow;
	uint32_t object, what, pointer, got;

	(void)state;
	begin(&flow);
	object = flow_object(&flow, FLOW_HEAP, NULL);
	what = flow_object(&flow, FLOW_GLOBAL, NULL);
	pointer = pointer_to(&flow, object, 0);
	shift(&flow, pointer, pointer, 8, 0);
	store(&flow, pointer_to(&flow, object, 80000), pointer_to(&flow, what, 0), 8);
	load(&flow, got = flow_node(&flow), pointer, 8);
	flow_solve(&flow);
	assert_true(points(&flow, got, what, 0));
	flow_release(&flow);
}

static void test_flow__copies_memory(void **state)
{
	struct flow flow;
	uint32_t from, to, what, beyond, got, not_copied;

	(void)state;
	begin(&flow);
	from = flow_object(&flow, FLOW_STACK, NULL);
	to = flow_object(&flow, FLOW_HEAP, NULL);
	what = flow_object(&flow, FLOW_GLOBAL, NULL);
	beyond = flow_object(&flow, FLOW_GLOBAL, NULL);
	store(&flow, pointer_to(&flow, from, 16), pointer_to(&flow, what, 0), 8);
	store(&flow, pointer_to(&flow, from, 24), pointer_to(&flow, beyond, 0), 8);
	flow_copy(&flow, pointer_to(&flow, to, 0), pointer_to(&flow, from, 8), 16);
	load(&flow, got = flow_node(&flow), pointer_to(&flow, to, 8), 8);
	load(&flow, not_copied = flow_node(&flow), pointer_to(&flow, to, 16), 8);
	flow_solve(&flow);
	assert_true(points(&flow, got, what, 0));
	assert_false(points_into(&flow, got, beyond));
	assert_false(points_into(&flow, not_copied, beyond));
	flow_release(&flow);
}

static void test_flow__foreign_code_reaches_what_it_can(void **state)
{
	struct flow flow;
	uint32_t given, inside, hidden, function, from_foreign, got;

	(void)state;
	begin(&flow);
	given = flow_object(&flow, FLOW_GLOBAL, NULL);
	inside = flow_object(&flow, FLOW_GLOBAL, NULL);
	hidden = flow_object(&flow, FLOW_GLOBAL, NULL);
	function = flow_object(&flow, FLOW_FUNCTION, NULL);
	store(&flow, pointer_to(&flow, given, 0), pointer_to(&flow, inside, 0), 8);
	store(&flow, pointer_to(&flow, given, 8), pointer_to(&flow, function, 0), 8);
	flow_edge(&flow, pointer_to(&flow, given, 0), flow.foreign);
	flow_edge(&flow, flow.foreign, from_foreign = flow_node(&flow));
	load(&flow, got = flow_node(&flow), pointer_to(&flow, inside, 0), 8);
	(void)pointer_to(&flow, hidden, 0);
	flow_solve(&flow);
	assert_true(flow.objects[given].is_foreign);
	assert_true(flow.objects[inside].is_foreign);
	assert_false(flow.objects[hidden].is_foreign);
	assert_int_equal(called_object, function);
	assert_true(
		bitmap_has(&flow.nodes[flow_leader(&flow, from_foreign)].points, flow.anything));
	/* It may have stored anything there. */
	assert_true(bitmap_has(&flow.nodes[flow_leader(&flow, got)].points, flow.anything));
	flow_release(&flow);
}

static void test_flow__calls_what_a_pointer_leads_to(void **state)
{
	struct flow flow;
	const struct flow_rule rule = {.kind = FLOW_CALL};
	uint32_t function, table, got;

	(void)state;
	begin(&flow);
	function = flow_object(&flow, FLOW_FUNCTION, NULL);
	table = flow_object(&flow, FLOW_GLOBAL, NULL);
	store(&flow, pointer_to(&flow, table, 0), pointer_to(&flow, function, 0), 8);
	load(&flow, got = flow_node(&flow), pointer_to(&flow, table, 0), 8);
	flow_rule(&flow, got, &rule);
	flow_solve(&flow);
	assert_int_equal(called_object, function);
	assert_int_equal(called_times, 1);
	flow_release(&flow);
}

/* ---- against a solver of ten lines ---- */

#define NODES 60
#define OBJECTS 12

struct plain {
	bool value[NODES][OBJECTS];    /* objects that a node points to */
	bool stored[OBJECTS][OBJECTS]; /* objects stored in an object */
	bool has_changed;
};

static void join(struct plain *plain, bool *to, const bool *from)
{
	for (uint32_t i = 0; i < OBJECTS; i++) {
		plain->has_changed |= from[i] && !to[i];
		to[i] |= from[i];
	}
}

enum { EDGE, LOAD, STORE, POINT };

struct constraint {
	uint32_t kind, first, second;
};

static void apply_plainly(struct plain *plain, const struct constraint *constraint)
{
	const uint32_t first = constraint->first, second = constraint->second;

	if (constraint->kind == EDGE)
		join(plain, plain->value[second], plain->value[first]);
	for (uint32_t i = 0; i < OBJECTS; i++) {
		if (constraint->kind == LOAD && plain->value[first][i])
			join(plain, plain->value[second], plain->stored[i]);
		if (constraint->kind == STORE && plain->value[first][i])
			join(plain, plain->stored[i], plain->value[second]);
	}
	if (constraint->kind == POINT && !plain->value[first][second % OBJECTS])
		plain->value[first][second % OBJECTS] = plain->has_changed = true;
}

static void apply_to_flow(struct flow *flow, const uint32_t *nodes, const uint32_t *objects,
	const struct constraint *c)
{
	if (c->kind == EDGE)
		flow_edge(flow, nodes[c->first], nodes[c->second]);
	else if (c->kind == LOAD)
		load(flow, nodes[c->second], nodes[c->first], 8);
	else if (c->kind == STORE)
		store(flow, nodes[c->first], nodes[c->second], 8);
	else
		flow_point(flow, nodes[c->first],
			flow_location(flow, objects[c->second % OBJECTS], 0));
}

static void compare_once(struct rng *rng)
{
	const uint32_t count = 20 + rng_below(rng, 120);
	struct constraint constraints[140];
	uint32_t nodes[NODES], objects[OBJECTS];
	struct plain plain = {0};
	struct flow flow;

	begin(&flow);
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i] = flow_node(&flow);
	for (uint32_t i = 0; i < OBJECTS; i++)
		objects[i] = flow_object(&flow, FLOW_GLOBAL, NULL);
	for (uint32_t i = 0; i < count; i++) {
		constraints[i] = (struct constraint){
			rng_below(rng, 4), rng_below(rng, NODES), rng_below(rng, NODES)};
		apply_to_flow(&flow, nodes, objects, &constraints[i]);
	}
	flow_solve(&flow);
	do {
		plain.has_changed = false;
		for (uint32_t i = 0; i < count; i++)
			apply_plainly(&plain, &constraints[i]);
	} while (plain.has_changed);
	for (uint32_t i = 0; i < NODES; i++)
		for (uint32_t j = 0; j < OBJECTS; j++)
			assert_int_equal(points(&flow, nodes[i], objects[j], 0), plain.value[i][j]);
	flow_release(&flow);
}

static void test_flow__is_the_least_solution(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (int round = 0; round < 400; round++)
		compare_once(&rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flow__keeps_fields_apart),
		cmocka_unit_test(test_flow__sees_parts_and_wholes_of_pointers),
		cmocka_unit_test(test_flow__ends_at_the_deadline),
		cmocka_unit_test(test_flow__folds_arrays_by_their_stride),
		cmocka_unit_test(test_flow__ends_where_pointers_run_on),
		cmocka_unit_test(test_flow__copies_memory),
		cmocka_unit_test(test_flow__foreign_code_reaches_what_it_can),
		cmocka_unit_test(test_flow__calls_what_a_pointer_leads_to),
		cmocka_unit_test(test_flow__is_the_least_solution),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
