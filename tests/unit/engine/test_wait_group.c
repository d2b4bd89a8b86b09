/* Very many threads that wait for one mutex: they are evaluated together, without a visible
 * difference. */
#include "engine/engine_internal.h"
#include "engine/sync.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulation.h"

#define THREADS 40
#define ROUNDS 3
#define RUNS 200
#define SITE_OF_MAIN_LOCK 7

struct scene {
	struct mutex mutex;
	int inside, inside_most, entered, timed_out;
	uint32_t wait_group_most;
	uint32_t wrong; /* number of times when the enabled threads were not the movable ones */
	bool is_kept;	/* main never gives it back */
	bool is_cancelled;
};

static struct scene scene;

static bool can_move(const struct engine_thread *thread)
{
	const struct engine_op *op = thread->op;

	return op && (!op->ready || op->ready(op, thread) || op->deadline_ns <= engine.clock_ns);
}

/* Checks each thread one by one, after any change of the mutex. */
static void look(void)
{
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		const struct engine_thread *thread = &engine.threads[i];

		if (thread != engine.current && thread->op)
			scene.wrong += bitset_has(engine.enabled, i) != can_move(thread);
	}
	for (unsigned i = 0; i < ENGINE_WAIT_GROUPS; i++)
		if (engine.wait_groups[i].count > scene.wait_group_most)
			scene.wait_group_most = engine.wait_groups[i].count;
}

static void enter(uint64_t deadline_ns)
{
	if (mutex_lock(&scene.mutex, deadline_ns, 1)) {
		scene.timed_out++;
		return;
	}
	look();
	if (++scene.inside > scene.inside_most)
		scene.inside_most = scene.inside;
	simulation_step();
	scene.inside--;
	scene.entered++;
	(void)mutex_unlock(&scene.mutex, 2);
	look();
}

static void *enter_again(void *argument)
{
	(void)argument;
	for (int i = 0; i < ROUNDS; i++)
		enter(ENGINE_FOREVER);
	return NULL;
}

static void *enter_in_time(void *argument)
{
	enter(UINT64_C(1000000));
	return argument;
}

static void wait_for_all(void *argument)
{
	struct engine_thread *threads[THREADS];

	(void)argument;
	(void)mutex_lock(&scene.mutex, ENGINE_FOREVER, SITE_OF_MAIN_LOCK);
	for (int i = 0; i < THREADS; i++)
		threads[i] = simulation_create(i % 4 ? enter_again : enter_in_time, NULL);
	for (int i = 0; i < THREADS * 4; i++)
		simulation_step();
	for (int i = 0; i < THREADS && scene.is_cancelled; i += 3)
		simulation_cancel(threads[i]);
	look();
	if (scene.is_kept)
		simulation_join(threads[1]);
	(void)mutex_unlock(&scene.mutex, 3);
	for (int i = 0; i < THREADS; i++)
		simulation_join(threads[i]);
}

static const struct outcome *run(uint64_t seed, bool is_kept, bool is_cancelled, bool has_stalls)
{
	const struct simulation simulation = {
		.seed = seed, .step_limit = 100000, .stall_ns = has_stalls ? STALL_ANY : 0};

	memset(&scene, 0, sizeof scene);
	scene.is_kept = is_kept;
	scene.is_cancelled = is_cancelled;
	return simulate(&simulation, wait_for_all, NULL);
}

static void test_wait_group__admits_its_threads_one_by_one(void **state)
{
	uint32_t wait_group_most = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		assert_int_equal(run(seed, false, seed & 1, seed & 2)->kind, OUTCOME_PASSED);
		assert_int_equal(scene.inside_most, 1);
		assert_int_equal(scene.wrong, 0);
		assert_int_equal(
			scene.entered + scene.timed_out, THREADS / 4 + THREADS / 4 * 3 * ROUNDS);
		wait_group_most = scene.wait_group_most > wait_group_most ? scene.wait_group_most
									  : wait_group_most;
	}
	assert_true(wait_group_most >= THREADS / 2);
	assert_int_equal(engine.wait_group_count, 0);
}

static void test_wait_group__that_waits_for_ever_is_a_deadlock_of_all(void **state)
{
	const struct outcome *outcome = run(1, true, false, false);

	(void)state;
	assert_int_equal(outcome->kind, OUTCOME_DEADLOCK);
	assert_int_equal(scene.wrong, 0);
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		if (outcome->waits[i].waiter.index)
			assert_int_equal(outcome->waits[i].holder_site, SITE_OF_MAIN_LOCK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wait_group__admits_its_threads_one_by_one),
		cmocka_unit_test(test_wait_group__that_waits_for_ever_is_a_deadlock_of_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
