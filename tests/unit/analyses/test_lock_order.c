/* Circles in the order of locks, and what keeps them from being one, on synthetic traces. */
#include "analyses/analysis.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/synthetic_run.h"
#include "trace/schedule_text.h"

static const struct trace_thread threads[] = {
	{.path = "main"}, {.path = "main.0"}, {.path = "main.1"}, {.path = "main.2"}};

static struct synthetic_run begin(void)
{
	return (struct synthetic_run){.threads = threads, .thread_count = 4};
}

/* All three threads are created at once: nothing orders them. */
static struct synthetic_run begin_together(void)
{
	struct synthetic_run run = begin();

	for (uint32_t i = 0; i < 3; i++)
		synthetic_add(&run, 0, OP_THREAD_CREATE, 0, 1);
	return run;
}

/* Takes one lock and, holding it, another; both are given up. */
static void nest(
	struct synthetic_run *run, uint16_t thread, uint32_t outer, uint32_t inner, uint32_t line)
{
	synthetic_add(run, thread, OP_MUTEX_LOCK, outer, line);
	synthetic_add(run, thread, OP_MUTEX_LOCK, inner, line + 1);
	synthetic_add(run, thread, OP_MUTEX_UNLOCK, inner, line + 2);
	synthetic_add(run, thread, OP_MUTEX_UNLOCK, outer, line + 3);
}

static void add(void *state, const struct synthetic_run *run, uint32_t number)
{
	struct trace_reader *reader;
	char *bytes;

	assert_int_equal(synthetic_open(run, &reader, &bytes), 0);
	assert_int_equal(analysis_lock_order.add_run(
				 state, reader, &(struct analysis_run){.number = number}, NULL),
		0);
	trace_reader_close(reader);
	free(bytes);
}

/* Finds the candidates of one or two runs; `second` NULL: one run. */
static struct candidates find(const struct synthetic_run *first, const struct synthetic_run *second)
{
	void *state = analysis_lock_order.begin(&(struct analysis_setting){0});
	struct candidates found = {0};

	add(state, first, 0);
	if (second)
		add(state, second, 1);
	analysis_lock_order.find(state, &found);
	analysis_lock_order.end(state);
	assert_false(found.is_cut);
	return found;
}

static uint32_t count(const struct synthetic_run *first, const struct synthetic_run *second)
{
	struct candidates found = find(first, second);
	const uint32_t number = found.count;

	candidates_release(&found);
	return number;
}

/* ---- circles ---- */

static void test_two_locks__in_opposite_orders_are_a_circle(void **unused)
{
	struct synthetic_run run = begin_together();
	struct candidates found;
	const struct candidate_location *location, *next;

	(void)unused;
	nest(&run, 1, 1, 2, 10);
	nest(&run, 2, 2, 1, 20);
	found = find(&run, NULL);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.items[0].location_count, 2);
	location = &found.items[0].locations[0];
	next = &found.items[0].locations[1];
	assert_int_equal(location->thread, thread_path_name("main.0"));
	assert_int_equal(next->thread, thread_path_name("main.1"));
	/* Each waits for what the other took. */
	assert_int_equal(location->op.object, 2);
	assert_int_equal(location->op.site, 0x401000 + 11);
	assert_int_equal(next->taken.object, 2);
	assert_int_equal(next->taken.site, 0x401000 + 20);
	assert_int_equal(next->op.object, 1);
	assert_int_equal(location->taken.object, 1);
	candidates_release(&found);
}

static void test_two_locks__in_one_order_are_none(void **unused)
{
	struct synthetic_run run = begin_together();

	(void)unused;
	nest(&run, 1, 1, 2, 10);
	nest(&run, 2, 1, 2, 20);
	assert_int_equal(count(&run, NULL), 0);
}

static void test_one_thread__cannot_wait_for_itself(void **unused)
{
	struct synthetic_run run = begin_together();

	(void)unused;
	nest(&run, 1, 1, 2, 10);
	nest(&run, 1, 2, 1, 20);
	assert_int_equal(count(&run, NULL), 0);
}

