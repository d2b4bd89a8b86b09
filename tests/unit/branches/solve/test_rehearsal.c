/* Trials on traces made by hand: which branches flip in another order, and which orders are worth a trial. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "branches/solve/chances.h"
#include "support/trace_by_hand.h"

/* Does the branch flip in that trial? Its schedule is in `solution`, where that is given. */
static bool flips(struct trace *trace, const struct hold *hold, struct event_id goal,
	struct solution *solution)
{
	struct order order;
	struct rehearsal rehearsal;
	struct event_id flipped;
	bool result = false;

	order_build(&order, &trace->walk);
	rehearsal_open(&rehearsal, &order, false);
	/* A trial leaves nothing behind: the second one is as the first. */
	for (int round = 0; round < 2; round++) {
		rehearsal_begin(&rehearsal, hold, 100);
		result = false;
		while (rehearsal_next(&rehearsal, &flipped)) {
			result |= flipped.thread == goal.thread && flipped.index == goal.index;
			if (result && solution && round)
				rehearsal_solution(&rehearsal, goal, solution);
		}
		rehearsal_end(&rehearsal);
	}
	rehearsal_release(&rehearsal);
	order_release(&order);
	return result;
}

static struct event_id last(const struct trace *trace, uint16_t thread)
{
	return (struct event_id){thread, (uint32_t)trace->walked[thread].count - 1};
}

/* A write of what was read, and one more. */
static struct event_id write_more(
	struct trace *trace, uint16_t thread, uint64_t address, struct term *before)
{
	const struct term_like sum = {.op = CODE_BINARY,
		.sub = LLVMAdd,
		.width = 64,
		.value = before->value + 1,
		.a = before,
		.b = term_constant(&trace->walk.terms, 64, 1)};
	struct event_id id;

	write(trace, thread, address, before->value + 1);
	id = last(trace, thread);
	trace->walked[thread].events[id.index].term =
		term_place(&trace->walk.terms, term_make(&trace->walk.terms, &sum));
	return id;
}

static void test_rehearsal__who_waits_sees_what_comes_later(void **state)
{
	struct trace *trace = *state;
	struct solution solution = {0};
	struct hold hold = {.held = {0, 0}};
	struct event_id goal;

	goal = branch(trace, 0, read(trace, 0, X, 0), 0);
	write(trace, 1, Y, 7);
	write(trace, 1, X, 1);
	hold.until = last(trace, 1);
	write(trace, 1, X, 0);
	assert_true(flips(trace, &hold, goal, &solution));
	assert_int_equal(solution.count, 2);
	assert_int_equal(solution.segments[0].thread, 1);
	assert_int_equal(solution.segments[0].count, 2);
	assert_int_equal(solution.segments[1].thread, 0);
	assert_int_equal(solution.segments[1].count, 1);
	solution_release(&solution);
	/* As long as others can move: the last write puts back what was there. */
	hold.is_long = true;
	assert_false(flips(trace, &hold, goal, NULL));
}

static void test_rehearsal__an_update_may_be_lost(void **state)
{
	struct trace *trace = *state;
	struct hold hold = {0};
	struct event_id goal;

	hold.held = write_more(trace, 0, X, read(trace, 0, X, 0));
	hold.until = write_more(trace, 1, X, read(trace, 1, X, 1));
	goal = branch(trace, 2, read(trace, 2, X, 2), 2);
	assert_true(flips(trace, &hold, goal, NULL));
}

static void test_rehearsal__what_must_come_first_does(void **state)
{
	struct trace *trace = *state;
	struct hold hold = {0};
	struct event_id goal;

	write(trace, 1, X, 1);
	hold.held = last(trace, 1);
	op(trace, 0, OP_THREAD_JOIN, 0)->other = 1;
	goal = branch(trace, 0, read(trace, 0, X, 1), 1);
	hold.until = goal;
	assert_false(flips(trace, &hold, goal, NULL));
}

static void test_rehearsal__who_yields_gives_way_to_all(void **state)
{
	struct trace *trace = *state;
	struct hold hold = {.held = {0, 0}};
	struct event_id goal;

	/* Thread 0 would make the branch flip, but thread 1 does not get past its yield without it. */
	write(trace, 0, Y, 1);
	write(trace, 0, X, 1);
	(void)read(trace, 1, Y, 1);
	(void)op(trace, 1, OP_YIELD, 0);
	goal = branch(trace, 1, read(trace, 1, X, 1), 1);
	hold.held.index = 1;
	hold.until = goal;
	assert_false(flips(trace, &hold, goal, NULL));
}

