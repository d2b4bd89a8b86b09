/* Finds the wait on a condition variable that has lost its signal, among several waits, and the
 * reason. */
#include "findings/describe/signals.h"

#include "build_scene.h"

enum { MUTEX = 0x100, WORK = 0x200, DONE = 0x300, FLAG = 0x400 };

/* Locations of waits. */
enum { WAIT_FULL = 11, WAIT_EMPTY = 12, ELSEWHERE = 13 };

static void add_cond_wait(struct scene *scene, uint16_t thread, uint64_t cond, uint64_t site)
{
	struct wait_edge *edge = &scene->outcome.waits[scene->outcome.wait_count];

	add_wait(scene, thread, UINT16_MAX, cond);
	edge->op = OP_COND_WAKE;
	edge->is_on_cycle = 0;
	edge->site = site;
	edge->holder_site = 0;
}

static void add_join(struct scene *scene, uint16_t thread, uint16_t joined)
{
	add_wait(scene, thread, joined, 0);
	scene->outcome.waits[scene->outcome.wait_count - 1].op = OP_THREAD_JOIN;
	scene->outcome.waits[scene->outcome.wait_count - 1].is_on_cycle = 0;
}

static void lock_and_wait(struct scene *scene, uint16_t thread, uint64_t cond, uint64_t site)
{
	add_event(scene, thread, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, thread, OP_COND_WAIT, cond, site);
}

static void expect(struct scene *scene, uint16_t thread, enum signal_loss loss)
{
	struct signal_history history;
	const uint32_t culprit = signal_history_culprit(&scene->source, NULL, &history);

	assert_int_not_equal(culprit, UINT32_MAX);
	assert_int_equal(scene->outcome.waits[culprit].waiter.index, thread);
	assert_int_equal(history.loss, loss);
}

/* A signal is meant for a reader and wakes a writer, which waits again. */
static void test_culprit__is_who_waits_elsewhere_than_the_woken(void **state)
{
	struct scene *scene = *state;

	lock_and_wait(scene, 1, WORK, WAIT_FULL);
	lock_and_wait(scene, 2, WORK, WAIT_EMPTY);
	add_event(scene, 3, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 3, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 3, OP_MUTEX_UNLOCK, MUTEX, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, WAIT_FULL);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_FULL);
	add_join(scene, 0, 1);
	add_cond_wait(scene, 1, WORK, WAIT_FULL);
	add_cond_wait(scene, 2, WORK, WAIT_EMPTY);
	expect(scene, 2, SIGNAL_WOKE_WRONG);
}

/* An idle worker waits for work; main waits for a signal that was sent before. */
static void test_culprit__is_no_idle_worker(void **state)
{
	struct scene *scene = *state;

	lock_and_wait(scene, 1, WORK, WAIT_EMPTY);
	add_event(scene, 0, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 0, OP_MUTEX_UNLOCK, MUTEX, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, WAIT_EMPTY);
	add_event(scene, 1, OP_COND_SIGNAL, DONE, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_UNLOCK, MUTEX, ELSEWHERE);
	lock_and_wait(scene, 1, WORK, WAIT_EMPTY);
	lock_and_wait(scene, 0, DONE, ELSEWHERE);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 0, DONE, ELSEWHERE);
	expect(scene, 0, SIGNAL_BEFORE_WAIT);
}

/* The same with a worker that was not waiting when work arrived, but has tested for it since. */
static void test_culprit__is_no_worker_that_has_looked_since(void **state)
{
	struct scene *scene = *state;

	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_UNLOCK, MUTEX, ELSEWHERE);
	lock_and_wait(scene, 1, WORK, WAIT_EMPTY);
	lock_and_wait(scene, 0, DONE, ELSEWHERE);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 0, DONE, ELSEWHERE);
	expect(scene, 0, SIGNAL_NEVER_SENT);
}

/* Two have lost the same broadcast; main joins the second. */
static void test_culprit__is_who_others_depend_on(void **state)
{
	struct scene *scene = *state;

	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 0, OP_COND_BROADCAST, WORK, ELSEWHERE);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_EMPTY);
	add_event(scene, 2, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 0, OP_COND_BROADCAST, WORK, ELSEWHERE);
	add_event(scene, 2, OP_COND_WAIT, WORK, WAIT_FULL);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, WAIT_EMPTY);
	add_event(scene, 0, OP_COND_BROADCAST, WORK, ELSEWHERE);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 2, WORK, WAIT_FULL);
	add_join(scene, 0, 2);
	expect(scene, 2, SIGNAL_BEHIND_TEST);
}

