/* Findings of made-up runs whose code and data are this test's own, so that symbols are real. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "findings/build.h"
#include "support/system_wrapper.h"
#include "trace/trace_reader.h"

/* The objects of the run. */
static long forks[4];
static long ready;

/* Memory that no symbol covers. */
#define ON_HEAP UINT64_C(0x7000000008)

/* A site is a return address; AT(name) makes one and keeps its line. */
static __attribute__((noinline)) uint64_t here(void)
{
	__asm__ volatile(""); /* or the call would be taken for a constant */
	return (uintptr_t)__builtin_return_address(0);
}

struct site {
	uint64_t address;
	int line;
};

#define AT(place) ((place) = (struct site){here(), __LINE__})

static struct site take_first, take_second, wait_place, signal_place, abort_place;

static __attribute__((noinline)) void eat(void)
{
	AT(take_first);
	AT(take_second);
}

static __attribute__((noinline)) void notify(void)
{
	AT(wait_place);
	AT(signal_place);
}

static __attribute__((noinline)) void check(void)
{
	AT(abort_place);
}

struct scene {
	struct outcome outcome;
	struct finding_source_thread threads[4];
	struct trace_event events[8192];
	struct schedule_segment segments[64];
	struct finding_source source;
	struct symbols *symbols;
	struct finding finding;
	struct error err;
};

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof *scene);

	if (!scene)
		return -1;
	eat();
	notify();
	check();
	*state = scene;
	for (uint16_t i = 1; i < 4; i++)
		scene->threads[i].ordinal = (uint16_t)(i - 1);
	scene->source = (struct finding_source){.outcome = &scene->outcome,
		.threads = scene->threads,
		.thread_count = 4,
		.events = scene->events,
		.segments = scene->segments,
		.program = "./philosophers"};
	return symbols_from_process(&scene->symbols, getpid(), &scene->err);
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	finding_release(&scene->finding);
	symbols_free(scene->symbols);
	free(scene);
	return 0;
}

static void add_event(
	struct scene *scene, uint16_t thread, enum op_kind kind, uint64_t address, uint64_t site)
{
	const uint64_t step = scene->source.event_count;

	scene->events[scene->source.event_count++] = (struct trace_event){
		.step = step, .site = site, .address = address, .thread = thread, .kind = kind};
}

static void add_wait(struct scene *scene, uint16_t waiter, uint16_t holder, uint64_t address)
{
	scene->outcome.waits[scene->outcome.wait_count++] = (struct wait_edge){.waiter = {waiter},
		.holder = {holder},
		.op = OP_MUTEX_LOCK,
		.is_on_cycle = 1,
		.object_address = address,
		.site = take_second.address,
		.holder_site = take_first.address};
}

static void build(struct scene *scene)
{
	if (finding_build(&scene->finding, &scene->source, scene->symbols, &scene->err))
		fail_msg("%s", scene->err.text);
}

