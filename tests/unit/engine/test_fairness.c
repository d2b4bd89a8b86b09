/* Fairness: which enabled threads the engine offers to a strategy that would always choose the same one. */
#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/bitset.h"
#include "engine/engine_internal.h"
#include "engine/sync.h"
#include "support/simulation.h"

#define THREADS 3
#define MOVES_MOST 256

/* ---- a strategy that chooses the thread with the highest index ---- */

static struct thread_id last_choose(void *state, const struct schedule_view *view)
{
	uint32_t last = view_next_enabled(view, 0);

	(void)state;
	for (uint32_t i = last; i < view->thread_count; i = view_next_enabled(view, i + 1))
		last = i;
	return (struct thread_id){(uint16_t)last};
}

static void last_begin_campaign(void *state, const struct strategy_config *config)
{
	(void)state;
	(void)config;
}

static void last_begin_run(void *state, uint64_t seed)
{
	(void)state;
	(void)seed;
}

static const struct strategy last = {
	.name = "last",
	.summary = "",
	.state_bytes = 8,
	.begin_campaign = last_begin_campaign,
	.begin_run = last_begin_run,
	.choose = last_choose,
};

/* ---- programs ---- */

static struct {
	struct mutex held;
	bool is_over;
	void (*move)(void);
	uint32_t count;
	uint16_t moves[MOVES_MOST]; /* the thread that made the n-th round */
} scene;

static void note_move(void)
{
	if (scene.count < MOVES_MOST)
		scene.moves[scene.count++] = engine_current()->id.index;
}

static void yield(void)
{
	engine_point(OP_YIELD, NULL, 0);
}

static void try_held(void)
{
	(void)mutex_trylock(&scene.held, 1);
}

static void wait_for_no_time(void)
{
	struct engine_op op = {.kind = OP_SLEEP, .is_timeout_only = true, .deadline_ns = 0};

	(void)engine_perform(&op);
}

static void spin(void)
{
	engine_spin_point(1);
}

static void *move_until_over(void *unused)
{
	while (!scene.is_over && scene.count < MOVES_MOST) {
		scene.move();
		note_move();
	}
	return unused;
}

/* Main is the thread that the strategy chooses last. */
static void end_the_others(void *unused)
{
	struct engine_thread *threads[THREADS - 1];

	(void)unused;
	(void)mutex_lock(&scene.held, ENGINE_FOREVER, 2);
	for (unsigned i = 0; i < THREADS - 1; i++)
		threads[i] = simulation_create(move_until_over, NULL);
	for (unsigned i = 0; i < 4; i++)
		simulation_step();
	scene.is_over = true;
	for (unsigned i = 0; i < THREADS - 1; i++)
		(void)simulation_join(threads[i]);
}

static void run(void (*program)(void *), void (*move)(void))
{
	const struct simulation simulation = {.strategy = &last, .step_limit = 1000000};

	memset(&scene, 0, sizeof scene);
	scene.move = move;
	assert_int_equal(simulate(&simulation, program, NULL)->kind, OUTCOME_PASSED);
}

/* Every kind of move that waits for other threads lets main make its steps. */
static void test_fairness__lets_others_move(void **state)
{
	static void (*const moves[])(void) = {yield, try_held, wait_for_no_time, spin};

	(void)state;
	for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
		run(end_the_others, moves[i]);
		assert_true(scene.count < MOVES_MOST);
	}
}

/* The control: nothing delays a thread that makes plain steps. */
static void test_fairness__delays_no_thread_that_moves(void **state)
{
	(void)state;
	run(end_the_others, simulation_step);
	assert_int_equal(scene.count, MOVES_MOST);
}

/* Two threads that yield in turn move in turn, although the strategy prefers one of them. */
static void yield_in_turn(void *unused)
{
	struct engine_thread *threads[2] = {
		simulation_create(move_until_over, NULL), simulation_create(move_until_over, NULL)};

	(void)unused;
	(void)simulation_join(threads[0]);
	(void)simulation_join(threads[1]);
}

