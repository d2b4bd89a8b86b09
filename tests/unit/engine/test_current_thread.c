/* A thread that continues without the strategy's choice makes the same steps. Late evaluation of
 * waiting threads does not change the steps either. */
#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "engine/sync.h"
#include "support/simulation.h"

#define THREADS 4
#define ROUNDS 50
#define OPS_MOST (THREADS * ROUNDS * 4)
#define IN_ROW 11

/* ---- a strategy without preemptions, but for every eleventh point ---- */

static uint64_t asked;

static bool is_turn(const struct schedule_view *view)
{
	return view->step % IN_ROW == 0;
}

static struct thread_id stays_choose(void *state, const struct schedule_view *view)
{
	(void)state;
	asked++;
	if (is_turn(view))
		return (struct thread_id){(uint16_t)view_next_enabled(
			view, (uint32_t)(view->step / IN_ROW) % (view_next_enabled(view, 0) + 1))};
	return view_default(view);
}

static bool stays_keeps_current(void *state, const struct schedule_view *view)
{
	(void)state;
	return !is_turn(view);
}

static void stays_begin_campaign(void *state, const struct strategy_config *config)
{
	(void)state;
	(void)config;
}

static void stays_begin_run(void *state, uint64_t seed)
{
	(void)state;
	(void)seed;
	asked = 0;
}

static const struct strategy asked_always = {
	.name = "asked always",
	.summary = "",
	.state_bytes = 8,
	.begin_campaign = stays_begin_campaign,
	.begin_run = stays_begin_run,
	.choose = stays_choose,
};

static const struct strategy asked_seldom = {
	.name = "asked seldom",
	.summary = "",
	.state_bytes = 8,
	.begin_campaign = stays_begin_campaign,
	.begin_run = stays_begin_run,
	.choose = stays_choose,
	.fast_path = {.keeps_current = stays_keeps_current},
};

/* ---- a program whose threads wait for each other often ---- */

struct scene {
	struct mutex mutex;
	uint32_t count;
	uint16_t threads[OPS_MOST]; /* thread of the n-th action */
	uint64_t steps[OPS_MOST];   /* number of the next step at the n-th action */
};

static void note(struct scene *scene)
{
	scene->threads[scene->count] = engine_current()->id.index;
	scene->steps[scene->count++] = engine_step();
}

static void *lock_often(void *argument)
{
	struct scene *scene = argument;

	for (unsigned i = 0; i < ROUNDS; i++) {
		(void)mutex_lock(&scene->mutex, ENGINE_FOREVER, 1);
		note(scene);
		simulation_step();
		note(scene);
		if (mutex_trylock(&scene->mutex, 2))
			note(scene);
		(void)mutex_unlock(&scene->mutex, 3);
		note(scene);
	}
	return NULL;
}

static void lock_by_all(void *argument)
{
	struct engine_thread *others[THREADS - 1];

	for (unsigned i = 0; i < THREADS - 1; i++)
		others[i] = simulation_create(lock_often, argument);
	(void)lock_often(argument);
	for (unsigned i = 0; i < THREADS - 1; i++)
		(void)simulation_join(others[i]);
}

static uint64_t run(struct scene *scene, const struct strategy *strategy, bool defers_changes)
{
	const struct simulation simulation = {
		.strategy = strategy, .defers_changes = defers_changes};
	const struct outcome *outcome;

	memset(scene, 0, sizeof *scene);
	outcome = simulate(&simulation, lock_by_all, scene);
	assert_int_equal(outcome->kind, OUTCOME_PASSED);
	assert_int_equal(scene->count, OPS_MOST);
	return outcome->step;
}

static void test_continuing__changes_no_step(void **state)
{
	static struct scene without, with;
	const uint64_t steps = run(&without, &asked_always, false);
	const uint64_t asked_without = asked;

	(void)state;
	for (int defers_changes = 0; defers_changes < 2; defers_changes++) {
		assert_int_equal(run(&with, &asked_seldom, defers_changes), steps);
		assert_memory_equal(with.threads, without.threads, sizeof with.threads);
		assert_memory_equal(with.steps, without.steps, sizeof with.steps);
		assert_true(asked < asked_without * 9 / 10); /* it was made use of */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_continuing__changes_no_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