static void test_rehearsal__sections_exclude_each_other(void **state)
{
	struct trace *trace = *state;
	struct hold hold = {.held = {0, 2}};
	struct event_id goal;

	(void)op(trace, 0, OP_MUTEX_LOCK, LOCK);
	write(trace, 0, X, 1);
	write(trace, 0, X, 2);
	(void)op(trace, 0, OP_MUTEX_UNLOCK, LOCK);
	(void)op(trace, 1, OP_MUTEX_LOCK, LOCK);
	goal = branch(trace, 1, read(trace, 1, X, 2), 2);
	hold.until = goal;
	(void)op(trace, 1, OP_MUTEX_UNLOCK, LOCK);
	assert_false(flips(trace, &hold, goal, NULL));
	hold.held.index = 0;
	assert_true(flips(trace, &hold, goal, NULL));
}

/* ---- chances ---- */

static void test_rehearsal__chances_are_taken_before_the_lock(void **state)
{
	struct trace *trace = *state;
	struct hold_list list = {0};
	struct rehearsal rehearsal;
	struct chances chances;
	struct order order;

	write(trace, 0, Y, 1);
	(void)op(trace, 0, OP_MUTEX_LOCK, LOCK);
	write(trace, 0, X, 1);
	(void)op(trace, 0, OP_MUTEX_UNLOCK, LOCK);
	(void)op(trace, 1, OP_MUTEX_LOCK, LOCK);
	(void)branch(trace, 1, read(trace, 1, X, 1), 1);
	(void)op(trace, 1, OP_MUTEX_UNLOCK, LOCK);
	order_build(&order, &trace->walk);
	rehearsal_open(&rehearsal, &order, false);
	chances_open(&chances, &rehearsal);
	assert_int_equal(chances.item_count, 1);
	/* The branch depends on what is read, which the write left there. */
	chances_add_behind(&chances, (struct event_id){1, 2}, &list);
	chances_sort(&chances, &list);
	assert_int_equal(list.count, 2);
	for (uint32_t i = 0; i < list.count; i++) {
		assert_int_equal(list.items[i].held.thread, 0);
		assert_int_equal(list.items[i].held.index, 1);
		assert_int_equal(list.items[i].until.index, 1);
		assert_int_equal(list.items[i].is_long, i);
	}
	free(list.items);
	chances_release(&chances);
	rehearsal_release(&rehearsal);
	order_release(&order);
}

static void test_rehearsal__what_is_ordered_is_no_chance(void **state)
{
	struct trace *trace = *state;
	struct rehearsal rehearsal;
	struct chances chances;
	struct order order;

	write(trace, 0, X, 1);
	op(trace, 0, OP_THREAD_CREATE, 0)->other = 1;
	(void)read(trace, 1, X, 1);
	order_build(&order, &trace->walk);
	rehearsal_open(&rehearsal, &order, false);
	chances_open(&chances, &rehearsal);
	assert_int_equal(chances.item_count, 0);
	chances_release(&chances);
	rehearsal_release(&rehearsal);
	order_release(&order);
}

/* Held at every access the threads go in step: nobody sees what the others have written. */
static void test_rehearsal__a_group_goes_in_step(void **state)
{
	struct trace *trace = *state;
	const struct hold hold = {.held = {0, 0}, .is_long = true, .group = 1};
	struct rehearsal rehearsal;
	struct chances chances;
	struct event_id goal, flipped;
	struct solution solution = {0};
	struct order order;

	(void)write_more(trace, 0, X, read(trace, 0, X, 0));
	(void)write_more(trace, 1, X, read(trace, 1, X, 1));
	goal = branch(trace, 2, read(trace, 2, X, 2), 2);
	order_build(&order, &trace->walk);
	rehearsal_open(&rehearsal, &order, false);
	chances_open(&chances, &rehearsal);
	assert_int_equal(chances.group_count, 1);
	rehearsal.groups = chances.groups;
	rehearsal.group_places = chances.group_places;
	rehearsal_begin(&rehearsal, &hold, 100);
	assert_true(rehearsal_next(&rehearsal, &flipped));
	assert_int_equal(flipped.thread, goal.thread);
	rehearsal_solution(&rehearsal, goal, &solution);
	assert_int_equal(solution.count, 3);
	for (uint16_t i = 0; i < 3; i++) {
		assert_int_equal(solution.segments[i].thread, i);
		assert_int_equal(solution.segments[i].count, 1);
	}
	rehearsal_end(&rehearsal);
	solution_release(&solution);
	chances_release(&chances);
	rehearsal_release(&rehearsal);
	order_release(&order);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(test_rehearsal__##name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(who_waits_sees_what_comes_later),
		CASE(an_update_may_be_lost),
		CASE(what_must_come_first_does),
		CASE(who_yields_gives_way_to_all),
		CASE(sections_exclude_each_other),
		CASE(chances_are_taken_before_the_lock),
		CASE(what_is_ordered_is_no_chance),
		CASE(a_group_goes_in_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
