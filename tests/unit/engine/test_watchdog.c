/* Watchdogs of the program: the finding is the threads that are blocked, and names the watchdog. */
#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine_internal.h"
#include "engine/sync.h"
#include "support/simulation.h"

#define SECOND UINT64_C(1000000000)

static struct {
	struct mutex left, right;
	bool has_cycle;
} scene;

static void sleep_for(uint64_t ns)
{
	struct engine_op op = {
		.kind = OP_SLEEP, .is_timeout_only = true, .deadline_ns = engine_clock_ns() + ns};

	(void)engine_perform(&op);
}

static void lock_both(struct mutex *one, struct mutex *other)
{
	(void)mutex_lock(one, ENGINE_FOREVER, 1);
	if (scene.has_cycle) /* both threads hold a mutex behind this */
		sleep_for(SECOND);
	(void)mutex_lock(other, ENGINE_FOREVER, 2);
	(void)mutex_unlock(other, 3);
	(void)mutex_unlock(one, 4);
}

static void *lock_left_first(void *unused)
{
	lock_both(&scene.left, &scene.right);
	return unused;
}

static void *lock_right_first(void *unused)
{
	lock_both(&scene.right, &scene.left);
	return unused;
}

static void watch_by_sleep(void *unused)
{
	(void)unused;
	(void)simulation_create(lock_left_first, NULL);
	(void)simulation_create(lock_right_first, NULL);
	sleep_for(30 * SECOND);
	engine_exited(4);
}

/* Stands for SIGALRM: the run ends inside the wait of the host, after time has passed. */
static bool end_after_30_seconds(uint64_t deadline_ns)
{
	if (deadline_ns != ENGINE_FOREVER)
		return false;
	engine_clock_advance_to(30 * SECOND);
	engine_exited(3);
}

static void watch_by_alarm(void *unused)
{
	struct engine_thread *threads[2];

	(void)unused;
	engine.host.wait_outside = end_after_30_seconds;
	threads[0] = simulation_create(lock_left_first, NULL);
	threads[1] = simulation_create(lock_right_first, NULL);
	(void)simulation_join(threads[0]);
	(void)simulation_join(threads[1]);
}

static const struct outcome *run(void (*program)(void *), bool has_cycle)
{
	static const struct simulation simulation;

	memset(&scene, 0, sizeof scene);
	scene.has_cycle = has_cycle;
	return simulate(&simulation, program, NULL);
}

static void test_watchdog__is_named_where_a_thread_sleeps(void **state)
{
	const struct outcome *outcome = run(watch_by_sleep, true);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_DEADLOCK);
	assert_int_equal(outcome->wait_count, 2);
	assert_non_null(strstr(outcome->text, "a watchdog ended the run: main exited with status 4 "
					      "at 30.0 s of virtual time"));
}

static void test_watchdog__is_named_where_an_alarm_ends_the_run(void **state)
{
	const struct outcome *outcome = run(watch_by_alarm, true);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_DEADLOCK);
	assert_true(outcome->waits[0].is_on_cycle || outcome->waits[1].is_on_cycle);
	assert_non_null(strstr(outcome->text, "a watchdog ended the run"));
}

/* If no thread is blocked, the exit status is the failure. */
static void test_watchdog__is_none_where_no_thread_is_blocked(void **state)
{
	(void)state;
	assert_int_equal(run(watch_by_sleep, false)->kind, OUTCOME_EXIT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_watchdog__is_named_where_a_thread_sleeps),
		cmocka_unit_test(test_watchdog__is_named_where_an_alarm_ends_the_run),
		cmocka_unit_test(test_watchdog__is_none_where_no_thread_is_blocked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