static void assert_title(struct scene *scene, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void assert_title(struct scene *scene, const char *format, ...)
{
	char expected[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(expected, sizeof expected, format, args); /* titles are shorter */
	va_end(args);
	build(scene);
	assert_string_equal(scene->finding.title, expected);
}

static uint64_t fork_address(unsigned number)
{
	return (uintptr_t)&forks[number];
}

static void test_build__tells_a_deadlock_in_words(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_DEADLOCK, (struct thread_id){1}, 0);
	add_wait(scene, 1, 2, fork_address(1));
	add_wait(scene, 2, 1, fork_address(0));
	assert_title(scene,
		"deadlock: main.0 holds mutex forks[0] (test_build.c:%d) and waits for mutex "
		"forks[1] (test_build.c:%d); main.1 holds mutex forks[1] (test_build.c:%d) and "
		"waits for mutex forks[0] (test_build.c:%d)",
		take_first.line, take_second.line, take_first.line, take_second.line);
	assert_int_equal(scene->finding.wait_count, 2);
	assert_string_equal(scene->finding.waits[0].holder, "main.1");
	assert_string_equal(scene->finding.waits[0].held_since.function, "eat");
	assert_int_equal(scene->finding.waits[0].held_since.line, take_first.line);
	assert_string_equal(scene->finding.waits[0].at.frames[0].function, "eat");
}

static void test_build__gives_one_signature_to_other_threads(void **state)
{
	struct scene *scene = *state;
	uint64_t first;

	outcome_set(&scene->outcome, OUTCOME_DEADLOCK, (struct thread_id){1}, 0);
	add_wait(scene, 1, 2, fork_address(1));
	add_wait(scene, 2, 1, fork_address(0));
	build(scene);
	first = scene->finding.signature;
	finding_release(&scene->finding);
	scene->outcome.wait_count = 0;
	add_wait(scene, 3, 2, fork_address(3));
	add_wait(scene, 1, 3, fork_address(2));
	add_wait(scene, 2, 1, fork_address(1));
	build(scene);
	assert_true(scene->finding.signature == first);
}

static void test_build__names_heap_objects_by_their_first_use(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_SELF_DEADLOCK, (struct thread_id){2}, 0);
	add_event(scene, 1, OP_MUTEX_LOCK, fork_address(0), take_first.address);
	add_event(scene, 2, OP_MUTEX_LOCK, ON_HEAP, take_first.address);
	add_wait(scene, 2, 2, ON_HEAP);
	assert_title(scene,
		"self-deadlock: main.1 waits for mutex #2 first used at test_build.c:%d by main.1 "
		"(test_build.c:%d), which it holds itself since test_build.c:%d",
		take_first.line, take_second.line, take_first.line);
}

static void test_build__says_which_signal_was_lost(void **state)
{
	struct scene *scene = *state;
	struct wait_edge *edge;

	outcome_set(&scene->outcome, OUTCOME_LOST_WAKEUP, (struct thread_id){1}, 0);
	add_event(scene, 2, OP_COND_SIGNAL, (uintptr_t)&ready, signal_place.address);
	add_event(scene, 1, OP_COND_WAIT, (uintptr_t)&ready, wait_place.address);
	add_wait(scene, 1, UINT16_MAX, (uintptr_t)&ready);
	edge = &scene->outcome.waits[0];
	edge->op = OP_COND_WAKE;
	edge->lost_signals = 1;
	edge->is_on_cycle = 0;
	edge->site = wait_place.address;
	edge->holder_site = 0;
	assert_title(scene,
		"lost-wakeup: main.0 waits on condition variable ready (test_build.c:%d); main.1 "
		"had signalled it at test_build.c:%d before it waited",
		wait_place.line, signal_place.line);
	assert_null(scene->finding.waits[0].holder);
}

