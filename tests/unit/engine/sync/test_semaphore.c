/* Semaphores: values, limits, waits. */
#include "engine/sync.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulation.h"

#define MICROSECOND UINT64_C(1000)

struct scene {
	struct semaphore semaphore;
	int inside;
	int inside_most;
	int result[6];
};

static struct scene scene;
static const struct simulation plain;

static void clear(void *argument)
{
	memset(argument, 0, sizeof scene);
}

static void expect_pass(const struct outcome *outcome)
{
	assert_int_equal(outcome->kind, OUTCOME_PASSED);
}

static void reach_the_limits(void *argument)
{
	struct scene *s = argument;

	s->result[0] = semaphore_init(&s->semaphore, (uint32_t)SEM_VALUE_MAX + 1, false);
	s->result[1] = semaphore_init(&s->semaphore, SEM_VALUE_MAX, false);
	s->result[2] = semaphore_post(&s->semaphore, 1);
	s->result[3] = semaphore_trywait(&s->semaphore, 1);
	s->semaphore.value = 0;
	s->result[4] = semaphore_trywait(&s->semaphore, 1);
	s->result[5] = semaphore_wait(&s->semaphore, MICROSECOND, 1);
}

static void test_limits__are_answered_with_posix_errors(void **state)
{
	const struct outcome *outcome;

	(void)state;
	clear(&scene);
	outcome = simulate(&plain, reach_the_limits, &scene);
	expect_pass(outcome);
	assert_int_equal(scene.result[0], EINVAL);
	assert_int_equal(scene.result[1], 0);
	assert_int_equal(scene.result[2], EOVERFLOW);
	assert_int_equal(scene.result[3], 0);
	assert_int_equal(scene.result[4], EAGAIN);
	assert_int_equal(scene.result[5], ETIMEDOUT);
	assert_int_equal(outcome->clock_ns, MICROSECOND);
}

static void *enter(void *argument)
{
	struct scene *s = argument;

	(void)semaphore_wait(&s->semaphore, ENGINE_FOREVER, 1);
	if (++s->inside > s->inside_most)
		s->inside_most = s->inside;
	simulation_step();
	s->inside--;
	(void)semaphore_post(&s->semaphore, 2);
	return NULL;
}

static void enter_by_three(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *one, *two;

	semaphore_init(&s->semaphore, 2, false);
	one = simulation_create(enter, s);
	two = simulation_create(enter, s);
	enter(s);
	simulation_join(one);
	simulation_join(two);
}

static int most_ever;

static void expect_two_inside(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_pass(outcome);
	assert_in_range(s->inside_most, 1, 2);
	assert_int_equal(s->semaphore.value, 2);
	if (s->inside_most > most_ever)
		most_ever = s->inside_most;
}

static void test_value__bounds_who_is_inside_in_every_schedule(void **state)
{
	(void)state;
	most_ever = 0;
	simulate_every_schedule(&plain, enter_by_three, &scene, clear, expect_two_inside);
	assert_int_equal(most_ever, 2);
}

static void *wait_to_be_cancelled(void *argument)
{
	struct scene *s = argument;

	s->result[0] = semaphore_wait(&s->semaphore, ENGINE_FOREVER, 1);
	return NULL;
}

static void cancel_and_post(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *thread = simulation_create(wait_to_be_cancelled, s);

	simulation_cancel(thread);
	(void)semaphore_post(&s->semaphore, 1);
	simulation_join(thread);
}

static int cancelled_runs, taken_runs;

static void expect_post_kept(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_pass(outcome);
	if (s->result[0] == SYNC_CANCELLED) {
		cancelled_runs++;
		assert_int_equal(s->semaphore.value, 1);
	} else {
		taken_runs++;
		assert_int_equal(s->result[0], 0);
		assert_int_equal(s->semaphore.value, 0);
	}
}

static void test_cancelled_wait__takes_nothing(void **state)
{
	(void)state;
	cancelled_runs = taken_runs = 0;
	simulate_every_schedule(&plain, cancel_and_post, &scene, clear, expect_post_kept);
	assert_true(cancelled_runs > 0);
	/* The request precedes the post, and cancellation has priority over taking. */
	assert_int_equal(taken_runs, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits__are_answered_with_posix_errors),
		cmocka_unit_test(test_value__bounds_who_is_inside_in_every_schedule),
		cmocka_unit_test(test_cancelled_wait__takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
