/* Leases: accesses that pass the engine are the same steps, by the same threads, as if it had been asked. */
#include "engine/engine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulation.h"

#define ACCESSES 40
#define THREADS 3
#define IN_ROW 7

/* ---- a strategy that names another thread at every seventh point ---- */

static uint64_t points, asked;

static struct thread_id turns_choose(void *state, const struct schedule_view *view)
{
	uint64_t turn = points++ / IN_ROW % view->enabled_count;
	uint32_t chosen = view_next_enabled(view, 0);

	(void)state;
	asked++;
	while (turn--)
		chosen = view_next_enabled(view, chosen + 1);
	return (struct thread_id){(uint16_t)chosen};
}

static uint64_t turns_lease(void *state, const struct schedule_view *view, bool is_focused)
{
	(void)state;
	(void)view;
	(void)is_focused;
	return (IN_ROW - points % IN_ROW) % IN_ROW;
}

static void turns_went_on(void *state, const struct schedule_view *view, uint64_t count)
{
	(void)state;
	(void)view;
	points += count;
}

static size_t turns_state_bytes(const struct strategy_config *config)
{
	(void)config;
	return 8;
}

static void turns_begin_campaign(void *state, const struct strategy_config *config)
{
	(void)state;
	(void)config;
}

static void turns_begin_run(void *state, uint64_t seed)
{
	(void)state;
	(void)seed;
	points = asked = 0;
}

static const struct strategy turns = {
	.name = "turns",
	.summary = "",
	.state_bytes = turns_state_bytes,
	.begin_campaign = turns_begin_campaign,
	.begin_run = turns_begin_run,
	.choose = turns_choose,
	.lease = turns_lease,
	.went_on = turns_went_on,
};

/* ---- a program ---- */

static struct engine_episodes episodes;
static uint64_t latest;

struct scene {
	bool has_leases;
	bool has_signal; /* for the engine, in the middle of a lease */
	uint32_t count;
	uint16_t threads[THREADS * ACCESSES]; /* who made the n-th access, */
	uint64_t steps[THREADS * ACCESSES];   /* and the number of the next step there */
};

static void access_memory(struct scene *scene)
{
	if (--episodes.lease < 0)
		engine_point(OP_STORE, scene, 1);
	scene->threads[scene->count] = engine_current()->id.index;
	scene->steps[scene->count++] = engine_step();
	if (scene->has_signal && scene->count == 2)
		engine_raise_attention();
}

static void *access_often(void *argument)
{
	for (unsigned i = 0; i < ACCESSES; i++) {
		access_memory(argument);
		if (i % 16 == 15)
			simulation_step();
	}
	return NULL;
}

static void access_by_all(void *argument)
{
	struct scene *scene = argument;
	struct engine_thread *others[THREADS - 1];

	episodes = (struct engine_episodes){.latest = &latest, .wants_lease = scene->has_leases};
	engine_count_episodes(&episodes);
	for (unsigned i = 0; i < THREADS - 1; i++)
		others[i] = simulation_create(access_often, scene);
	(void)access_often(scene);
	for (unsigned i = 0; i < THREADS - 1; i++)
		(void)simulation_join(others[i]);
	engine_count_episodes(NULL);
}

static uint64_t run(struct scene *scene, bool has_leases, bool has_signal)
{
	const struct simulation simulation = {.strategy = &turns};
	const struct outcome *outcome;

	memset(scene, 0, sizeof *scene);
	scene->has_leases = has_leases;
	scene->has_signal = has_signal;
	outcome = simulate(&simulation, access_by_all, scene);
	assert_int_equal(outcome->kind, OUTCOME_PASSED);
	assert_int_equal(scene->count, THREADS * ACCESSES);
	return outcome->step;
}

static void test_lease__changes_no_step(void **state)
{
	static struct scene without, with;
	const uint64_t steps = run(&without, false, false);
	const uint64_t asked_without = asked;

	(void)state;
	assert_int_equal(run(&with, true, false), steps);
	assert_memory_equal(with.threads, without.threads, sizeof with.threads);
	assert_memory_equal(with.steps, without.steps, sizeof with.steps);
	assert_true(asked < asked_without / 2); /* it was made use of */
}

/* From a signal handler, in the middle of one. */
static void test_lease__ends_for_attention(void **state)
{
	static struct scene without, with;
	const uint64_t steps = run(&without, true, false);
	const uint64_t asked_without = asked;

	(void)state;
	assert_int_equal(run(&with, true, true), steps);
	assert_memory_equal(with.threads, without.threads, sizeof with.threads);
	assert_true(
		asked > asked_without); /* nobody is there who takes it: no lease from then on */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lease__changes_no_step),
		cmocka_unit_test(test_lease__ends_for_attention),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
