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

static void turns_end_lease(void *state, const struct schedule_view *view, uint64_t count)
{
	(void)state;
	(void)view;
	points += count;
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
	.state_bytes = 8,
	.begin_campaign = turns_begin_campaign,
	.begin_run = turns_begin_run,
	.choose = turns_choose,
	.fast_path = {.lease = turns_lease, .end_lease = turns_end_lease},
};

/* ---- a program ---- */

static struct engine_epochs epochs;
static uint64_t latest;

struct scene {
	bool has_leases;
	bool has_signal; /* a signal for the engine arrives in the middle of a lease */
	bool has_waiter; /* one stands back for some of the time */
	uint32_t count;
	uint16_t threads[THREADS * ACCESSES]; /* thread of the n-th access */
	uint64_t steps[THREADS * ACCESSES];   /* number of the next step at the n-th access */
};

static void access_memory(struct scene *scene)
{
	if (--epochs.lease < 0)
		engine_point(OP_STORE, scene, 1);
	scene->threads[scene->count] = engine_current()->id.index;
	scene->steps[scene->count++] = engine_step();
	if (scene->has_signal && scene->count == 2)
		engine_raise_attention();
}

static void *access_often(void *argument)
{
	const struct scene *scene = argument;

	for (unsigned i = 0; i < ACCESSES; i++) {
		access_memory(argument);
		if (scene->has_waiter && i == 2)
			engine_delay_current();
		if (i % 16 == 15)
			simulation_step();
	}
	return NULL;
}

static void access_by_all(void *argument)
{
	struct scene *scene = argument;
	struct engine_thread *others[THREADS - 1];

	epochs = (struct engine_epochs){.latest = &latest, .wants_lease = scene->has_leases};
	engine_count_epochs(&epochs);
	for (unsigned i = 0; i < THREADS - 1; i++)
		others[i] = simulation_create(access_often, scene);
	(void)access_often(scene);
	for (unsigned i = 0; i < THREADS - 1; i++)
		(void)simulation_join(others[i]);
	engine_count_epochs(NULL);
}

static uint64_t run(struct scene *scene, bool has_leases, bool has_signal, bool has_waiter)
{
	const struct simulation simulation = {.strategy = &turns};
	const struct outcome *outcome;

	memset(scene, 0, sizeof *scene);
	scene->has_leases = has_leases;
	scene->has_signal = has_signal;
	scene->has_waiter = has_waiter;
	outcome = simulate(&simulation, access_by_all, scene);
	assert_int_equal(outcome->kind, OUTCOME_PASSED);
	assert_int_equal(scene->count, THREADS * ACCESSES);
	return outcome->step;
}

static void test_lease__changes_no_step(void **state)
{
	static struct scene without, with;
	const uint64_t steps = run(&without, false, false, false);
	const uint64_t asked_without = asked;

	(void)state;
	assert_int_equal(run(&with, true, false, false), steps);
	assert_memory_equal(with.threads, without.threads, sizeof with.threads);
	assert_memory_equal(with.steps, without.steps, sizeof with.steps);
	assert_true(asked < asked_without / 2); /* it was made use of */
}

/* A signal handler ends the lease in its middle. */
static void test_lease__ends_for_attention(void **state)
{
	static struct scene without, with;
	const uint64_t steps = run(&without, true, false, false);
	const uint64_t asked_without = asked;

	(void)state;
	assert_int_equal(run(&with, true, true, false), steps);
	assert_memory_equal(with.threads, without.threads, sizeof with.threads);
	assert_true(
		asked > asked_without); /* no thread is there to take it: no lease from then on */
}

static void test_lease__is_given_where_somebody_stands_back(void **state)
{
	static struct scene without, with;
	const uint64_t steps = run(&without, false, false, true);
	const uint64_t asked_without = asked;

	(void)state;
	assert_int_equal(run(&with, true, false, true), steps);
	assert_memory_equal(with.threads, without.threads, sizeof with.threads);
	assert_memory_equal(with.steps, without.steps, sizeof with.steps);
	assert_true(asked < asked_without / 2);
}

/* ---- a run so long that starved threads are scheduled (clock.c) ---- */

#define MANY_ACCESSES (3u << 19)
#define TURNS_MOST 64

struct long_scene {
	bool has_leases;
	uint32_t count;
	uint16_t last;
	uint64_t turns[TURNS_MOST]; /* the steps at which others moved */
};

static struct thread_id first_choose(void *state, const struct schedule_view *view)
{
	(void)state;
	asked++;
	return (struct thread_id){(uint16_t)view_next_enabled(view, 0)};
}

static uint64_t first_lease(void *state, const struct schedule_view *view, bool is_focused)
{
	(void)state;
	(void)view;
	(void)is_focused;
	return UINT64_MAX;
}

static const struct strategy first = {
	.name = "first",
	.summary = "",
	.state_bytes = 8,
	.begin_campaign = turns_begin_campaign,
	.begin_run = turns_begin_run,
	.choose = first_choose,
	.fast_path = {.lease = first_lease, .end_lease = turns_end_lease},
};

static void *access_very_often(void *argument)
{
	struct long_scene *scene = argument;

	for (uint32_t i = 0; i < MANY_ACCESSES; i++) {
		const uint16_t self = engine_current()->id.index;

		if (--epochs.lease < 0)
			engine_point(OP_STORE, scene, 1);
		if (self != scene->last && scene->count < TURNS_MOST)
			scene->turns[scene->count++] = engine_step();
		scene->last = self;
	}
	return NULL;
}

static void access_by_two(void *argument)
{
	struct long_scene *scene = argument;
	struct engine_thread *other;

	epochs = (struct engine_epochs){.latest = &latest, .wants_lease = scene->has_leases};
	engine_count_epochs(&epochs);
	other = simulation_create(access_very_often, scene);
	(void)access_very_often(scene);
	(void)simulation_join(other);
	engine_count_epochs(NULL);
}

static void test_lease__ends_where_time_passes(void **state)
{
	static struct long_scene without, with = {.has_leases = true};
	const struct simulation simulation = {.strategy = &first, .step_limit = 4 * MANY_ACCESSES};

	(void)state;
	asked = 0;
	assert_int_equal(simulate(&simulation, access_by_two, &without)->kind, OUTCOME_PASSED);
	assert_true(asked > MANY_ACCESSES);
	asked = 0;
	assert_int_equal(simulate(&simulation, access_by_two, &with)->kind, OUTCOME_PASSED);
	assert_true(asked < MANY_ACCESSES / 64);
	assert_true(without.count > 2);
	assert_int_equal(with.count, without.count);
	assert_memory_equal(with.turns, without.turns, sizeof with.turns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lease__changes_no_step),
		cmocka_unit_test(test_lease__ends_for_attention),
		cmocka_unit_test(test_lease__is_given_where_somebody_stands_back),
		cmocka_unit_test(test_lease__ends_where_time_passes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
