/* Barriers: rounds, the serial thread, reuse and destruction. */
#include "engine/sync.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulation.h"

#define ROUNDS 2
#define MEMBERS 3

struct scene {
	struct barrier barrier;
	int arrived[ROUNDS];
	int serial[ROUNDS];
	bool is_early; /* a thread continued before all had arrived */
	int error;
};

static struct scene scene;
static const struct simulation plain;

static void clear(void *argument)
{
	memset(argument, 0, sizeof scene);
}

static void *pass_rounds(void *argument)
{
	struct scene *s = argument;

	for (int round = 0; round < ROUNDS; round++) {
		int result;

		s->arrived[round]++;
		result = barrier_wait(&s->barrier, 1);
		s->serial[round] += result == PTHREAD_BARRIER_SERIAL_THREAD;
		s->is_early |= s->arrived[round] != MEMBERS;
		s->error |= result != 0 && result != PTHREAD_BARRIER_SERIAL_THREAD;
	}
	return NULL;
}

static void pass_and_destroy(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *one, *two;

	barrier_init(&s->barrier, MEMBERS, false);
	one = simulation_create(pass_rounds, s);
	two = simulation_create(pass_rounds, s);
	pass_rounds(s);
	s->error |= barrier_destroy(&s->barrier, 1); /* before the others have left, perhaps */
	s->error |= s->barrier.leaving != 0;
	simulation_join(one);
	simulation_join(two);
}

static void expect_rounds(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	assert_int_equal(outcome->kind, OUTCOME_PASSED);
	assert_int_equal(s->error, 0);
	assert_false(s->is_early);
	for (int round = 0; round < ROUNDS; round++)
		assert_int_equal(s->serial[round], 1);
}

static void test_wait__holds_all_until_the_last_in_every_schedule(void **state)
{
	(void)state;
	assert_true(simulate_every_schedule(
			    &plain, pass_and_destroy, &scene, clear, expect_rounds) > 1000);
}

static void wait_alone_for_two(void *argument)
{
	struct scene *s = argument;

	s->error = barrier_init(&s->barrier, 0, false);
	barrier_init(&s->barrier, 2, false);
	(void)barrier_wait(&s->barrier, 8);
}

static void test_missing_member__is_a_deadlock_at_the_barrier(void **state)
{
	const struct outcome *outcome;

	(void)state;
	clear(&scene);
	outcome = simulate(&plain, wait_alone_for_two, &scene);
	assert_int_equal(scene.error, EINVAL);
	assert_int_equal(outcome->kind, OUTCOME_DEADLOCK);
	assert_int_equal(outcome->wait_count, 1);
	assert_int_equal(outcome->waits[0].op, OP_BARRIER_LEAVE);
	assert_int_equal(outcome->waits[0].site, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait__holds_all_until_the_last_in_every_schedule),
		cmocka_unit_test(test_missing_member__is_a_deadlock_at_the_barrier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
