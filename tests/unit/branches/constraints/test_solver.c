/* Answers of the solver on traces made by hand: what may happen in another order, and what may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/trace_by_hand.h"

static void test_constraints__a_read_may_precede_a_write(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	write(trace, 0, X, 1);
	goal = branch(trace, 1, read(trace, 1, X, 1), 1);
	assert_true(may_flip(trace, goal, NULL, true));
}

static void test_constraints__no_write_no_other_value(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	write(trace, 0, Y, 1);
	goal = branch(trace, 1, read(trace, 1, X, 0), 1);
	assert_false(may_flip(trace, goal, NULL, true));
}

static void test_constraints__creation_orders(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	write(trace, 0, X, 1);
	op(trace, 0, OP_THREAD_CREATE, 0)->other = 1;
	goal = branch(trace, 1, read(trace, 1, X, 1), 1);
	assert_false(may_flip(trace, goal, NULL, true));
}

static void test_constraints__joining_orders(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	write(trace, 1, X, 1);
	op(trace, 0, OP_THREAD_JOIN, 0)->other = 1;
	goal = branch(trace, 0, read(trace, 0, X, 1), 1);
	assert_false(may_flip(trace, goal, NULL, true));
}

/* One thread writes 1 and then 2 in a section; may the other one see 1 in its own? */
static bool may_see_between(
	struct trace *trace, enum op_kind writer, enum op_kind reader, enum op_kind unlock)
{
	struct event_id goal;

	op(trace, 0, writer, LOCK);
	write(trace, 0, X, 1);
	write(trace, 0, X, 2);
	op(trace, 0, unlock, LOCK);
	op(trace, 1, reader, LOCK);
	goal = branch(trace, 1, read(trace, 1, X, 2), 1);
	op(trace, 1, unlock, LOCK);
	return may_flip(trace, goal, NULL, true);
}

static void test_constraints__sections_of_one_mutex_exclude_each_other(void **state)
{
	assert_false(may_see_between(*state, OP_MUTEX_LOCK, OP_MUTEX_LOCK, OP_MUTEX_UNLOCK));
}

static void test_constraints__a_writer_excludes_readers(void **state)
{
	assert_false(may_see_between(*state, OP_RWLOCK_WRLOCK, OP_RWLOCK_RDLOCK, OP_RWLOCK_UNLOCK));
}

static void test_constraints__readers_share(void **state)
{
	assert_true(may_see_between(*state, OP_RWLOCK_RDLOCK, OP_RWLOCK_RDLOCK, OP_RWLOCK_UNLOCK));
}

/* The lock could not be had, so its owner had it, and had written before. */
static void test_constraints__a_failed_try_lies_in_a_section(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	write(trace, 0, X, 1);
	op(trace, 0, OP_MUTEX_LOCK, LOCK);
	op(trace, 1, OP_MUTEX_TRYLOCK, LOCK)->flags = RECORD_OP_FAILED;
	goal = branch(trace, 1, read(trace, 1, X, 1), 1);
	op(trace, 0, OP_MUTEX_UNLOCK, LOCK);
	assert_false(may_flip(trace, goal, NULL, true));
}

/* A thread that has seen the flag also sees the writes before the flag. */
static void test_constraints__branches_before_keep_their_outcome(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	write(trace, 0, X, 1);
	write(trace, 0, Y, 1);
	(void)branch(trace, 1, read(trace, 1, Y, 1), 1);
	goal = branch(trace, 1, read(trace, 1, X, 1), 1);
	assert_false(may_flip(trace, goal, NULL, true));
}

/* A read before the chunk has the value that it had, though the branch on it is in the chunk. */
static void test_constraints__what_was_read_before_a_chunk_is_known(void **state)
{
	struct trace *trace = *state;
	const uint32_t begins[THREADS] = {0, 1, 0};
	struct event_id goal;

	goal = branch(trace, 1, read(trace, 1, X, 0), 1);
	write(trace, 0, X, 1);
	assert_true(may_flip(trace, goal, NULL, true));
	assert_false(may_flip(trace, goal, begins, true));
}

/* ---- locks ---- */

static void write_twice(struct trace *trace)
{
	op(trace, 0, OP_MUTEX_LOCK, LOCK);
	write(trace, 0, X, 1);
	write(trace, 0, X, 2);
	op(trace, 0, OP_MUTEX_UNLOCK, LOCK);
}

static void test_constraints__who_holds_the_lock_sees_last_writes_only(void **state)
{
	struct trace *trace = *state;
	struct event_id is_one, is_two;
	struct term *seen;

	write_twice(trace);
	op(trace, 1, OP_MUTEX_LOCK, LOCK);
	seen = read(trace, 1, X, 2);
	is_one = branch(trace, 1, seen, 1);
	is_two = branch(trace, 1, seen, 2);
	op(trace, 1, OP_MUTEX_UNLOCK, LOCK);
	assert_false(may_flip(trace, is_one, NULL, true));
	assert_true(may_flip(trace, is_two, NULL, true));
}

