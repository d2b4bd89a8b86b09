/* The queue of pending signals and the ring in front of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/libc/signals/signal_queue.c"

struct runtime runtime; /* outside of any run */

void runtime_note_feature(enum feature feature)
{
	(void)feature;
}

/* The process has no children. */
bool family_had_member(int pid)
{
	(void)pid;
	return false;
}

static struct engine_thread thread;

/* Signals of these tests are never a timer's. */
void posix_timer_was_taken(siginfo_t *information)
{
	(void)information;
}

static int set_up(void **state)
{
	(void)state;
	signal_queue_clear();
	thread = (struct engine_thread){0};
	return 0;
}

static siginfo_t numbered(int signal, int number)
{
	siginfo_t information = {.si_signo = signal, .si_code = SI_QUEUE};

	information.si_value.sival_int = number;
	return information;
}

static int add(struct engine_thread *receiver, int signal, int number)
{
	siginfo_t information = numbered(signal, number);

	return signal_queue_add(receiver, &information);
}

static void arrive(struct engine_thread *receiver, int signal, int number)
{
	siginfo_t information = numbered(signal, number);

	signal_arrive(receiver, &information);
}

static void test_signal_queue__standard_signals_are_pending_once(void **state)
{
	siginfo_t out;

	(void)state;
	assert_int_equal(add(NULL, SIGUSR1, 1), 0);
	assert_int_equal(add(NULL, SIGUSR1, 2), 0);
	assert_true(signal_queue_process() == signal_bit(SIGUSR1));
	assert_true(signal_queue_take_process(SIGUSR1, &out));
	assert_int_equal(out.si_value.sival_int, 1);
	assert_false(signal_queue_take_process(SIGUSR1, &out));
	assert_true(signal_queue_process() == 0);
}

static void test_signal_queue__realtime_signals_keep_number_and_order(void **state)
{
	siginfo_t out;

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(add(NULL, 40, i), 0);
	for (int i = 0; i < 5; i++) {
		assert_true(signal_queue_process() & signal_bit(40));
		assert_true(signal_queue_take_process(40, &out));
		assert_int_equal(out.si_value.sival_int, i);
	}
	assert_true(signal_queue_process() == 0);
}

static void test_signal_queue__threads_and_process_are_apart(void **state)
{
	siginfo_t out;

	(void)state;
	assert_int_equal(add(&thread, SIGUSR1, 1), 0);
	assert_true(thread.signals_pending == signal_bit(SIGUSR1));
	assert_true(signal_queue_process() == 0);
	assert_false(signal_queue_take_process(SIGUSR1, &out));
	assert_int_equal(add(NULL, SIGUSR1, 2), 0);
	assert_true(signal_queue_take(&thread, SIGUSR1, &out));
	assert_int_equal(out.si_value.sival_int, 1);
	assert_true(thread.signals_pending == 0);
	signal_queue_assign(SIGUSR1, &thread);
	assert_true(thread.signals_pending == signal_bit(SIGUSR1));
	assert_true(signal_queue_process() == 0);
}

static void test_signal_queue__assigned_signals_stay_the_process_s(void **state)
{
	siginfo_t out;

	(void)state;
	assert_int_equal(add(NULL, SIGUSR1, 1), 0);
	assert_int_equal(add(&thread, SIGUSR2, 2), 0);
	signal_queue_assign(SIGUSR1, &thread);
	assert_int_equal(add(NULL, SIGUSR1, 3), 0); /* one is pending already */
	assert_true(signal_queue_process() == 0);
	assert_false(signal_queue_return(&thread, signal_bit(SIGTERM)));
	assert_true(signal_queue_return(&thread, signal_bit(SIGUSR1) | signal_bit(SIGUSR2)));
	assert_true(signal_queue_process() == signal_bit(SIGUSR1));
	assert_true(thread.signals_pending == signal_bit(SIGUSR2));
	assert_true(signal_queue_take_process(SIGUSR1, &out));
	assert_int_equal(out.si_value.sival_int, 1);
}

static void test_signal_queue__forgets_only_what_a_thread_was_sent(void **state)
{
	siginfo_t out;

	(void)state;
	assert_int_equal(add(&thread, SIGUSR2, 1), 0);
	assert_int_equal(add(NULL, SIGUSR1, 2), 0);
	assert_int_equal(add(&thread, 40, 3), 0);
	signal_queue_forget(&thread);
	assert_true(thread.signals_pending == 0);
	assert_false(signal_queue_take(&thread, 40, &out));
	assert_true(signal_queue_take_process(SIGUSR1, &out));
	assert_int_equal(out.si_value.sival_int, 2);
}

static void test_signal_queue__full_queue_refuses(void **state)
{
	(void)state;
	for (int i = 0; i < QUEUE_SIZE; i++)
		assert_int_equal(add(NULL, 40, i), 0);
	assert_int_equal(add(NULL, 40, QUEUE_SIZE), EAGAIN);
}

static void test_signal_queue__arrived_signals_are_drained_in_order(void **state)
{
	siginfo_t out;

	(void)state;
	assert_false(signals_arrived());
	arrive(NULL, 40, 1);
	arrive(&thread, SIGPIPE, 2);
	arrive(NULL, 40, 3);
	assert_true(signals_arrived());
	assert_true(signal_queue_process() == 0);
	signal_queue_drain();
	assert_false(signals_arrived());
	assert_true(thread.signals_pending == signal_bit(SIGPIPE));
	assert_true(signal_queue_take_process(40, &out));
	assert_int_equal(out.si_value.sival_int, 1);
	assert_true(signal_queue_take_process(40, &out));
	assert_int_equal(out.si_value.sival_int, 3);
}

static void test_signal_queue__full_ring_forgets_detail_not_signals(void **state)
{
	(void)state;
	for (int i = 0; i < RING_SIZE; i++)
		arrive(NULL, SIGUSR1, i);
	arrive(NULL, SIGUSR2, 0);
	signal_queue_drain();
	assert_true(signal_queue_process() == (signal_bit(SIGUSR1) | signal_bit(SIGUSR2)));
	/* The ring is usable again. */
	arrive(NULL, SIGTERM, 0);
	signal_queue_drain();
	assert_true(signal_queue_process() & signal_bit(SIGTERM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			test_signal_queue__standard_signals_are_pending_once, set_up),
		cmocka_unit_test_setup(
			test_signal_queue__realtime_signals_keep_number_and_order, set_up),
		cmocka_unit_test_setup(test_signal_queue__threads_and_process_are_apart, set_up),
		cmocka_unit_test_setup(
			test_signal_queue__assigned_signals_stay_the_process_s, set_up),
		cmocka_unit_test_setup(
			test_signal_queue__forgets_only_what_a_thread_was_sent, set_up),
		cmocka_unit_test_setup(test_signal_queue__full_queue_refuses, set_up),
		cmocka_unit_test_setup(
			test_signal_queue__arrived_signals_are_drained_in_order, set_up),
		cmocka_unit_test_setup(
			test_signal_queue__full_ring_forgets_detail_not_signals, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
