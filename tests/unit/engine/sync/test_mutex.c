/* Mutexes: every kind, alone and under every schedule. */
#include "engine/sync.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulation.h"

#define THREADS 3
#define MICROSECOND UINT64_C(1000)

/* Objects that the threads of a test share. */
struct scene {
	struct mutex mutex;
	struct mutex second;
	int inside;
	int inside_most;
	int total;
	int result[8];
};

static struct scene scene;

static void clear(void *argument)
{
	memset(argument, 0, sizeof scene);
}

static void expect_pass(void *argument, const struct outcome *outcome)
{
	(void)argument;
	assert_int_equal(outcome->kind, OUTCOME_PASSED);
}

/* Runs the body in one thread; its results are in scene. */
static const struct outcome *run_alone(void (*body)(void *))
{
	static const struct simulation plain = {.seed = 1};

	clear(&scene);
	return simulate(&plain, body, &scene);
}

/* ---- one thread ---- */

static void relock_errorcheck(void *argument)
{
	struct scene *s = argument;

	mutex_init(&s->mutex, MUTEX_ERRORCHECK, 0);
	s->result[0] = mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
	s->result[1] = mutex_lock(&s->mutex, ENGINE_FOREVER, 2);
	s->result[2] = mutex_trylock(&s->mutex, 3);
	s->result[3] = mutex_unlock(&s->mutex, 4);
	s->result[4] = mutex_unlock(&s->mutex, 5);
}

static void test_errorcheck__refuses_relock_and_second_unlock(void **state)
{
	(void)state;
	expect_pass(NULL, run_alone(relock_errorcheck));
	assert_int_equal(scene.result[0], 0);
	assert_int_equal(scene.result[1], EDEADLK);
	assert_int_equal(scene.result[2], EBUSY);
	assert_int_equal(scene.result[3], 0);
	assert_int_equal(scene.result[4], EPERM);
}

static void relock_recursive(void *argument)
{
	struct scene *s = argument;
	static const pthread_mutex_t initial = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	memcpy(&s->mutex, &initial, sizeof initial);
	s->result[0] = mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
	s->result[1] = mutex_trylock(&s->mutex, 2);
	s->mutex.count = UINT32_MAX;
	s->result[2] = mutex_lock(&s->mutex, ENGINE_FOREVER, 3);
	s->mutex.count = 2;
	s->result[3] = mutex_unlock(&s->mutex, 4);
	s->total = s->mutex.lock;
	s->result[4] = mutex_unlock(&s->mutex, 5);
	s->result[5] = mutex_unlock(&s->mutex, 6);
}

static void test_recursive__counts_up_to_its_limit(void **state)
{
	(void)state;
	expect_pass(NULL, run_alone(relock_recursive));
	assert_int_equal(scene.result[0], 0);
	assert_int_equal(scene.result[1], 0);
	assert_int_equal(scene.result[2], EAGAIN);
	assert_int_equal(scene.result[3], 0);
	assert_int_equal(scene.total, 1);
	assert_int_equal(scene.result[4], 0);
	assert_int_equal(scene.result[5], EPERM);
	assert_int_equal(scene.mutex.lock, 0);
}

static void relock_normal(void *argument)
{
	struct scene *s = argument;

	(void)mutex_lock(&s->mutex, ENGINE_FOREVER, 11);
	(void)mutex_lock(&s->mutex, ENGINE_FOREVER, 22);
	s->total = 1;
}

static void test_normal__relock_is_a_self_deadlock_with_both_sites(void **state)
{
	const struct outcome *outcome = run_alone(relock_normal);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_SELF_DEADLOCK);
	assert_int_equal(outcome->wait_count, 1);
	assert_int_equal(outcome->waits[0].site, 22);
	assert_int_equal(outcome->waits[0].holder_site, 11);
	assert_int_equal(outcome->waits[0].holder.index, 0);
	assert_int_equal(outcome->waits[0].object_address, (uintptr_t)&scene.mutex);
	assert_int_equal(scene.total, 0);
}

