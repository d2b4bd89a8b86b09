/* Writes that the walk did not see, as reads show them; and what the solver may make of such locations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "branches/order/order.h"
#include "support/trace_by_hand.h"

static bool is_hidden(struct trace *trace, uint64_t address, uint32_t bytes)
{
	struct order order;
	bool result;

	order_build(&order, &trace->walk);
	result = hidden_has(&order, address, bytes);
	order_release(&order);
	return result;
}

static void test_hidden__what_was_written_is_no_surprise(void **state)
{
	struct trace *trace = *state;

	(void)read(trace, 1, X, 0); /* the initial value */
	write(trace, 0, X, 7);
	(void)read(trace, 1, X, 7);
	assert_false(is_hidden(trace, X, 8));
}

static void test_hidden__what_nobody_wrote_is(void **state)
{
	struct trace *trace = *state;

	(void)read(trace, 1, X, 5); /* zero at first */
	assert_true(is_hidden(trace, X, 8));
	assert_true(is_hidden(trace, X - 4, 8)); /* touches it */
	assert_false(is_hidden(trace, Y, 8));
}

static void test_hidden__what_was_overwritten_unseen_is(void **state)
{
	struct trace *trace = *state;

	write(trace, 0, X, 7);
	(void)read(trace, 1, X, 9);
	write(trace, 0, X, 7);
	(void)read(trace, 1, X, 7);
	assert_true(is_hidden(trace, X, 8));
}

static void test_hidden__parts_may_be_written_apart(void **state)
{
	struct trace *trace = *state;

	write(trace, 0, X, 0x1122334455667788);
	trace->walked[0].events[0].bytes = 4;
	(void)read(trace, 1, X, 0x55667788); /* the upper half is zero */
	assert_false(is_hidden(trace, X, 8));
	(void)read(trace, 1, X, 0x1122334455667788);
	assert_true(is_hidden(trace, X, 8));
}

static void test_hidden__what_the_first_read_gave_stood_there(void **state)
{
	struct trace *trace = *state;
	const uint64_t unknown = MEMORY + 4096;

	(void)read(trace, 1, unknown, 3);
	(void)read(trace, 1, unknown, 3);
	assert_false(is_hidden(trace, unknown, 8));
	(void)read(trace, 1, unknown, 4);
	assert_true(is_hidden(trace, unknown, 8));
}

static void test_hidden__such_reads_keep_their_value(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	write(trace, 0, X, 7);
	goal = branch(trace, 1, read(trace, 1, X, 9), 9);
	/* The control: seen, the branch goes either way. */
	assert_false(may_flip(trace, goal, NULL, false));
	trace->walked[0].events[0].value = 9;
	assert_true(may_flip(trace, goal, NULL, false));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(test_hidden__##name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(what_was_written_is_no_surprise),
		CASE(what_nobody_wrote_is),
		CASE(what_was_overwritten_unseen_is),
		CASE(parts_may_be_written_apart),
		CASE(what_the_first_read_gave_stood_there),
		CASE(such_reads_keep_their_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