static void test_three_locks__are_a_circle_of_three(void **unused)
{
	struct synthetic_run run = begin_together();
	struct candidates found;

	(void)unused;
	nest(&run, 1, 1, 2, 10);
	nest(&run, 2, 2, 3, 20);
	nest(&run, 3, 3, 1, 30);
	found = find(&run, NULL);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.items[0].location_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(found.items[0].locations[i].op.object,
			found.items[0].locations[(i + 1) % 3].taken.object);
	candidates_release(&found);
}

static void test_orders__of_different_runs_close_one_circle(void **unused)
{
	struct synthetic_run first = begin_together(), second = begin_together();

	(void)unused;
	nest(&first, 1, 1, 2, 10);
	nest(&second, 2, 2, 1, 20);
	assert_int_equal(count(&first, NULL), 0);
	assert_int_equal(count(&first, &second), 1);
}

static void test_circles__of_equal_code_are_one_candidate(void **unused)
{
	struct synthetic_run run = begin_together();
	struct candidates found;

	(void)unused;
	/* Three philosophers: one line takes the left fork, one the right. */
	for (uint16_t i = 0; i < 3; i++)
		nest(&run, (uint16_t)(1 + i), 1u + i, 1u + (i + 1u) % 3, 10);
	/* Two of them also sit at another table. */
	nest(&run, 1, 7, 8, 10);
	nest(&run, 2, 8, 7, 10);
	found = find(&run, NULL);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.items[0].location_count, 2);
	assert_int_equal(found.items[0].times, 2);
	candidates_release(&found);
}

/* ---- facts that keep threads apart ---- */

static void test_gate__keeps_a_circle_from_closing(void **unused)
{
	struct synthetic_run run = begin_together();

	(void)unused;
	for (uint16_t thread = 1; thread <= 2; thread++) {
		synthetic_add(&run, thread, OP_MUTEX_LOCK, 9, 5);
		nest(&run, thread, thread, 3u - thread, 10u * thread);
		synthetic_add(&run, thread, OP_MUTEX_UNLOCK, 9, 6);
	}
	assert_int_equal(count(&run, NULL), 0);
	/* One that is only passed on the way is no gate. */
	run = begin_together();
	for (uint16_t thread = 1; thread <= 2; thread++) {
		synthetic_add(&run, thread, OP_MUTEX_LOCK, 9, 5);
		synthetic_add(&run, thread, OP_MUTEX_UNLOCK, 9, 6);
		nest(&run, thread, thread, 3u - thread, 10u * thread);
	}
	assert_int_equal(count(&run, NULL), 1);
}

static void test_gate__of_readers_keeps_nobody_apart(void **unused)
{
	for (int writes = 0; writes < 2; writes++) {
		struct synthetic_run run = begin_together();

		(void)unused;
		for (uint16_t thread = 1; thread <= 2; thread++) {
			synthetic_add(&run, thread,
				writes && thread == 2 ? OP_RWLOCK_WRLOCK : OP_RWLOCK_RDLOCK, 9, 5);
			nest(&run, thread, thread, 3u - thread, 10u * thread);
			synthetic_add(&run, thread, OP_RWLOCK_UNLOCK, 9, 6);
		}
		assert_int_equal(count(&run, NULL), writes ? 0 : 1);
	}
}

static void test_start__orders_a_child_after_earlier_steps(void **unused)
{
	struct synthetic_run run = begin();

	(void)unused;
	nest(&run, 0, 1, 2, 10);
	synthetic_add(&run, 0, OP_THREAD_CREATE, 0, 1);
	nest(&run, 1, 2, 1, 20);
	assert_int_equal(count(&run, NULL), 0);
	/* Later actions of the creator can meet the child. */
	nest(&run, 0, 1, 2, 10);
	assert_int_equal(count(&run, NULL), 1);
}

static void test_start__orders_across_runs(void **unused)
{
	struct synthetic_run first = begin(), second = begin();

	(void)unused;
	/* Each run shows one half, and in neither can it meet the other thread. */
	nest(&first, 0, 1, 2, 10);
	synthetic_add(&first, 0, OP_THREAD_CREATE, 0, 1);
	synthetic_add(&second, 0, OP_THREAD_CREATE, 0, 1);
	nest(&second, 1, 2, 1, 20);
	assert_int_equal(count(&first, &second), 0);
}

