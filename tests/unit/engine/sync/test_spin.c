/* Spin locks. */
#include "engine/sync.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulation.h"

struct scene {
	struct spin spin;
	int inside, inside_most;
	int result[2];
};

static struct scene scene;
static const struct simulation plain;

static void clear(void *argument)
{
	memset(argument, 0, sizeof scene);
	spin_init(&((struct scene *)argument)->spin, false);
}

static void *enter(void *argument)
{
	struct scene *s = argument;

	(void)spin_lock(&s->spin, 1);
	if (++s->inside > s->inside_most)
		s->inside_most = s->inside;
	simulation_step();
	s->inside--;
	(void)spin_unlock(&s->spin, 2);
	return NULL;
}

static void enter_by_two(void *argument)
{
	struct engine_thread *other = simulation_create(enter, argument);

	enter(argument);
	simulation_join(other);
}

static void expect_exclusion(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	assert_int_equal(outcome->kind, OUTCOME_PASSED);
	assert_int_equal(s->inside_most, 1);
}

static void test_lock__excludes_in_every_schedule(void **state)
{
	(void)state;
	assert_true(
		simulate_every_schedule(&plain, enter_by_two, &scene, clear, expect_exclusion) > 5);
}

static void relock(void *argument)
{
	struct scene *s = argument;

	s->result[0] = spin_trylock(&s->spin, 5);
	s->result[1] = spin_trylock(&s->spin, 6);
	(void)spin_lock(&s->spin, 7);
}

static void test_relock__is_a_self_deadlock_with_both_sites(void **state)
{
	const struct outcome *outcome;

	(void)state;
	clear(&scene);
	outcome = simulate(&plain, relock, &scene);
	assert_int_equal(scene.result[0], 0);
	assert_int_equal(scene.result[1], EBUSY);
	assert_int_equal(outcome->kind, OUTCOME_SELF_DEADLOCK);
	assert_int_equal(outcome->waits[0].site, 7);
	assert_int_equal(outcome->waits[0].holder_site, 5);
}

static void unlock_free(void *argument)
{
	struct scene *s = argument;

	(void)spin_unlock(&s->spin, 8);
}

static void test_unlock_of_a_free_lock__ends_the_run(void **state)
{
	const struct outcome *outcome;

	(void)state;
	clear(&scene);
	outcome = simulate(&plain, unlock_free, &scene);
	assert_int_equal(outcome->kind, OUTCOME_UNLOCK_NOT_OWNED);
	assert_int_equal(outcome->site, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock__excludes_in_every_schedule),
		cmocka_unit_test(test_relock__is_a_self_deadlock_with_both_sites),
		cmocka_unit_test(test_unlock_of_a_free_lock__ends_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
