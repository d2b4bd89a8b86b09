/* Once: exactly one run of the routine, and another one after it was left half-way. */
#include "engine/sync.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulation.h"

struct scene {
	struct once once;
	int begun;
	int finished;
	bool is_early; /* a call returned before the routine was done */
	bool first_fails;
};

static struct scene scene;
static const struct simulation plain;

static void clear(void *argument)
{
	bool first_fails = scene.first_fails;

	memset(argument, 0, sizeof scene);
	scene.first_fails = first_fails;
}

static void *call(void *argument)
{
	struct scene *s = argument;

	if (once_enter(&s->once, 1) == EAGAIN) {
		s->begun++;
		simulation_step();
		if (s->first_fails && s->begun == 1) {
			once_abandon(&s->once);
			return NULL;
		}
		s->finished++;
		once_done(&s->once, 1);
	}
	s->is_early |= !s->finished;
	return NULL;
}

static void call_by_three(void *argument)
{
	struct engine_thread *one = simulation_create(call, argument);
	struct engine_thread *two = simulation_create(call, argument);

	call(argument);
	simulation_join(one);
	simulation_join(two);
}

static void expect_once(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	assert_int_equal(outcome->kind, OUTCOME_PASSED);
	assert_int_equal(s->begun, s->first_fails ? 2 : 1);
	assert_int_equal(s->finished, 1);
	assert_false(s->is_early);
}

static void test_routine__runs_once_and_first(void **state)
{
	(void)state;
	scene.first_fails = false;
	assert_true(
		simulate_every_schedule(&plain, call_by_three, &scene, clear, expect_once) > 50);
}

static void test_abandoned_routine__runs_again(void **state)
{
	(void)state;
	scene.first_fails = true;
	assert_true(
		simulate_every_schedule(&plain, call_by_three, &scene, clear, expect_once) > 50);
}

static void call_inside_itself(void *argument)
{
	struct scene *s = argument;

	(void)once_enter(&s->once, 1);
	(void)once_enter(&s->once, 6);
}

static void test_call_inside_the_routine__is_a_self_deadlock(void **state)
{
	const struct outcome *outcome;

	(void)state;
	clear(&scene);
	outcome = simulate(&plain, call_inside_itself, &scene);
	assert_int_equal(outcome->kind, OUTCOME_SELF_DEADLOCK);
	assert_int_equal(outcome->waits[0].site, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routine__runs_once_and_first),
		cmocka_unit_test(test_abandoned_routine__runs_again),
		cmocka_unit_test(test_call_inside_the_routine__is_a_self_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
