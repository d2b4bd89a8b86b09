/* Reads and writes whose address is the solver's to say: on traces made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/trace_by_hand.h"

/* A number of writes to overlapping locations that is too large to be compared (COST_MOST). */
#define WRITES_TOO_MANY 250

/* Sets the initial value of a word of static memory. */
static void set_first(struct trace *trace, uint64_t address, uint64_t value)
{
	memcpy(trace->bytes + (address - MEMORY), &value, sizeof value);
}

/* Thread 0 points X at SEEN_X; thread 1 had found it pointing at Y, where zero stands. Is it five? */
static struct event_id find_five(struct trace *trace)
{
	struct term *pointer;

	set_first(trace, X, Y);
	pointer = read(trace, 1, X, Y);
	return branch(trace, 1, read_through(trace, 1, pointer, Y, 0), 5);
}

static void test_aliases__a_read_may_go_elsewhere(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	set_first(trace, SEEN_X, 5);
	goal = find_five(trace);
	write(trace, 0, X, SEEN_X);
	assert_true(may_flip(trace, goal, NULL, true));
	assert_false(may_flip(trace, goal, NULL, false));
}

static void test_aliases__not_where_no_pointer_leads(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	set_first(trace, SEEN_X, 5);
	goal = find_five(trace);
	write(trace, 0, X, SEEN_Y);
	assert_false(may_flip(trace, goal, NULL, true));
}

static void test_aliases__what_is_written_there_is_read(void **state)
{
	struct trace *trace = *state;
	struct event_id goal = find_five(trace);

	write(trace, 0, SEEN_X, 5);
	write(trace, 0, X, SEEN_X);
	assert_true(may_flip(trace, goal, NULL, true));
}

static void test_aliases__not_what_is_written_later(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	set_first(trace, SEEN_X, 4);
	goal = find_five(trace);
	write(trace, 0, X, SEEN_X);
	(void)op(trace, 0, OP_THREAD_JOIN, 0);
	trace->ops[trace->record.op_count - 1].other = 1;
	write(trace, 0, SEEN_X, 5);
	assert_false(may_flip(trace, goal, NULL, true));
}

static void test_aliases__a_write_may_go_elsewhere(void **state)
{
	struct trace *trace = *state;
	struct term *pointer;
	struct event_id goal;

	set_first(trace, X, Y);
	pointer = read(trace, 0, X, Y);
	write(trace, 0, Y, 5);
	trace->walked[0].events[trace->walked[0].count - 1].access.at =
		term_index(&trace->walk.terms, pointer);
	goal = branch(trace, 1, read(trace, 1, SEEN_X, 0), 5);
	/* the pointer does not change */
	assert_false(may_flip(trace, goal, NULL, true));
	write(trace, 2, X, SEEN_X);
	assert_true(may_flip(trace, goal, NULL, true));
	assert_false(may_flip(trace, goal, NULL, false));
}

static void test_aliases__a_write_that_went_elsewhere_is_missing(void **state)
{
	struct trace *trace = *state;
	struct term *pointer;
	struct event_id goal;

	/* In the run, thread 0 writes Y and creates thread 1, which reads Y. */
	set_first(trace, X, Y);
	pointer = read(trace, 0, X, Y);
	write(trace, 0, Y, 5);
	trace->walked[0].events[trace->walked[0].count - 1].access.at =
		term_index(&trace->walk.terms, pointer);
	op(trace, 0, OP_THREAD_CREATE, 0)->other = 1;
	goal = branch(trace, 1, read(trace, 1, Y, 5), 5);
	assert_false(may_flip(trace, goal, NULL, true));
	write(trace, 2, X, SEEN_X);
	assert_true(may_flip(trace, goal, NULL, true));
	assert_false(may_flip(trace, goal, NULL, false));
}

static void test_aliases__who_looked_at_the_pointer_knows_it(void **state)
{
	struct trace *trace = *state;
	struct term *pointer;
	struct event_id goal;

	set_first(trace, SEEN_X, 5);
	set_first(trace, X, Y);
	pointer = read(trace, 1, X, Y);
	(void)branch(trace, 1, pointer, Y); /* this branch fixes the path */
	goal = branch(trace, 1, read_through(trace, 1, pointer, Y, 0), 5);
	write(trace, 0, X, SEEN_X);
	assert_false(may_flip(trace, goal, NULL, true));
}

static void test_aliases__too_many_keep_their_address(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	set_first(trace, SEEN_X, 5);
	goal = find_five(trace);
	write(trace, 0, X, SEEN_X);
	write(trace, 0, X, SEEN_Y); /* the locations of both pointers overlap now */
	write(trace, 0, SEEN_Y, 0);
	assert_true(may_flip(trace, goal, NULL, true));
	for (int i = 1; i < WRITES_TOO_MANY; i++)
		write(trace, 0, SEEN_Y, 0);
	assert_false(may_flip(trace, goal, NULL, true));
}

static int set_up_open(void **state)
{
	const int result = set_up(state);

	((struct trace *)*state)->walk.has_open_addresses = true;
	return result;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(test_aliases__##name, set_up_open, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(a_read_may_go_elsewhere),
		CASE(not_where_no_pointer_leads),
		CASE(what_is_written_there_is_read),
		CASE(not_what_is_written_later),
		CASE(a_write_may_go_elsewhere),
		CASE(a_write_that_went_elsewhere_is_missing),
		CASE(who_looked_at_the_pointer_knows_it),
		CASE(too_many_keep_their_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
