#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "strategies/strategy.h"

#define THREADS 300
#define STEPS 5000
#define OBJECTS 40

/* The definition of pos: a priority per thread, and a comparison of all enabled threads. */
struct definition {
	struct rng rng;
	uint32_t known;
	uint64_t priority[THREADS];
};

struct scene {
	struct rng rng;
	struct schedule_view view;
	uint64_t enabled[BITSET_WORDS(THREADS)];
	struct pending_op pending[THREADS];
};

static void definition_add_threads(struct definition *definition, uint32_t count)
{
	while (definition->known < count)
		definition->priority[definition->known++] = rng_next(&definition->rng);
}

static uint32_t definition_choose(struct definition *definition, const struct scene *scene)
{
	uint32_t chosen = view_next_enabled(&scene->view, 0);

	definition_add_threads(definition, scene->view.thread_count);
	bitset_each (i, scene->enabled, scene->view.thread_count) {
		if (definition->priority[i] > definition->priority[chosen])
			chosen = i;
	}
	return chosen;
}

static void definition_execute(
	struct definition *definition, const struct scene *scene, uint32_t thread)
{
	bitset_each (i, scene->enabled, scene->view.thread_count) {
		if (op_dependent(&scene->pending[thread], &scene->pending[i]))
			definition->priority[i] = rng_next(&definition->rng);
	}
	definition->priority[thread] = rng_next(&definition->rng);
}

static void scene_draw_op(struct scene *scene, uint32_t thread)
{
	scene->pending[thread] = (struct pending_op){.kind = OP_LOAD,
		.flags = rng_below(&scene->rng, 2) ? OP_READ : 0,
		.object = rng_below(&scene->rng, OBJECTS)};
}

/* Creates a thread now and then, and enables or disables some threads. */
static void scene_continue(struct scene *scene, uint32_t last)
{
	scene_draw_op(scene, last);
	if (scene->view.thread_count < THREADS && !rng_below(&scene->rng, 4)) {
		scene_draw_op(scene, scene->view.thread_count);
		bitset_add(scene->enabled, scene->view.thread_count++);
	}
	for (int i = 0; i < 3; i++) {
		const uint32_t thread = rng_below(&scene->rng, scene->view.thread_count);

		if (bitset_has(scene->enabled, thread))
			bitset_remove(scene->enabled, thread);
		else
			bitset_add(scene->enabled, thread);
	}
	scene->view.enabled_count = bitset_count(scene->enabled, BITSET_WORDS(THREADS));
	if (!scene->view.enabled_count) {
		bitset_add(scene->enabled, last);
		scene->view.enabled_count = 1;
	}
}

static void pos__chooses_the_highest_priority_of_all_enabled_threads(void **unused)
{
	void *pos = calloc(1, strategy_state_bytes(&strategy_pos, NULL));

	(void)unused;
	assert_non_null(pos);
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct definition definition = {.known = 0};
		struct scene scene = {.view = {.thread_count = 1, .enabled_count = 1}};
		uint32_t chosen = 0;

		scene.view.enabled = scene.enabled;
		scene.view.pending = scene.pending;
		bitset_add(scene.enabled, 0);
		rng_seed(&scene.rng, seed + 1000);
		rng_seed(&definition.rng, seed);
		strategy_pos.begin_run(pos, seed);
		for (int step = 0; step < STEPS; step++) {
			scene_continue(&scene, chosen);
			chosen = definition_choose(&definition, &scene);
			assert_int_equal(strategy_pos.choose(pos, &scene.view).index, chosen);
			definition_execute(&definition, &scene, chosen);
			strategy_pos.executed(
				pos, &scene.view, (struct thread_id){(uint16_t)chosen});
		}
		assert_int_equal(scene.view.thread_count, THREADS);
	}
	free(pos);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pos__chooses_the_highest_priority_of_all_enabled_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
