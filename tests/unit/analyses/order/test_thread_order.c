/* The order of epochs that holds in every run. */
#include "analyses/order/thread_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/op.h"
#include "trace/schedule_text.h"

static const struct trace_thread threads[] = {
	{.path = "main"}, {.path = "main.0"}, {.path = "main.0.0"}, {.path = "main.1"}};
static const struct trace_run run = {.threads = threads, .thread_count = 4};

static void step(struct thread_order *order, uint16_t thread, enum op_kind kind, uint64_t address)
{
	const struct trace_event event = {
		.thread = thread, .kind = (uint8_t)kind, .address = address};

	thread_order_add(order, &event);
}

static void test_epochs__follow_creation_and_join(void **unused)
{
	struct thread_order *order = thread_order_new(&run);
	const struct epoch *first = thread_order_epoch(order, 0);
	const struct epoch *created, *grandchild, *during, *after;

	(void)unused;
	step(order, 0, OP_THREAD_CREATE, 0);
	created = thread_order_epoch(order, 1);
	assert_false(epochs_overlap(first, created));
	during = thread_order_epoch(order, 0);
	assert_true(epochs_overlap(during, created));
	/* Creation is passed on: the grandchild is after the first epoch of main, too. */
	step(order, 1, OP_THREAD_CREATE, 0);
	grandchild = thread_order_epoch(order, 2);
	assert_false(epochs_overlap(first, grandchild));
	assert_false(epochs_overlap(created, grandchild));
	assert_true(epochs_overlap(during, grandchild));
	assert_true(epochs_overlap(thread_order_epoch(order, 1), grandchild));
	/* A join is passed on, too: of main.0, but not of the thread that main.0 left behind. */
	step(order, 1, OP_THREAD_EXIT, 0x700);
	step(order, 0, OP_THREAD_JOIN, 0x700);
	after = thread_order_epoch(order, 0);
	assert_false(epochs_overlap(created, after));
	assert_true(epochs_overlap(grandchild, after));
	/* A thread that is created after the join is after all of main.0. */
	step(order, 0, OP_THREAD_CREATE, 0);
	assert_false(epochs_overlap(created, thread_order_epoch(order, 3)));
	assert_true(epochs_overlap(grandchild, thread_order_epoch(order, 3)));
	thread_order_free(order);
}

static void test_epochs__of_different_runs_ask_either_run(void **unused)
{
	struct thread_order *one = thread_order_new(&run), *other = thread_order_new(&run);
	const struct epoch *before = thread_order_epoch(one, 0);

	(void)unused;
	step(one, 0, OP_THREAD_CREATE, 0);
	step(other, 0, OP_THREAD_CREATE, 0);
	assert_false(epochs_overlap(before, thread_order_epoch(other, 1)));
	assert_true(epochs_overlap(thread_order_epoch(one, 0), thread_order_epoch(other, 1)));
	/* One and the same thread in two runs. */
	assert_true(thread_order_find(one, thread_path_name("main.1")) == 3);
	assert_true(thread_order_find(one, thread_path_name("main.7")) == THREAD_CAPACITY);
	thread_order_free(one);
	thread_order_free(other);
}

static void wait_step(
	struct thread_order *order, uint16_t thread, enum op_kind kind, uint64_t address)
{
	const struct trace_event event = {
		.thread = thread, .kind = (uint8_t)kind, .address = address};

	thread_order_add_waits(order, &event);
}

static void test_waits__order_the_signalled_thread(void **unused)
{
	struct thread_order *order = thread_order_new(&run);
	const struct epoch *before, *other;

	(void)unused;
	/* A signal orders the woken thread, not threads that reach the condition variable later. */
	before = thread_order_epoch(order, 1);
	other = thread_order_epoch(order, 2);
	wait_step(order, 3, OP_COND_WAIT, 0x10);
	wait_step(order, 1, OP_COND_SIGNAL, 0x10);
	wait_step(order, 3, OP_MUTEX_LOCK, 0x20);
	wait_step(order, 2, OP_COND_WAIT, 0x10);
	wait_step(order, 2, OP_MUTEX_LOCK, 0x20);
	assert_true(epoch_is_before(before, thread_order_epoch(order, 3)));
	assert_false(epoch_is_before(before, thread_order_epoch(order, 2)));
	assert_false(epoch_is_before(other, thread_order_epoch(order, 3)));
	/* A wait that no signal ended is not ordered. */
	wait_step(order, 2, OP_COND_WAIT, 0x10);
	wait_step(order, 1, OP_COND_SIGNAL, 0x30);
	wait_step(order, 2, OP_COND_WAKE, 0x10);
	assert_false(epoch_is_before(before, thread_order_epoch(order, 2)));
	/* Locks give no order, semaphores do, and the order is passed on. */
	wait_step(order, 1, OP_MUTEX_UNLOCK, 0x40);
	wait_step(order, 2, OP_MUTEX_LOCK, 0x40);
	assert_false(epoch_is_before(before, thread_order_epoch(order, 2)));
	wait_step(order, 3, OP_SEM_POST, 0x50);
	wait_step(order, 2, OP_SEM_WAIT, 0x50);
	assert_true(epoch_is_before(before, thread_order_epoch(order, 2)));
	/* Ops after the signal are not before the woken thread. */
	assert_false(epoch_is_before(thread_order_epoch(order, 1), thread_order_epoch(order, 2)));
	thread_order_free(order);
}

static void test_waits__order_at_barriers(void **unused)
{
	struct thread_order *order = thread_order_new(&run);
	const struct epoch *one = thread_order_epoch(order, 1);
	const struct epoch *other = thread_order_epoch(order, 3);

	(void)unused;
	wait_step(order, 1, OP_BARRIER_ARRIVE, 0x10);
	wait_step(order, 3, OP_BARRIER_ARRIVE, 0x10);
	assert_false(epoch_is_before(other, thread_order_epoch(order, 1)));
	wait_step(order, 1, OP_BARRIER_LEAVE, 0x10);
	wait_step(order, 3, OP_BARRIER_LEAVE, 0x10);
	assert_true(epoch_is_before(other, thread_order_epoch(order, 1)));
	assert_true(epoch_is_before(one, thread_order_epoch(order, 3)));
	thread_order_free(order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits__order_the_signalled_thread),
		cmocka_unit_test(test_waits__order_at_barriers),
		cmocka_unit_test(test_epochs__follow_creation_and_join),
		cmocka_unit_test(test_epochs__of_different_runs_ask_either_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