/* The waiter loses the broadcast of main while it has released its mutex, and then broadcasts itself. */
static void test_history__passes_over_the_waiters_own_signal(void **state)
{
	struct scene *scene = *state;
	struct signal_history history;

	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_UNLOCK, MUTEX, ELSEWHERE);
	add_event(scene, 0, OP_COND_BROADCAST, WORK, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 1, OP_COND_BROADCAST, WORK, ELSEWHERE);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	assert_true(signal_history_find(&scene->source, &scene->outcome.waits[0], NULL, &history));
	assert_int_equal(history.loss, SIGNAL_BEFORE_WAIT);
	assert_int_equal(history.signal, 2);
	assert_int_equal(history.unreceived, 1);
}

static void add_access(struct scene *scene, uint16_t thread, enum op_kind kind)
{
	add_event(scene, thread, kind, FLAG, ELSEWHERE);
	scene->events[scene->source.event_count - 1].bytes = 4;
}

/* The flag is read, set without the lock, signalled, and then waited for. */
static void test_history__finds_test_and_change(void **state)
{
	struct scene *scene = *state;
	struct signal_history history;

	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_access(scene, 1, OP_LOAD);
	add_access(scene, 0, OP_STORE);
	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	assert_true(signal_history_find(&scene->source, &scene->outcome.waits[0], NULL, &history));
	assert_int_equal(history.loss, SIGNAL_BEHIND_TEST);
	assert_int_equal(history.lock, 0);
	assert_int_equal(history.test, 1);
	assert_int_equal(history.change, 2);
	assert_int_equal(history.signal, 3);
	assert_int_equal(history.wait, 4);
	assert_int_equal(history.waiting, 0);
}

static void set_flag(struct scene *scene, uint16_t thread, uint64_t site)
{
	add_event(scene, thread, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, thread, OP_STORE, FLAG, site);
	scene->events[scene->source.event_count - 1].bytes = 4;
	add_event(scene, thread, OP_MUTEX_UNLOCK, MUTEX, ELSEWHERE);
}

/* The same code signals and then sets the flag, twice. */
static void test_history__finds_a_change_after_the_signal(void **state)
{
	struct scene *scene = *state;
	struct signal_history history;

	add_event(scene, 1, OP_THREAD_BEGIN, 0, ELSEWHERE);
	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	set_flag(scene, 0, WAIT_FULL);
	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_access(scene, 1, OP_LOAD);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_EMPTY);
	set_flag(scene, 0, WAIT_FULL);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	assert_true(signal_history_find(&scene->source, &scene->outcome.waits[0], NULL, &history));
	assert_int_equal(history.loss, SIGNAL_BEFORE_CHANGE);
	assert_int_equal(history.late, 10);
}

/* The signaller announces a change, and takes it back by other code before the waiter has seen it. */
static void test_history__does_not_blame_a_signaller_that_helps(void **state)
{
	struct scene *scene = *state;
	struct signal_history history;

	add_event(scene, 1, OP_THREAD_BEGIN, 0, ELSEWHERE);
	set_flag(scene, 0, WAIT_FULL);
	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_access(scene, 1, OP_LOAD);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_EMPTY);
	set_flag(scene, 0, WAIT_EMPTY);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	assert_true(signal_history_find(&scene->source, &scene->outcome.waits[0], NULL, &history));
	assert_int_not_equal(history.loss, SIGNAL_BEFORE_CHANGE);
}

/* The change lies in the critical section of the signal, and the waiter sees both. */
static void test_history__accepts_a_change_before_the_unlock(void **state)
{
	struct scene *scene = *state;
	struct signal_history history;

	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_access(scene, 1, OP_LOAD);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_EMPTY);
	add_event(scene, 0, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_access(scene, 0, OP_STORE);
	add_event(scene, 0, OP_MUTEX_UNLOCK, MUTEX, ELSEWHERE);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	assert_true(signal_history_find(&scene->source, &scene->outcome.waits[0], NULL, &history));
	assert_int_not_equal(history.loss, SIGNAL_BEFORE_CHANGE);
}

