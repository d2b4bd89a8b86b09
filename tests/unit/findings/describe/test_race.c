/* A race as a finding: its words, its signature, its stored form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "findings/describe/build.h"

static int counter;

/* Addresses in functions of ours stand for the locations of accesses. */
static __attribute__((noinline)) void writer(void)
{
	__atomic_add_fetch(&counter, 1, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) int reader(void)
{
	return __atomic_load_n(&counter, __ATOMIC_RELAXED);
}

struct scene {
	struct thread_record threads[3];
	struct trace_event events[8];
	struct outcome outcome;
	struct finding_source source;
	struct symbols *symbols;
	struct finding finding;
};

static uint64_t address_of(const void *location)
{
	return (uint64_t)(uintptr_t)location;
}

static void add_event(struct scene *scene, enum op_kind kind, uint16_t thread, const void *object)
{
	scene->events[scene->source.event_count] = (struct trace_event){
		.step = scene->source.event_count,
		.kind = (uint8_t)kind,
		.thread = thread,
		.address = address_of(object),
	};
	scene->source.event_count++;
}

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);
	struct error err;

	writer();
	if (!scene || !reader())
		return -1;
	*state = scene;
	for (uint16_t i = 1; i < 3; i++)
		scene->threads[i].ordinal = (uint16_t)(i - 1);
	scene->source = (struct finding_source){.outcome = &scene->outcome,
		.threads = scene->threads,
		.thread_count = 3,
		.events = scene->events};
	outcome_set(&scene->outcome, OUTCOME_RACE, (struct thread_id){2}, 0);
	scene->outcome.address = address_of(&counter);
	scene->outcome.site = address_of((const void *)(uintptr_t)reader) + 5;
	scene->outcome.op = OP_LOAD;
	scene->outcome.other_site = address_of((const void *)(uintptr_t)writer) + 5;
	scene->outcome.other_op = OP_STORE;
	scene->outcome.other_step = 3;
	scene->outcome.other_thread.index = 1;
	return symbols_from_process(&scene->symbols, getpid(), &err);
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	finding_release(&scene->finding);
	symbols_free(scene->symbols);
	free(scene);
	return 0;
}

static void build(struct scene *scene)
{
	finding_release(&scene->finding);
	scene->outcome.step = scene->source.event_count;
	assert_int_equal(finding_build(&scene->finding, &scene->source, scene->symbols, NULL), 0);
}

static void test_race__is_described_in_one_line(void **state)
{
	struct scene *scene = *state;

	build(scene);
	assert_int_equal(scene->finding.kind, OUTCOME_RACE);
	assert_non_null(strstr(scene->finding.title, "race: main.0 writes counter (test_race.c:"));
	assert_non_null(strstr(scene->finding.title, " while main.1 reads it (test_race.c:"));
	assert_non_null(strstr(scene->finding.variable, "counter"));
	assert_string_equal(scene->finding.race[FINDING_EARLIER].at.frames[0].function, "writer");
	assert_string_equal(scene->finding.race[FINDING_LATER].at.frames[0].function, "reader");
}

/* Where frees are no operations, the block tells that the store of the trace was one. */
static void test_race__names_a_free(void **state)
{
	struct scene *scene = *state;
	struct memory_block block = {.start = address_of(&counter),
		.bytes = sizeof counter,
		.freed_step = scene->outcome.other_step};

	scene->source.blocks = &block;
	scene->source.block_count = 1;
	build(scene);
	assert_non_null(strstr(scene->finding.title, "race: main.0 frees "));
	block.freed_step++;
	build(scene);
	assert_non_null(strstr(scene->finding.title, "race: main.0 writes "));
}