static void test_build__tells_every_other_kind_with_its_place(void **state)
{
	static const struct {
		enum outcome_kind kind;
		int code;
		const char *title; /* %d: the line */
	} cases[] = {
		{OUTCOME_EXIT, 3, "exit: the program ended with status 3"},
		{OUTCOME_ABORT, SIGABRT, "abort: main.0 aborted in check (test_build.c:%d)"},
		{OUTCOME_CRASH, SIGSEGV,
			"crash: main.0 got SIGSEGV in check (test_build.c:%d): it used a null "
			"pointer"},
		{OUTCOME_HANG, 0,
			"hang: main.0 runs on without reaching a scheduling point in check "
			"(test_build.c:%d)"},
		{OUTCOME_LIVELOCK, 0,
			"livelock: the program does not end within 0 steps; last, main.0 was in "
			"check (test_build.c:%d)"},
		{OUTCOME_UNLOCK_NOT_OWNED, 0,
			"unlock-not-owned: main.0 unlocks a lock (test_build.c:%d), which it does "
			"not hold"},
		{OUTCOME_DESTROY_HELD, 0,
			"destroy-held: main.0 destroys a lock (test_build.c:%d) while it is held"},
		{OUTCOME_JOIN_SELF, 0, "join-self: main.0 joins itself (test_build.c:%d)"},
		{OUTCOME_JOIN_GONE, 0,
			"join-gone: main.0 joins a thread that is no more (test_build.c:%d)"},
		{OUTCOME_SANITIZER, 0,
			"sanitizer: main.0 made a sanitizer report an error in check "
			"(test_build.c:%d)"},
		{OUTCOME_CHECK_FAILED, 0, "check: the user's own check command refused the run"},
	};
	struct scene *scene = *state;
	char expected[256];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		outcome_set(&scene->outcome, cases[i].kind, (struct thread_id){1}, cases[i].code);
		scene->outcome.site = abort_place.address;
		strcpy(expected, cases[i].title);
		if (strstr(expected, "%d"))
			(void)snprintf(expected, sizeof expected, "%.*s%d%s",
				(int)(strstr(cases[i].title, "%d") - cases[i].title),
				cases[i].title, abort_place.line, strstr(cases[i].title, "%d") + 2);
		assert_title(scene, "%s", expected);
		finding_release(&scene->finding);
	}
}

static void test_build__says_who_holds_what_is_destroyed(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_DESTROY_HELD, (struct thread_id){0}, 0);
	scene->outcome.site = abort_place.address;
	scene->outcome.address = fork_address(2);
	add_event(scene, 3, OP_MUTEX_LOCK, fork_address(2), take_first.address);
	assert_title(scene,
		"destroy-held: main destroys mutex forks[2] (test_build.c:%d) while it is held; "
		"main.2 took it at test_build.c:%d",
		abort_place.line, take_first.line);
}

static void test_build__marks_switches_and_preemptions(void **state)
{
	static const uint16_t order[] = {0, 0, 1, 2, 2, 1};
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_EXIT, (struct thread_id){1}, 1);
	for (size_t i = 0; i < 6; i++)
		add_event(scene, order[i], OP_MUTEX_LOCK, fork_address(0), take_first.address);
	scene->segments[0] = (struct schedule_segment){0, 0, 2};
	scene->segments[1] = (struct schedule_segment){1, SEGMENT_VALUE, 3};
	scene->segments[2] = (struct schedule_segment){1, SEGMENT_PREEMPTS, 1};
	scene->segments[3] = (struct schedule_segment){2, 0, 2};
	scene->segments[4] = (struct schedule_segment){1, SEGMENT_PREEMPTS, 1};
	scene->source.segment_count = 5;
	build(scene);
	assert_int_equal(scene->finding.step_count, 6);
	for (size_t i = 0; i < 6; i++) {
		const bool is_switch = i && order[i] != order[i - 1];

		assert_int_equal(scene->finding.steps[i].is_switch, is_switch);
		assert_int_equal(scene->finding.steps[i].is_preemption, is_switch && i != 3);
	}
	assert_string_equal(scene->finding.steps[3].thread, "main.1");
	assert_string_equal(scene->finding.steps[3].object, "mutex forks[0]");
	assert_int_equal(scene->finding.steps[3].where.line, take_first.line);
}

static void test_build__names_created_begun_and_joined_threads(void **state)
{
	enum { RECORD = 0x1000 }; /* of main.1, in the runtime */
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_EXIT, (struct thread_id){0}, 1);
	add_event(scene, 0, OP_THREAD_CREATE, 0, take_first.address);
	add_event(scene, 0, OP_THREAD_CREATE, 0, take_first.address);
	add_event(scene, 2, OP_THREAD_EXIT, RECORD, 0);
	add_event(scene, 0, OP_THREAD_JOIN, RECORD, take_first.address);
	add_event(scene, 0, OP_THREAD_JOIN, 2 * RECORD, take_first.address);
	build(scene);
	assert_string_equal(scene->finding.steps[0].object, "thread main.0");
	assert_string_equal(scene->finding.steps[1].object, "thread main.1");
	assert_string_equal(scene->finding.steps[3].object, "thread main.1");
	assert_string_equal(scene->finding.steps[4].object, "a thread");
}

