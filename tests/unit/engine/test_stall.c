/* Stalls: which timed waits may end while other threads are enabled, and what is recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "support/simulation.h"

#define MILLISECOND UINT64_C(1000000)
#define SEEDS 200

struct scene {
	uint64_t sleep_ns;
	int sleeps;
	int worker_steps;
	int early; /* sleeps that ended before the worker */
	struct stalls stalls;
};

static struct scene scene;

static void sleep_for(uint64_t ns)
{
	struct engine_op op = {.kind = OP_SLEEP,
		.is_timeout_only = true,
		.site = 7,
		.deadline_ns = engine_clock_ns() + ns};

	assert_int_equal(engine_perform(&op), WAIT_TIMED_OUT);
}

static void *work(void *unused)
{
	for (int i = 0; i < 40; i++) {
		simulation_step();
		scene.worker_steps++;
	}
	return unused;
}

static void sleep_beside_work(void *unused)
{
	struct engine_thread *worker = simulation_create(work, NULL);

	(void)unused;
	for (int i = 0; i < scene.sleeps; i++) {
		sleep_for(scene.sleep_ns);
		scene.early += scene.worker_steps < 40;
	}
	simulation_join(worker);
}

/* The most sleeps that ended early in one run. */
static int early_at_most(uint64_t stall_ns, uint64_t sleep_ns, int sleeps)
{
	int most = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		const struct simulation simulation = {
			.seed = seed, .stall_ns = stall_ns, .stalls = &scene.stalls};

		scene = (struct scene){.sleep_ns = sleep_ns, .sleeps = sleeps};
		assert_int_equal(
			simulate(&simulation, sleep_beside_work, NULL)->kind, OUTCOME_PASSED);
		assert_true(scene.stalls.count >= (uint32_t)scene.early);
		if (scene.early > most)
			most = scene.early;
	}
	return most;
}

static void stalls__end_only_waits_within_the_limit(void **unused)
{
	(void)unused;
	assert_int_equal(early_at_most(0, MILLISECOND, 1), 0);
	assert_int_equal(early_at_most(MILLISECOND / 2, MILLISECOND, 1), 0);
	assert_int_equal(early_at_most(MILLISECOND, MILLISECOND, 1), 1);
	assert_int_equal(early_at_most(STALL_ANY, UINT64_C(1) << 50, 1), 1);
}

static void stalls__share_the_limit(void **unused)
{
	(void)unused;
	assert_int_equal(early_at_most(5 * MILLISECOND / 2, MILLISECOND, 4), 2);
}

static void stalls__are_few_in_a_run(void **unused)
{
	(void)unused;
	assert_in_range(early_at_most(1000 * MILLISECOND, MILLISECOND, 60), 2, 16);
	assert_true(early_at_most(STALL_ANY, MILLISECOND, 60) > 16);
}

static void stalls__are_recorded(void **unused)
{
	(void)unused;
	assert_int_equal(early_at_most(MILLISECOND, MILLISECOND, 1), 1);
	for (uint64_t seed = 1;; seed++) {
		const struct simulation simulation = {
			.seed = seed, .stall_ns = MILLISECOND, .stalls = &scene.stalls};

		scene = (struct scene){.sleep_ns = MILLISECOND, .sleeps = 1};
		(void)simulate(&simulation, sleep_beside_work, NULL);
		if (!scene.early)
			continue;
		assert_int_equal(scene.stalls.count, 1);
		assert_int_equal(scene.stalls.items[0].waiter.index, 0);
		assert_int_equal(scene.stalls.items[0].op, OP_SLEEP);
		assert_int_equal(scene.stalls.items[0].site, 7);
		assert_in_range(scene.stalls.items[0].duration_ns, 1, MILLISECOND);
		assert_int_equal(scene.stalls.total_ns, scene.stalls.items[0].duration_ns);
		assert_int_equal(scene.stalls.items[0].thread_count, 1);
		assert_int_equal(scene.stalls.items[0].threads[0].thread.index, 1);
		break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stalls__end_only_waits_within_the_limit),
		cmocka_unit_test(stalls__share_the_limit),
		cmocka_unit_test(stalls__are_few_in_a_run),
		cmocka_unit_test(stalls__are_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