static void test_join__orders_later_steps(void **unused)
{
	struct synthetic_run run = begin();

	(void)unused;
	synthetic_add(&run, 0, OP_THREAD_CREATE, 0, 1);
	nest(&run, 1, 1, 2, 10);
	synthetic_end(&run, 1);
	synthetic_join(&run, 0, 1, 2);
	nest(&run, 0, 2, 1, 20);
	/* The join also orders threads that are created after it. */
	synthetic_add(&run, 0, OP_THREAD_CREATE, 0, 3);
	nest(&run, 2, 2, 1, 30);
	assert_int_equal(count(&run, NULL), 0);
}

/* ---- kinds of locks ---- */

static void nest_for(struct synthetic_run *run, uint16_t thread, enum op_kind outer,
	uint32_t outer_lock, enum op_kind inner, uint32_t inner_lock, uint32_t line)
{
	synthetic_add(run, thread, outer, outer_lock, line);
	synthetic_add(run, thread, inner, inner_lock, line + 1);
	synthetic_add(run, thread, OP_RWLOCK_UNLOCK, inner_lock, line + 2);
	synthetic_add(run, thread, OP_RWLOCK_UNLOCK, outer_lock, line + 3);
}

static void test_readers__do_not_wait_for_readers(void **unused)
{
	struct synthetic_run run = begin_together();

	(void)unused;
	nest_for(&run, 1, OP_RWLOCK_RDLOCK, 1, OP_RWLOCK_RDLOCK, 2, 10);
	nest_for(&run, 2, OP_RWLOCK_RDLOCK, 2, OP_RWLOCK_RDLOCK, 1, 20);
	assert_int_equal(count(&run, NULL), 0);
	/* A writer that holds nothing for writing while it waits closes no circle of readers. */
	run = begin_together();
	nest_for(&run, 1, OP_RWLOCK_RDLOCK, 1, OP_RWLOCK_WRLOCK, 2, 10);
	nest_for(&run, 2, OP_RWLOCK_RDLOCK, 2, OP_RWLOCK_RDLOCK, 1, 20);
	assert_int_equal(count(&run, NULL), 0);
	/* Writers wait for readers on both sides. */
	run = begin_together();
	nest_for(&run, 1, OP_RWLOCK_RDLOCK, 1, OP_RWLOCK_WRLOCK, 2, 10);
	nest_for(&run, 2, OP_RWLOCK_RDLOCK, 2, OP_RWLOCK_WRLOCK, 1, 20);
	assert_int_equal(count(&run, NULL), 1);
}

static void test_attempt__holds_but_does_not_wait(void **unused)
{
	struct synthetic_run run = begin_together();

	(void)unused;
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 1, 10);
	synthetic_add(&run, 1, OP_MUTEX_TRYLOCK, 2, 11);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 2, 12);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 1, 13);
	nest(&run, 2, 2, 1, 20);
	assert_int_equal(count(&run, NULL), 0);
	/* If the attempt is the outer acquisition, the other thread waits for its lock. */
	run = begin_together();
	synthetic_add(&run, 1, OP_MUTEX_TRYLOCK, 1, 10);
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 2, 11);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 2, 12);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 1, 13);
	nest(&run, 2, 2, 1, 20);
	assert_int_equal(count(&run, NULL), 1);
}

static void test_attempt__that_fails_holds_nothing(void **unused)
{
	struct synthetic_run run = begin_together();

	(void)unused;
	synthetic_add(&run, 3, OP_MUTEX_LOCK, 1, 5);
	synthetic_add(&run, 1, OP_MUTEX_TRYLOCK, 1, 10);
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 2, 11);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 2, 12);
	synthetic_add(&run, 3, OP_MUTEX_UNLOCK, 1, 6);
	nest(&run, 2, 2, 1, 20);
	assert_int_equal(count(&run, NULL), 0);
}

static void test_recursion__is_no_request(void **unused)
{
	struct synthetic_run run = begin_together();

	(void)unused;
	/* 1, then 2, then 1 again: 2 -> 1 is not an order. */
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 1, 10);
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 2, 11);
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 1, 12);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 1, 13);
	/* It is still held once. */
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 3, 14);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 3, 15);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 2, 16);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 1, 17);
	nest(&run, 2, 1, 2, 20);
	assert_int_equal(count(&run, NULL), 0);
	nest(&run, 2, 3, 1, 30);
	assert_int_equal(count(&run, NULL), 1);
}