static void test_constraints__without_the_lock_all_writes_are_seen(void **state)
{
	struct trace *trace = *state;
	struct event_id goal;

	write_twice(trace);
	goal = branch(trace, 1, read(trace, 1, X, 2), 1);
	assert_true(may_flip(trace, goal, NULL, true));
}

static void write_locked(struct trace *trace, uint64_t value)
{
	op(trace, 0, OP_MUTEX_LOCK, LOCK);
	write(trace, 0, X, value);
	op(trace, 0, OP_MUTEX_UNLOCK, LOCK);
}

/* Is the second value another one than the first? */
static struct event_id read_twice(struct trace *trace, bool has_lock)
{
	struct event_id goal;

	write_locked(trace, 1);
	if (has_lock)
		op(trace, 1, OP_MUTEX_LOCK, LOCK);
	(void)branch(trace, 1, read(trace, 1, X, 1), 1);
	goal = branch(trace, 1, read(trace, 1, X, 1), 1);
	if (has_lock)
		op(trace, 1, OP_MUTEX_UNLOCK, LOCK);
	write_locked(trace, 3);
	return goal;
}

static void test_constraints__what_was_seen_under_a_lock_stays(void **state)
{
	assert_false(may_flip(*state, read_twice(*state, true), NULL, false));
}

static void test_constraints__what_was_seen_without_a_lock_may_change(void **state)
{
	assert_true(may_flip(*state, read_twice(*state, false), NULL, false));
}

/* ---- yields ---- */

static struct event_id read_again(struct trace *trace, bool yields)
{
	(void)branch(trace, 0, read(trace, 0, X, 0), 0);
	write(trace, 1, X, 1);
	if (yields)
		op(trace, 0, OP_YIELD, 0);
	return branch(trace, 0, read(trace, 0, X, 1), 1);
}

static void test_constraints__who_yields_lets_another_thread_move(void **state)
{
	assert_false(may_flip(*state, read_again(*state, true), NULL, false));
}

static void test_constraints__a_thread_that_does_not_yield_continues(void **state)
{
	assert_true(may_flip(*state, read_again(*state, false), NULL, false));
}

/* ---- quotients ---- */

static struct term *divide(struct trace *trace, struct term *a, struct term *b, uint64_t value)
{
	struct term_like like = {
		.op = CODE_BINARY, .sub = LLVMSDiv, .width = 64, .a = a, .b = b, .value = value};

	return term_make(&trace->walk.terms, &like);
}

/* Minus three halves are minus one: what happened would not be possible with a plain shift. */
static void test_constraints__quotients_go_towards_zero(void **state)
{
	struct trace *trace = *state;
	const uint64_t minus_three = (uint64_t)-3, minus_one = (uint64_t)-1;
	struct term *two = term_constant(&trace->walk.terms, 64, 2);
	struct event_id goal;

	write(trace, 0, X, minus_three);
	goal = branch(
		trace, 1, divide(trace, read(trace, 1, X, minus_three), two, minus_one), minus_one);
	assert_true(may_flip(trace, goal, NULL, true));
}

/* The quotient is too hard and keeps its value; a division by zero has none. */
static void test_constraints__a_divisor_may_be_zero(void **state)
{
	struct trace *trace = *state;
	struct term *a, *b;
	struct walk_event *event;
	struct event_id goal;

	write(trace, 0, Y, 0);
	trace->position = 0; /* the other thread was first in the run */
	write(trace, 1, Y, 5);
	a = read(trace, 1, X, 0);
	b = read(trace, 1, Y, 5);
	event = add(trace, 1, EVENT_DIVISOR);
	event->term = term_index(&trace->walk.terms, b);
	event->value = 5;
	goal = (struct event_id){1, (uint32_t)trace->walked[1].count - 1};
	event = add(trace, 1, EVENT_VALUE);
	event->term = term_index(&trace->walk.terms, divide(trace, a, b, 0));
	assert_true(may_flip(trace, goal, NULL, true));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(test_constraints__##name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(a_read_may_precede_a_write),
		CASE(no_write_no_other_value),
		CASE(creation_orders),
		CASE(joining_orders),
		CASE(sections_of_one_mutex_exclude_each_other),
		CASE(a_writer_excludes_readers),
		CASE(readers_share),
		CASE(a_failed_try_lies_in_a_section),
		CASE(branches_before_keep_their_outcome),
		CASE(what_was_read_before_a_chunk_is_known),
		cmocka_unit_test_setup_teardown(
			test_constraints__who_holds_the_lock_sees_last_writes_only, set_up,
			tear_down),
		CASE(without_the_lock_all_writes_are_seen),
		CASE(what_was_seen_under_a_lock_stays),
		CASE(what_was_seen_without_a_lock_may_change),
		CASE(who_yields_lets_another_thread_move),
		CASE(a_thread_that_does_not_yield_continues),
		CASE(quotients_go_towards_zero),
		CASE(a_divisor_may_be_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