static void moves_alternate(void (*move)(void))
{
	run(yield_in_turn, move);
	for (unsigned i = 8; i < 100; i++)
		assert_int_not_equal(scene.moves[i], scene.moves[i - 1]);
}

static void test_fairness__alternates_threads_that_wait(void **state)
{
	(void)state;
	moves_alternate(yield);
	moves_alternate(spin);
}

/* The strategy sees only the enabled threads of the highest priority, unless these wait for others. */
static void *move_with_priority(void *unused)
{
	engine_current()->priority = 5;
	for (unsigned i = 0; i < 20; i++) {
		simulation_step();
		note_move();
	}
	return unused;
}

static void *move_without_priority(void *unused)
{
	for (unsigned i = 0; i < 20; i++) {
		simulation_step();
		note_move();
	}
	return unused;
}

static void follow_priorities(void *unused)
{
	struct engine_thread *threads[2];

	(void)unused;
	engine_follow_priorities(true);
	threads[0] = simulation_create(move_with_priority, NULL);
	threads[0]->priority = 5;
	threads[1] = simulation_create(move_without_priority, NULL);
	(void)simulation_join(threads[0]);
	(void)simulation_join(threads[1]);
}

static void test_fairness__offers_the_highest_priority_alone(void **state)
{
	(void)state;
	run(follow_priorities, NULL);
	assert_int_equal(scene.count, 40);
	for (unsigned i = 0; i < 20; i++)
		assert_int_equal(scene.moves[i], 1);
}

/* A thread loops without waiting, and the strategy prefers it to those that would end its loop.
 * These starve, run in time slices, and end before their slices do. */
static void *end_the_loop(void *unused)
{
	(void)mutex_lock(&scene.held, ENGINE_FOREVER, 2);
	(void)mutex_unlock(&scene.held, 2);
	scene.is_over = true;
	return unused;
}

static void *loop_until_over(void *unused)
{
	while (!scene.is_over)
		simulation_step();
	return unused;
}

static void starve_others(void *unused)
{
	struct engine_thread *threads[2];

	(void)unused;
	(void)mutex_lock(&scene.held, ENGINE_FOREVER, 2);
	threads[0] = simulation_create(end_the_loop, NULL);
	threads[1] = simulation_create(loop_until_over, NULL);
	(void)mutex_unlock(&scene.held, 2);
	(void)simulation_join(threads[0]);
	scene.count = !engine.period_count;
	(void)simulation_join(threads[1]);
	scene.count += engine.slice_count;
}

static void test_fairness__gives_starved_threads_a_slice_that_ends_with_them(void **state)
{
	(void)state;
	run(starve_others, NULL);
	assert_true(scene.is_over);
	assert_int_equal(scene.count, 0);
}

/* The run ends while threads have a time slice. */
static void end_within_a_slice(void *unused)
{
	(void)unused;
	(void)simulation_create(loop_until_over, NULL);
	(void)simulation_create(loop_until_over, NULL);
	while (!engine.slice_count)
		simulation_step();
}

static void test_fairness__leaves_no_slice_to_the_next_run(void **state)
{
	const struct simulation simulation = {.strategy = &last, .step_limit = 1000000};

	(void)state;
	memset(&scene, 0, sizeof scene);
	(void)simulate(&simulation, end_within_a_slice, NULL);
	assert_int_not_equal(engine.slice_count, 0);
	engine_renew();
	assert_int_equal(engine.slice_count, 0);
	assert_int_equal(bitset_count(engine.starved, BITSET_WORDS(THREADS)), 0);
	assert_int_equal(engine.yielder_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fairness__lets_others_move),
		cmocka_unit_test(test_fairness__delays_no_thread_that_moves),
		cmocka_unit_test(test_fairness__alternates_threads_that_wait),
		cmocka_unit_test(test_fairness__offers_the_highest_priority_alone),
		cmocka_unit_test(test_fairness__gives_starved_threads_a_slice_that_ends_with_them),
		cmocka_unit_test(test_fairness__leaves_no_slice_to_the_next_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