static void test_build__says_that_a_holder_has_gone(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_DEADLOCK, (struct thread_id){0}, 0);
	add_wait(scene, 0, 1, fork_address(1));
	scene->outcome.waits[0].is_on_cycle = 0;
	assert_title(scene,
		"deadlock: main waits for mutex forks[1] (test_build.c:%d), which main.0 took at "
		"test_build.c:%d and never gave up",
		take_second.line, take_first.line);
}

static void test_build__keeps_the_end_of_a_long_interleaving(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_EXIT, (struct thread_id){1}, 1);
	for (unsigned i = 0; i < 5000; i++)
		add_event(scene, i % 2, OP_YIELD, 0, take_first.address);
	build(scene);
	assert_int_equal(scene->finding.steps_left_out + scene->finding.step_count, 5000);
	assert_true(scene->finding.step_count < 5000);
	assert_int_equal(scene->finding.steps[scene->finding.step_count - 1].step, 4999);
	assert_null(scene->finding.steps[0].object);
}

static void test_build__names_threads_in_the_schedule(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_EXIT, (struct thread_id){1}, 1);
	scene->threads[3].parent.index = 2;
	scene->segments[0] = (struct schedule_segment){0, 0, 2};
	scene->segments[1] = (struct schedule_segment){3, SEGMENT_PREEMPTS, 7};
	scene->segments[2] = (struct schedule_segment){0, 0, 1};
	scene->source.segment_count = 3;
	build(scene);
	assert_int_equal(scene->finding.schedule.thread_count, 2);
	assert_string_equal(scene->finding.schedule.threads[1].path, "main.1.2");
	assert_int_equal(scene->finding.schedule.threads[1].name, thread_path_name("main.1.2"));
	assert_int_equal(scene->finding.schedule.segments[1].thread, 1);
	assert_int_equal(scene->finding.schedule.segments[2].thread, 0);
	assert_int_equal(scene->finding.schedule.step_count, 10);
	assert_string_equal(scene->finding.schedule.program, "./philosophers");
	assert_string_equal(scene->finding.schedule.outcome, "exit");
}

static void test_build__works_without_symbols_and_threads(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_CRASH, (struct thread_id){0}, SIGSEGV);
	scene->outcome.address = 1 << 20;
	scene->outcome.site = abort_place.address;
	scene->source.thread_count = 0;
	assert_int_equal(finding_build(&scene->finding, &scene->source, NULL, &scene->err), 0);
	assert_string_equal(scene->finding.title, "crash: main got SIGSEGV in an unknown place");
}

static void test_build__looks_through_wrappers_of_headers(void **state)
{
	struct scene *scene = *state;
	const uint64_t wrapped = call_from_system_header(here);

	outcome_set(&scene->outcome, OUTCOME_DEADLOCK, (struct thread_id){0}, 0);
	add_event(scene, 1, OP_MUTEX_LOCK, fork_address(1), wrapped);
	scene->events[0].callers[0] = take_first.address;
	add_wait(scene, 0, 1, fork_address(1));
	scene->outcome.waits[0].holder_site = wrapped;
	build(scene);
	assert_int_equal(scene->finding.steps[0].where.line, take_first.line);
	assert_int_equal(scene->finding.waits[0].held_since.line, take_first.line);
	finding_release(&scene->finding);
	/* Without callers the wrapper is the best there is. */
	scene->events[0].callers[0] = 0;
	build(scene);
	assert_string_equal(scene->finding.steps[0].where.function, "call_from_system_header");
	assert_true(scene->finding.steps[0].where.is_system);
}