/* Two signals are sent between test and wait; the earlier one belongs to the change that the waiter had tested. */
static void test_history__prefers_the_signal_of_the_tested_variable(void **state)
{
	struct scene *scene = *state;
	struct signal_history history;

	add_event(scene, 2, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_access(scene, 1, OP_LOAD);
	add_access(scene, 0, OP_STORE);
	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 2, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	assert_true(signal_history_find(&scene->source, &scene->outcome.waits[0], NULL, &history));
	assert_int_equal(history.loss, SIGNAL_BEHIND_TEST);
	assert_int_equal(history.change, 3);
	assert_int_equal(history.signal, 4);
	assert_int_equal(history.unreceived, 2);
}

/* The usual signal behind the critical section is late, for a thread that has seen the change. */
static void test_history__takes_a_late_signal_for_no_loss(void **state)
{
	struct scene *scene = *state;
	struct signal_history history;

	add_event(scene, 0, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 0, OP_MUTEX_UNLOCK, MUTEX, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_UNLOCK, MUTEX, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	assert_true(signal_history_find(&scene->source, &scene->outcome.waits[0], NULL, &history));
	assert_int_not_equal(history.loss, SIGNAL_BEHIND_TEST);
}

/* No signal was lost for a thread that reads the signaller's change after the signal, and then waits. */
static void test_history__knows_a_test_behind_the_signal(void **state)
{
	struct scene *scene = *state;
	struct signal_history history;

	add_access(scene, 0, OP_STORE);
	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	add_event(scene, 1, OP_MUTEX_LOCK, MUTEX, ELSEWHERE);
	add_access(scene, 1, OP_LOAD);
	add_event(scene, 1, OP_COND_WAIT, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	assert_true(signal_history_find(&scene->source, &scene->outcome.waits[0], NULL, &history));
	assert_int_equal(history.loss, SIGNAL_SERVED_OTHERS);
	assert_int_equal(signal_history_culprit(&scene->source, NULL, &history), UINT32_MAX);
}

/* Without a read, a wait with a predicate is a test. */
static void test_history__knows_a_wait_with_a_predicate(void **state)
{
	struct scene *scene = *state;
	struct finding_frame frame = {
		.function = (char[]){"std::condition_variable::wait<lambda>"}};
	struct finding_wait blocked = {.at = {.frames = &frame, .count = 1}};
	struct signal_history history;

	add_event(scene, 0, OP_COND_SIGNAL, WORK, ELSEWHERE);
	lock_and_wait(scene, 1, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	assert_true(
		signal_history_find(&scene->source, &scene->outcome.waits[0], &blocked, &history));
	assert_int_equal(history.loss, SIGNAL_SERVED_OTHERS);
	/* An inlined call. */
	frame = (struct finding_frame){.function = (char[]){"wait<main()::<lambda()> >"},
		.file = (char[]){"/usr/include/c++/12/condition_variable"}};
	assert_true(
		signal_history_find(&scene->source, &scene->outcome.waits[0], &blocked, &history));
	assert_int_equal(history.loss, SIGNAL_SERVED_OTHERS);
	frame.function = (char[]){"wait<std::unique_lock<std::mutex> >"};
	assert_true(
		signal_history_find(&scene->source, &scene->outcome.waits[0], &blocked, &history));
	assert_int_equal(history.loss, SIGNAL_BEFORE_WAIT);
	frame.function = (char[]){"std::condition_variable::wait"};
	assert_true(
		signal_history_find(&scene->source, &scene->outcome.waits[0], &blocked, &history));
	assert_int_equal(history.loss, SIGNAL_BEFORE_WAIT);
}

static void test_history__needs_the_end_of_the_run(void **state)
{
	struct scene *scene = *state;
	struct signal_history history;

	lock_and_wait(scene, 1, WORK, WAIT_EMPTY);
	add_cond_wait(scene, 1, WORK, WAIT_EMPTY);
	scene->source.events_dropped = 1;
	assert_int_equal(signal_history_culprit(&scene->source, NULL, &history), UINT32_MAX);
	scene->source.event_count = 0;
	assert_false(signal_history_find(&scene->source, &scene->outcome.waits[0], NULL, &history));
}

#define WITH_SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_SCENE(test_culprit__is_who_waits_elsewhere_than_the_woken),
		WITH_SCENE(test_culprit__is_no_idle_worker),
		WITH_SCENE(test_culprit__is_no_worker_that_has_looked_since),
		WITH_SCENE(test_culprit__is_who_others_depend_on),
		WITH_SCENE(test_history__passes_over_the_waiters_own_signal),
		WITH_SCENE(test_history__finds_test_and_change),
		WITH_SCENE(test_history__finds_a_change_after_the_signal),
		WITH_SCENE(test_history__does_not_blame_a_signaller_that_helps),
		WITH_SCENE(test_history__accepts_a_change_before_the_unlock),
		WITH_SCENE(test_history__prefers_the_signal_of_the_tested_variable),
		WITH_SCENE(test_history__takes_a_late_signal_for_no_loss),
		WITH_SCENE(test_history__knows_a_test_behind_the_signal),
		WITH_SCENE(test_history__knows_a_wait_with_a_predicate),
		WITH_SCENE(test_history__needs_the_end_of_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