static void test_wait__gives_its_mutex_up(void **unused)
{
	struct synthetic_run run = begin_together();

	(void)unused;
	/* While main.0 waits on 50 with mutex 1, another thread takes 1 and then 2. */
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 1, 10);
	synthetic_add(&run, 1, OP_COND_WAIT, 50, 11);
	nest(&run, 2, 1, 2, 20);
	synthetic_add(&run, 2, OP_COND_SIGNAL, 50, 25);
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 1, 11);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 1, 12);
	assert_int_equal(count(&run, NULL), 0);
	/* Reacquiring the mutex after a wait while holding 2 counts as a request. */
	run = begin_together();
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 2, 9);
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 1, 10);
	synthetic_add(&run, 1, OP_COND_WAIT, 50, 11);
	synthetic_add(&run, 2, OP_MUTEX_LOCK, 1, 20);
	synthetic_add(&run, 2, OP_COND_SIGNAL, 50, 21);
	synthetic_add(&run, 2, OP_MUTEX_UNLOCK, 1, 22);
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 1, 11);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 1, 12);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 2, 13);
	nest(&run, 2, 1, 2, 30);
	assert_true(count(&run, NULL) >= 1);
}

static void test_join__while_holding_what_the_thread_wants(void **unused)
{
	struct synthetic_run run = begin();
	struct candidates found;

	(void)unused;
	synthetic_add(&run, 0, OP_THREAD_CREATE, 0, 1);
	synthetic_add(&run, 1, OP_MUTEX_LOCK, 1, 10);
	synthetic_add(&run, 1, OP_MUTEX_UNLOCK, 1, 11);
	synthetic_end(&run, 1);
	synthetic_add(&run, 0, OP_MUTEX_LOCK, 1, 20);
	synthetic_join(&run, 0, 1, 21);
	synthetic_add(&run, 0, OP_MUTEX_UNLOCK, 1, 22);
	found = find(&run, NULL);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.items[0].location_count, 2);
	candidates_release(&found);
	/* Another lock does not count. */
	run.events[1].object = run.events[2].object = 2;
	run.events[1].address = run.events[2].address = 0x9000;
	assert_int_equal(count(&run, NULL), 0);
}

static void test_damaged_trace__is_an_error(void **unused)
{
	struct synthetic_run run = begin_together();
	void *state = analysis_lock_order.begin(&(struct analysis_setting){0});
	struct trace_reader *reader;
	struct error err;
	size_t cut = 100;
	char *bytes;

	(void)unused;
	nest(&run, 1, 1, 2, 10);
	assert_int_equal(synthetic_open(&run, &reader, &bytes), 0);
	trace_reader_close(reader);
	/* The trace is truncated after the list of threads. */
	while (trace_reader_open(&reader, bytes, cut, "cut", &err) < 0)
		cut++;
	assert_true(
		analysis_lock_order.add_run(state, reader, &(struct analysis_run){0}, &err) < 0);
	trace_reader_close(reader);
	analysis_lock_order.end(state);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_locks__in_opposite_orders_are_a_circle),
		cmocka_unit_test(test_two_locks__in_one_order_are_none),
		cmocka_unit_test(test_one_thread__cannot_wait_for_itself),
		cmocka_unit_test(test_three_locks__are_a_circle_of_three),
		cmocka_unit_test(test_orders__of_different_runs_close_one_circle),
		cmocka_unit_test(test_circles__of_equal_code_are_one_candidate),
		cmocka_unit_test(test_gate__keeps_a_circle_from_closing),
		cmocka_unit_test(test_gate__of_readers_keeps_nobody_apart),
		cmocka_unit_test(test_start__orders_a_child_after_earlier_steps),
		cmocka_unit_test(test_start__orders_across_runs),
		cmocka_unit_test(test_join__orders_later_steps),
		cmocka_unit_test(test_readers__do_not_wait_for_readers),
		cmocka_unit_test(test_attempt__holds_but_does_not_wait),
		cmocka_unit_test(test_attempt__that_fails_holds_nothing),
		cmocka_unit_test(test_recursion__is_no_request),
		cmocka_unit_test(test_wait__gives_its_mutex_up),
		cmocka_unit_test(test_join__while_holding_what_the_thread_wants),
		cmocka_unit_test(test_damaged_trace__is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