static void test_build__keeps_the_run_as_a_trace(void **state)
{
	struct scene *scene = *state;
	const struct trace_event *events;
	struct trace_reader *reader;
	uint64_t seen = 0;
	uint32_t count = 1;

	outcome_set(&scene->outcome, OUTCOME_DEADLOCK, (struct thread_id){1}, 0);
	add_wait(scene, 1, UINT16_MAX, fork_address(1));
	for (unsigned i = 0; i < 2000; i++)
		add_event(scene, i % 4, OP_YIELD, 0, take_first.address);
	build(scene);
	assert_int_equal(trace_reader_open_memory(&reader, scene->finding.trace,
				 scene->finding.trace_size, "trace", &scene->err),
		0);
	while (!trace_reader_next(reader, &events, &count, &scene->err) && count)
		seen += count;
	assert_int_equal(seen, 2000);
	assert_int_equal(count, 0);
	assert_string_equal(trace_reader_run(reader)->threads[3].path, "main.2");
	assert_int_equal(trace_reader_run(reader)->outcome.waits[0].op, OP_MUTEX_LOCK);
	trace_reader_close(reader);
	/* As many steps as the caller wants. */
	finding_release(&scene->finding);
	scene->source.steps_most = UINT32_MAX;
	build(scene);
	assert_int_equal(scene->finding.step_count, 2000);
}

static void assert_contradiction(struct scene *scene)
{
	assert_int_equal(
		finding_build(&scene->finding, &scene->source, scene->symbols, &scene->err),
		ERROR_FORMAT);
	assert_non_null(strstr(scene->err.text, "contradicts"));
}

static void test_build__refuses_evidence_that_contradicts_itself(void **state)
{
	struct scene *scene = *state;

	scene->outcome.kind = OUTCOME_KIND_COUNT;
	assert_contradiction(scene);
	outcome_set(&scene->outcome, OUTCOME_EXIT, (struct thread_id){1}, 1);
	scene->outcome.wait_count = OUTCOME_WAITS_MAX + 1;
	assert_contradiction(scene);
	scene->outcome.wait_count = 0;
	memset(scene->outcome.text, 'x', sizeof scene->outcome.text);
	assert_contradiction(scene);
	scene->outcome.text[0] = '\0';
	add_wait(scene, 4, 0, 0);
	assert_contradiction(scene);
	scene->outcome.wait_count = 0;
	scene->threads[2].parent.index = 2;
	assert_contradiction(scene);
	scene->threads[2].parent.index = 0;
	scene->source.segment_count = 1;
	scene->segments[0] = (struct schedule_segment){4, 0, 1};
	assert_contradiction(scene);
	scene->source.segment_count = 0;
	add_event(scene, 4, OP_YIELD, 0, 0);
	assert_contradiction(scene);
	scene->events[0].thread = 0;
	scene->events[0].kind = OP_KIND_COUNT;
	assert_contradiction(scene);
}

#define WITH_SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SCENE(test_build__tells_a_deadlock_in_words),
		WITH_SCENE(test_build__gives_one_signature_to_other_threads),
		WITH_SCENE(test_build__names_heap_objects_by_their_first_use),
		WITH_SCENE(test_build__says_which_signal_was_lost),
		WITH_SCENE(test_build__tells_every_other_kind_with_its_place),
		WITH_SCENE(test_build__says_who_holds_what_is_destroyed),
		WITH_SCENE(test_build__marks_switches_and_preemptions),
		WITH_SCENE(test_build__names_created_begun_and_joined_threads),
		WITH_SCENE(test_build__says_that_a_holder_has_gone),
		WITH_SCENE(test_build__keeps_the_end_of_a_long_interleaving),
		WITH_SCENE(test_build__names_threads_in_the_schedule),
		WITH_SCENE(test_build__works_without_symbols_and_threads),
		WITH_SCENE(test_build__looks_through_wrappers_of_headers),
		WITH_SCENE(test_build__keeps_the_run_as_a_trace),
		WITH_SCENE(test_build__refuses_evidence_that_contradicts_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