static void test_race__of_freed_memory_says_who_freed_it(void **state)
{
	struct scene *scene = *state;

	scene->outcome.kind = OUTCOME_USE_AFTER_FREE;
	build(scene);
	assert_non_null(
		strstr(scene->finding.title, "use-after-free: main.1 reads counter (test_race.c:"));
	assert_non_null(strstr(scene->finding.title, ", which main.0 has freed (test_race.c:"));
	assert_string_equal(scene->finding.race[FINDING_EARLIER].verb, "frees");
	assert_string_equal(scene->finding.race[FINDING_LATER].verb, "reads");
	scene->outcome.kind = OUTCOME_DOUBLE_FREE;
	scene->outcome.other_thread = scene->outcome.thread;
	build(scene);
	assert_non_null(
		strstr(scene->finding.title, "double-free: main.1 frees counter (test_race.c:"));
	assert_non_null(strstr(scene->finding.title, ", which it has freed (test_race.c:"));
}

static void test_race__names_the_locks_that_were_held(void **state)
{
	static char first, second;
	struct scene *scene = *state;

	add_event(scene, OP_MUTEX_LOCK, 1, &first);
	/* a failed attempt, which is never released */
	add_event(scene, OP_MUTEX_TRYLOCK, 1, &second);
	add_event(scene, OP_MUTEX_LOCK, 2, &second);
	add_event(scene, OP_STORE, 1, &counter);
	add_event(scene, OP_MUTEX_UNLOCK, 1, &first);
	add_event(scene, OP_MUTEX_UNLOCK, 2, &second);
	add_event(scene, OP_LOAD, 2, &counter);
	build(scene);
	assert_non_null(scene->finding.race[FINDING_EARLIER].held);
	assert_non_null(strstr(scene->finding.race[FINDING_EARLIER].held, "mutex "));
	assert_null(strchr(scene->finding.race[FINDING_EARLIER].held, ','));
	assert_null(scene->finding.race[FINDING_LATER].held);
}

static void test_race__is_the_same_in_reverse_order(void **state)
{
	struct scene *scene = *state;
	uint64_t signature;
	struct outcome before;

	build(scene);
	signature = scene->finding.signature;
	before = scene->outcome;
	scene->outcome.site = before.other_site;
	scene->outcome.other_site = before.site;
	scene->outcome.op = before.other_op;
	scene->outcome.other_op = before.op;
	scene->outcome.thread.index = 1;
	scene->outcome.other_thread.index = 2;
	build(scene);
	assert_int_equal(scene->finding.signature, signature);
	scene->outcome.other_site = scene->outcome.site;
	build(scene);
	assert_int_not_equal(scene->finding.signature, signature);
}

static void test_race__survives_json(void **state)
{
	struct scene *scene = *state;
	struct finding again;
	struct error err;
	char *first, *second;

	build(scene);
	first = finding_to_json(&scene->finding);
	assert_int_equal(finding_from_json(first, strlen(first), &again, &err), 0);
	assert_int_equal(finding_signature(&again), scene->finding.signature);
	assert_string_equal(again.variable, scene->finding.variable);
	second = finding_to_json(&again);
	assert_string_equal(first, second);
	free(first);
	free(second);
	finding_release(&again);
}

static void test_race__refuses_threads_that_are_not_there(void **state)
{
	struct scene *scene = *state;
	struct finding finding;
	struct error err = {0};

	scene->outcome.other_thread.index = 7;
	assert_int_equal(
		finding_build(&finding, &scene->source, scene->symbols, &err), ERROR_FORMAT);
	scene->outcome.other_thread.index = 1;
	scene->outcome.other_op = OP_KIND_COUNT;
	assert_int_equal(
		finding_build(&finding, &scene->source, scene->symbols, &err), ERROR_FORMAT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_race__is_described_in_one_line),
		TEST(test_race__names_a_free),
		TEST(test_race__of_freed_memory_says_who_freed_it),
		TEST(test_race__names_the_locks_that_were_held),
		TEST(test_race__is_the_same_in_reverse_order),
		TEST(test_race__survives_json),
		TEST(test_race__refuses_threads_that_are_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