static void unlock_free(void *argument)
{
	struct scene *s = argument;

	s->result[0] = mutex_unlock(&s->mutex, 7);
	s->total = 1;
}

static void test_unlock_not_owned__ends_the_run_unless_tolerated(void **state)
{
	static const struct simulation tolerant = {.tolerated = 1u << OUTCOME_UNLOCK_NOT_OWNED};
	const struct outcome *outcome = run_alone(unlock_free);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_UNLOCK_NOT_OWNED);
	assert_int_equal(outcome->site, 7);
	assert_int_equal(scene.total, 0);
	outcome = simulate(&tolerant, unlock_free, &scene);
	assert_int_equal(outcome->kind, OUTCOME_PASSED);
	assert_int_equal(scene.result[0], 0);
	assert_int_equal(scene.total, 1);
}

static void destroy_held(void *argument)
{
	struct scene *s = argument;

	(void)mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
	s->result[0] = mutex_destroy(&s->mutex, 9);
	(void)mutex_unlock(&s->mutex, 1);
	s->result[1] = mutex_destroy(&s->mutex, 10);
	s->result[2] = mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
}

static void test_destroy_held__ends_the_run_or_says_busy(void **state)
{
	static const struct simulation tolerant = {.tolerated = 1u << OUTCOME_DESTROY_HELD};
	const struct outcome *outcome = run_alone(destroy_held);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_DESTROY_HELD);
	assert_int_equal(outcome->site, 9);
	clear(&scene);
	expect_pass(NULL, simulate(&tolerant, destroy_held, &scene));
	assert_int_equal(scene.result[0], EBUSY);
	assert_int_equal(scene.result[1], 0);
	assert_int_equal(scene.result[2], EINVAL);
}

static void use_ceiling(void *argument)
{
	struct scene *s = argument;
	int value = 0;

	s->result[0] = mutex_get_ceiling(&s->mutex, &value);
	s->result[1] = mutex_init(&s->mutex, MUTEX_PROTECTS_PRIORITY | MUTEX_ROBUST, 1);
	s->result[2] = mutex_init(&s->mutex, MUTEX_PROTECTS_PRIORITY, 5);
	s->result[3] = mutex_set_ceiling(&s->mutex, 100, NULL, 1);
	s->result[4] = mutex_set_ceiling(&s->mutex, 9, &value, 1);
	s->result[5] = value;
	s->result[6] = mutex_get_ceiling(&s->mutex, &value);
	s->result[7] = value;
}

static void test_ceiling__is_kept_for_protecting_mutexes_only(void **state)
{
	(void)state;
	expect_pass(NULL, run_alone(use_ceiling));
	assert_int_equal(scene.result[0], EINVAL);
	assert_int_equal(scene.result[1], ENOTSUP);
	assert_int_equal(scene.result[2], 0);
	assert_int_equal(scene.result[3], EINVAL);
	assert_int_equal(scene.result[4], 0);
	assert_int_equal(scene.result[5], 5);
	assert_int_equal(scene.result[6], 0);
	assert_int_equal(scene.result[7], 9);
}

static void lock_garbage(void *argument)
{
	struct scene *s = argument;

	memset(&s->mutex, 0x5a, sizeof s->mutex);
	s->mutex.kind = MUTEX_NORMAL;
	if (s->total)
		(void)mutex_unlock(&s->mutex, 3);
	(void)mutex_lock(&s->mutex, ENGINE_FOREVER, 4);
}

static void test_uninitialised_memory__is_a_lock_that_nobody_known_holds(void **state)
{
	static const struct simulation tolerant = {.tolerated = 1u << OUTCOME_UNLOCK_NOT_OWNED};
	const struct outcome *outcome = run_alone(lock_garbage);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_DEADLOCK);
	assert_int_equal(outcome->waits[0].holder.index, THREAD_NONE.index);
	scene.total = 1;
	expect_pass(NULL, simulate(&tolerant, lock_garbage, &scene));
}

