/* Addresses that accesses may have if the address depends on shared memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "branches/order/order.h"
#include "support/trace_by_hand.h"

#define NOWHERE UINT64_C(0x700000)

/* Thread 1 reads a pointer to Y from X, and the word behind it. Earlier writes of thread 0 to X
 * precede this call. */
static struct term *follow(struct trace *trace)
{
	struct term *pointer;

	write(trace, 0, X, Y);
	pointer = read(trace, 1, X, Y);
	(void)read_through(trace, 1, pointer, Y, 0);
	return pointer;
}

/* May accesses at the term lead there? */
static bool leads_to(struct trace *trace, const struct term *term, uint64_t address)
{
	const struct address_set *set;
	struct order order;
	bool result = false;

	order_build(&order, &trace->walk);
	set = addresses_find(&order.addresses, term);
	for (uint32_t i = 0; set && i < set->count; i++)
		result |= set->items[i] == address;
	order_release(&order);
	return result;
}

static void test_addresses__what_was_written_to_a_pointer_may_be_in_it(void **state)
{
	struct trace *trace = *state;
	struct term *pointer;

	write(trace, 0, X, SEEN_X);
	pointer = follow(trace);
	assert_true(leads_to(trace, pointer, Y)); /* the address of the run */
	assert_true(leads_to(trace, pointer, SEEN_X));
	assert_false(leads_to(trace, pointer, SEEN_Y)); /* no thread wrote this value */
}

static void test_addresses__closed_ones_lead_nowhere_else(void **state)
{
	struct trace *trace = *state;
	struct term *pointer;

	write(trace, 0, X, SEEN_X);
	pointer = follow(trace);
	trace->walk.has_open_addresses = false;
	assert_false(leads_to(trace, pointer, SEEN_X));
}

static void test_addresses__where_nothing_is_known_nobody_goes(void **state)
{
	struct trace *trace = *state;
	struct term *pointer;

	write(trace, 0, X, NOWHERE);
	write(trace, 0, X, 16); /* a member of what is not there */
	write(trace, 0, X, SEEN_X);
	pointer = follow(trace);
	assert_false(leads_to(trace, pointer, NOWHERE));
	assert_false(leads_to(trace, pointer, 16));
	assert_true(leads_to(trace, pointer, SEEN_X));
}

static void test_addresses__what_others_accessed_is_known(void **state)
{
	struct trace *trace = *state;
	struct term *pointer;

	write(trace, 0, NOWHERE, 1); /* memory after all */
	write(trace, 0, X, NOWHERE);
	pointer = follow(trace);
	assert_true(leads_to(trace, pointer, NOWHERE));
}

static void test_addresses__not_where_accesses_have_another_size(void **state)
{
	struct trace *trace = *state;
	struct term *pointer;

	write(trace, 0, SEEN_X + 4, 1);
	trace->walked[0].events[0].bytes = 4;
	write(trace, 0, X, SEEN_X);
	pointer = follow(trace);
	assert_false(leads_to(trace, pointer, SEEN_X));
}

static void test_addresses__not_where_somebody_wrote_unseen(void **state)
{
	struct trace *trace = *state;
	struct term *pointer;

	(void)read(trace, 0, SEEN_X, 5); /* zero at first, and never written */
	write(trace, 0, X, SEEN_X);
	pointer = follow(trace);
	assert_false(leads_to(trace, pointer, SEEN_X));
}

static void test_addresses__members_are_computed(void **state)
{
	struct trace *trace = *state;
	struct term_like like = {.op = CODE_BINARY, .sub = LLVMAdd, .width = 64, .value = Y + 16};
	struct term *member;

	write(trace, 0, X, SEEN_X);
	like.a = follow(trace);
	like.b = term_constant(&trace->walk.terms, 64, 16);
	member = term_make(&trace->walk.terms, &like);
	(void)read_through(trace, 1, member, Y + 16, 0);
	assert_true(leads_to(trace, member, SEEN_X + 16));
	assert_false(leads_to(trace, member, SEEN_X));
}

static void test_addresses__pointers_are_followed_through_pointers(void **state)
{
	struct trace *trace = *state;
	struct term *first, *second;

	write(trace, 0, SEEN_X, SEEN_Y); /* another pointer */
	write(trace, 0, X, SEEN_X);
	write(trace, 0, Y, X);
	write(trace, 0, X, Y);
	first = read(trace, 1, X, Y);
	second = read_through(trace, 1, first, Y, X);
	(void)read_through(trace, 1, second, X, Y);
	assert_true(leads_to(trace, second, SEEN_Y));
}

static void test_addresses__the_first_values_only(void **state)
{
	struct trace *trace = *state;
	struct term *pointer;
	uint32_t count = 0;

	for (uint64_t i = 0; i < 2 * ADDRESSES_MOST; i++) {
		write(trace, 0, NOWHERE + 8 * i, 0);
		write(trace, 0, X, NOWHERE + 8 * i);
	}
	pointer = follow(trace);
	for (uint64_t i = 0; i < 2 * ADDRESSES_MOST; i++)
		count += leads_to(trace, pointer, NOWHERE + 8 * i);
	assert_true(leads_to(trace, pointer, Y));
	assert_in_range(count, 1, ADDRESSES_MOST - 1);
}

static void test_addresses__where_they_may_lead_is_shared(void **state)
{
	struct trace *trace = *state;
	struct order order;

	write(trace, 0, X, SEEN_X);
	(void)follow(trace);
	order_build(&order, &trace->walk);
	assert_false(walk_is_shared(&trace->walk, SEEN_X, 8));
	assert_true(addresses_share(&trace->walk, &order) > 0);
	assert_true(walk_is_shared(&trace->walk, SEEN_X, 8));
	assert_false(walk_is_shared(&trace->walk, SEEN_Y, 8));
	assert_int_equal(addresses_share(&trace->walk, &order), 0); /* once */
	order_release(&order);
	slots_release(&trace->walk.shared.words);
}

static int set_up_open(void **state)
{
	const int result = set_up(state);

	((struct trace *)*state)->walk.has_open_addresses = true;
	return result;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(test_addresses__##name, set_up_open, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(what_was_written_to_a_pointer_may_be_in_it),
		CASE(closed_ones_lead_nowhere_else),
		CASE(where_nothing_is_known_nobody_goes),
		CASE(what_others_accessed_is_known),
		CASE(not_where_accesses_have_another_size),
		CASE(not_where_somebody_wrote_unseen),
		CASE(members_are_computed),
		CASE(pointers_are_followed_through_pointers),
		CASE(the_first_values_only),
		CASE(where_they_may_lead_is_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
