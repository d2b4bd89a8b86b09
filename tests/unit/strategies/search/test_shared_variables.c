/* Tests which objects are variables, which threads share them, and the handling of those that have
 * no room. */
#include "strategies/search/shared_variables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define BLOCK_FIRST 1000000u /* objects from here on are on the heap, ten to a block */

static bool heap_position(object_name object, struct heap_position *out)
{
	if (object < BLOCK_FIRST)
		return false;
	*out = (struct heap_position){object / 10, object / 10 % 7};
	return true;
}

/* Two threads before the same access. */
struct scene {
	struct shared_variables *variables;
	struct pending_op pending[2];
	thread_name names[2];
	struct schedule_view view;
};

static struct scene *begin(void)
{
	struct scene *scene = calloc(1, sizeof *scene);

	assert_non_null(scene);
	scene->variables = calloc(1, sizeof *scene->variables);
	assert_non_null(scene->variables);
	scene->names[0] = 11;
	scene->names[1] = 12;
	scene->view = (struct schedule_view){.thread_count = 2,
		.pending = scene->pending,
		.names = scene->names,
		.heap_position = heap_position};
	return scene;
}

static void end(struct scene *scene)
{
	free(scene->variables);
	free(scene);
}

/* The number of the variable that the thread accesses. */
static uint32_t access_by(struct scene *scene, uint16_t thread, object_name object, uint64_t site)
{
	scene->pending[thread] = (struct pending_op){
		.kind = OP_LOAD, .second = object >= BLOCK_FIRST, .object = object, .site = site};
	shared_variables_learn(scene->variables, &scene->view, (struct thread_id){thread});
	return shared_variables_number(scene->variables, &scene->view, &scene->pending[thread]);
}

static void shared_variables__are_those_of_two_threads(void **unused)
{
	struct scene *scene = begin();
	uint32_t number;

	(void)unused;
	number = access_by(scene, 0, 5, 1);
	assert_int_equal(access_by(scene, 0, 5, 2), number);
	assert_false(scene->variables->variable[number].is_shared);
	assert_int_equal(access_by(scene, 1, 5, 1), number);
	assert_true(scene->variables->variable[number].is_shared);
	assert_int_equal(access_by(scene, 0, 5, 1), number);
	assert_int_equal(scene->variables->shared_count, 1);
	end(scene);
}

static void shared_variables__know_the_loop_of_their_block(void **unused)
{
	struct scene *scene = begin();
	const uint32_t on_heap = access_by(scene, 0, BLOCK_FIRST + 30, 1);
	const uint32_t elsewhere = access_by(scene, 0, 5, 1);

	(void)unused;
	assert_int_equal(scene->variables->variable[on_heap].loop, (BLOCK_FIRST + 30) / 10 % 7);
	assert_int_equal(scene->variables->variable[elsewhere].loop, 0);
	end(scene);
}

static void shared_variables__are_arrays_when_they_are_many(void **unused)
{
	struct scene *scene = begin();
	uint32_t number;

	(void)unused;
	for (object_name object = 1; object <= SHARED_VARIABLES_SINGLE; object++)
		assert_int_equal(access_by(scene, 0, object, 1), object - 1);
	/* One block is one, another one is another; a location in the code likewise. */
	number = access_by(scene, 0, BLOCK_FIRST, 1);
	assert_int_equal(access_by(scene, 0, BLOCK_FIRST + 9, 2), number);
	assert_int_equal(access_by(scene, 0, BLOCK_FIRST + 10, 2), number + 1);
	assert_int_equal(access_by(scene, 0, 90001, 77), number + 2);
	assert_int_equal(access_by(scene, 0, 90002, 77), number + 2);
	assert_int_equal(access_by(scene, 0, 90002, 78), number + 3);
	assert_true(scene->variables->variable[number + 3].is_shared);
	/* Earlier knowledge is unchanged. */
	assert_int_equal(access_by(scene, 0, 7, 77), 6);
	end(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shared_variables__are_those_of_two_threads),
		cmocka_unit_test(shared_variables__know_the_loop_of_their_block),
		cmocka_unit_test(shared_variables__are_arrays_when_they_are_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