/* ---- several threads ---- */

static void *enter_once(void *argument)
{
	struct scene *s = argument;

	(void)mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
	if (++s->inside > s->inside_most)
		s->inside_most = s->inside;
	simulation_step();
	s->inside--;
	s->total++;
	(void)mutex_unlock(&s->mutex, 2);
	return NULL;
}

static void enter_by_all(void *argument)
{
	struct engine_thread *threads[THREADS - 1];

	for (int i = 0; i < THREADS - 1; i++)
		threads[i] = simulation_create(enter_once, argument);
	enter_once(argument);
	for (int i = 0; i < THREADS - 1; i++)
		simulation_join(threads[i]);
}

static void expect_exclusion(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_pass(s, outcome);
	assert_int_equal(s->inside_most, 1);
	assert_int_equal(s->total, THREADS);
	assert_int_equal(s->mutex.users, 0);
}

static void test_lock__excludes_in_every_schedule(void **state)
{
	static const struct simulation plain;
	uint64_t runs =
		simulate_every_schedule(&plain, enter_by_all, &scene, clear, expect_exclusion);

	(void)state;
	assert_true(runs > 1000);
}

static void *lock_both_backwards(void *argument)
{
	struct scene *s = argument;

	(void)mutex_lock(&s->second, ENGINE_FOREVER, 31);
	(void)mutex_lock(&s->mutex, ENGINE_FOREVER, 32);
	(void)mutex_unlock(&s->mutex, 33);
	(void)mutex_unlock(&s->second, 34);
	return NULL;
}

static void lock_both(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *other = simulation_create(lock_both_backwards, s);

	(void)mutex_lock(&s->mutex, ENGINE_FOREVER, 21);
	(void)mutex_lock(&s->second, ENGINE_FOREVER, 22);
	(void)mutex_unlock(&s->second, 23);
	(void)mutex_unlock(&s->mutex, 24);
	simulation_join(other);
}

static uint64_t deadlocks;

static void count_deadlocks(void *argument, const struct outcome *outcome)
{
	(void)argument;
	if (outcome->kind == OUTCOME_PASSED)
		return;
	deadlocks++;
	assert_int_equal(outcome->kind, OUTCOME_DEADLOCK);
	assert_int_equal(outcome->wait_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct wait_edge *edge = &outcome->waits[i];

		assert_int_equal(edge->waiter.index, i);
		assert_int_equal(edge->holder.index, 1 - i);
		assert_int_equal(edge->is_on_cycle, 1);
		assert_int_equal(edge->site, i ? 32 : 22);
		assert_int_equal(edge->holder_site, i ? 21 : 31);
	}
}

static void test_lock_order__deadlocks_with_the_cycle_and_all_sites(void **state)
{
	static const struct simulation plain;
	uint64_t runs;

	(void)state;
	deadlocks = 0;
	runs = simulate_every_schedule(&plain, lock_both, &scene, clear, count_deadlocks);
	assert_true(deadlocks > 0);
	assert_true(deadlocks < runs);
}

static void *lock_for_a_microsecond(void *argument)
{
	struct scene *s = argument;

	s->result[0] = mutex_lock(&s->mutex, engine_clock_ns() + MICROSECOND, 1);
	return NULL;
}

static void hold_and_join(void *argument)
{
	struct scene *s = argument;

	(void)mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
	simulation_join(simulation_create(lock_for_a_microsecond, s));
	s->result[1] = mutex_lock(&s->second, 0, 2);
	(void)mutex_unlock(&s->mutex, 3);
}

static void test_timed_lock__times_out_in_virtual_time(void **state)
{
	const struct outcome *outcome = run_alone(hold_and_join);

	(void)state;
	expect_pass(NULL, outcome);
	assert_int_equal(scene.result[0], ETIMEDOUT);
	assert_int_equal(scene.result[1], 0); /* free: a deadline in the past does not matter */
	assert_int_equal(outcome->clock_ns, MICROSECOND);
}

/* ---- robust mutexes ---- */

static void *lock_and_end(void *argument)
{
	struct scene *s = argument;

	(void)mutex_lock(&s->second, ENGINE_FOREVER, 1);
	(void)mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
	(void)mutex_unlock(&s->second, 1);
	return NULL;
}

static void recover(void *argument)
{
	struct scene *s = argument;

	mutex_init(&s->mutex, MUTEX_ROBUST, 0);
	mutex_init(&s->second, MUTEX_ROBUST, 0);
	simulation_join(simulation_create(lock_and_end, s));
	s->result[0] = mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
	s->result[1] = mutex_consistent(&s->mutex);
	s->result[2] = mutex_consistent(&s->mutex);
	s->result[3] = mutex_unlock(&s->mutex, 1);
	s->result[4] = mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
	s->result[5] = mutex_unlock(&s->mutex, 1);
	s->result[6] = mutex_unlock(&s->mutex, 1);
	s->result[7] = mutex_lock(&s->second, ENGINE_FOREVER, 1);
}

static void test_robust__passes_on_what_a_dead_thread_held(void **state)
{
	(void)state;
	expect_pass(NULL, run_alone(recover));
	assert_int_equal(scene.result[0], EOWNERDEAD);
	assert_int_equal(scene.result[1], 0);
	assert_int_equal(scene.result[2], EINVAL);
	assert_int_equal(scene.result[3], 0);
	assert_int_equal(scene.result[4], 0);
	assert_int_equal(scene.result[5], 0);
	assert_int_equal(scene.result[6], EPERM);
	assert_int_equal(scene.result[7], 0);
}

static void *lock_robust(void *argument)
{
	struct scene *s = argument;

	s->result[2] = mutex_lock(&s->mutex, ENGINE_FOREVER, 1);
	return NULL;
}

static void fail_to_recover(void *argument)
{
	struct scene *s = argument;
	struct engine_thread *waiter;

	mutex_init(&s->mutex, MUTEX_ROBUST, 0);
	simulation_join(simulation_create(lock_and_end, s));
	s->result[0] = mutex_trylock(&s->mutex, 1);
	waiter = simulation_create(lock_robust, s);
	simulation_step();
	s->result[1] = mutex_unlock(&s->mutex, 1);
	simulation_join(waiter);
	s->result[3] = mutex_trylock(&s->mutex, 1);
}

static void expect_unrecoverable(void *argument, const struct outcome *outcome)
{
	struct scene *s = argument;

	expect_pass(s, outcome);
	assert_int_equal(s->result[0], EOWNERDEAD);
	assert_int_equal(s->result[1], 0);
	assert_int_equal(s->result[2], ENOTRECOVERABLE);
	assert_int_equal(s->result[3], ENOTRECOVERABLE);
}

static void test_robust__is_lost_when_unlocked_inconsistent(void **state)
{
	static const struct simulation plain;

	(void)state;
	simulate_every_schedule(&plain, fail_to_recover, &scene, clear, expect_unrecoverable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errorcheck__refuses_relock_and_second_unlock),
		cmocka_unit_test(test_recursive__counts_up_to_its_limit),
		cmocka_unit_test(test_normal__relock_is_a_self_deadlock_with_both_sites),
		cmocka_unit_test(test_unlock_not_owned__ends_the_run_unless_tolerated),
		cmocka_unit_test(test_destroy_held__ends_the_run_or_says_busy),
		cmocka_unit_test(test_ceiling__is_kept_for_protecting_mutexes_only),
		cmocka_unit_test(test_uninitialised_memory__is_a_lock_that_nobody_known_holds),
		cmocka_unit_test(test_lock__excludes_in_every_schedule),
		cmocka_unit_test(test_lock_order__deadlocks_with_the_cycle_and_all_sites),
		cmocka_unit_test(test_timed_lock__times_out_in_virtual_time),
		cmocka_unit_test(test_robust__passes_on_what_a_dead_thread_held),
		cmocka_unit_test(test_robust__is_lost_when_unlocked_inconsistent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
