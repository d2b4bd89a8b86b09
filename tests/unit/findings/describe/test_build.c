/* Findings of made-up runs whose code and data are this test's own, so that symbols are real. */
#include "build_scene.h"
#include "support/system_wrapper.h"

static void test_build__describes_a_deadlock_in_words(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_DEADLOCK, (struct thread_id){1}, 0);
	add_wait(scene, 1, 2, fork_address(1));
	add_wait(scene, 2, 1, fork_address(0));
	assert_title(scene,
		"deadlock: main.0 holds mutex forks[0] (build_scene.h:%d) and waits for mutex "
		"forks[1] (build_scene.h:%d); main.1 holds mutex forks[1] (build_scene.h:%d) and "
		"waits for mutex forks[0] (build_scene.h:%d)",
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
		"self-deadlock: main.1 waits for mutex #2 first used at build_scene.h:%d by main.1 "
		"(build_scene.h:%d), which it holds itself since build_scene.h:%d",
		take_first.line, take_second.line, take_first.line);
}

static void test_build__says_which_signal_was_lost(void **state)
{
	struct scene *scene = *state;
	struct wait_edge *edge;

	outcome_set(&scene->outcome, OUTCOME_LOST_WAKEUP, (struct thread_id){1}, 0);
	add_event(scene, 2, OP_COND_SIGNAL, (uintptr_t)&ready, signal_location.address);
	add_event(scene, 1, OP_COND_WAIT, (uintptr_t)&ready, wait_location.address);
	add_wait(scene, 1, UINT16_MAX, (uintptr_t)&ready);
	edge = &scene->outcome.waits[0];
	edge->op = OP_COND_WAKE;
	edge->lost_signals = 1;
	edge->is_on_cycle = 0;
	edge->site = wait_location.address;
	edge->holder_site = 0;
	assert_title(scene,
		"lost-wakeup: main.0 waits on condition variable ready (build_scene.h:%d); main.1 "
		"had signalled it at build_scene.h:%d before it waited",
		wait_location.line, signal_location.line);
	assert_null(scene->finding.waits[0].holder);
}

static void test_build__describes_every_other_kind_with_its_location(void **state)
{
	static const struct {
		enum outcome_kind kind;
		int code;
		const char *title; /* %d: the line */
	} cases[] = {
		{OUTCOME_EXIT, 3, "exit: the program ended with status 3"},
		{OUTCOME_ABORT, SIGABRT, "abort: main.0 aborted in check (build_scene.h:%d)"},
		{OUTCOME_CRASH, SIGSEGV,
			"crash: main.0 got SIGSEGV in check (build_scene.h:%d): it used a null "
			"pointer"},
		{OUTCOME_HANG, 0,
			"hang: main.0 runs on without reaching a scheduling point in check "
			"(build_scene.h:%d)"},
		{OUTCOME_LIVELOCK, 0,
			"livelock: the program does not end within 0 steps; last, main.0 was in "
			"check (build_scene.h:%d)"},
		{OUTCOME_UNLOCK_NOT_OWNED, 0,
			"unlock-not-owned: main.0 unlocks a lock (build_scene.h:%d), which it does "
			"not hold"},
		{OUTCOME_DESTROY_HELD, 0,
			"destroy-held: main.0 destroys a lock (build_scene.h:%d) while it is held"},
		{OUTCOME_JOIN_SELF, 0, "join-self: main.0 joins itself (build_scene.h:%d)"},
		{OUTCOME_JOIN_GONE, 0,
			"join-gone: main.0 joins a thread that was joined before, ended by itself or never existed (build_scene.h:%d)"},
		{OUTCOME_SANITIZER, 0,
			"sanitizer: main.0 made a sanitizer report an error in check "
			"(build_scene.h:%d)"},
		{OUTCOME_CHECK_FAILED, 0, "check: the user's own check command refused the run"},
	};
	struct scene *scene = *state;
	char expected[256];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		outcome_set(&scene->outcome, cases[i].kind, (struct thread_id){1}, cases[i].code);
		scene->outcome.site = abort_location.address;
		strcpy(expected, cases[i].title);
		if (strstr(expected, "%d"))
			(void)snprintf(expected, sizeof expected, "%.*s%d%s",
				(int)(strstr(cases[i].title, "%d") - cases[i].title),
				cases[i].title, abort_location.line,
				strstr(cases[i].title, "%d") + 2);
		assert_title(scene, "%s", expected);
		finding_release(&scene->finding);
	}
}

static void test_build__says_who_holds_what_is_destroyed(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_DESTROY_HELD, (struct thread_id){0}, 0);
	scene->outcome.site = abort_location.address;
	scene->outcome.address = fork_address(2);
	scene->outcome.op = OP_MUTEX_LOCK;
	scene->outcome.other_thread = (struct thread_id){3};
	scene->outcome.other_site = take_first.address;
	add_event(scene, 3, OP_MUTEX_TRYLOCK, fork_address(2), take_first.address);
	/* A try that failed. */
	add_event(scene, 1, OP_MUTEX_TRYLOCK, fork_address(2), take_second.address);
	assert_title(scene,
		"destroy-held: main destroys mutex forks[2] (build_scene.h:%d) while it is held; "
		"main.2 holds it since build_scene.h:%d",
		abort_location.line, take_first.line);
}

static void test_build__calls_a_spin_lock_what_it_is(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_UNLOCK_NOT_OWNED, (struct thread_id){1}, 0);
	scene->outcome.site = abort_location.address;
	scene->outcome.address = fork_address(2);
	scene->outcome.op = OP_SPIN_LOCK;
	scene->outcome.other_thread = (struct thread_id){1};
	assert_title(scene,
		"unlock-not-owned: main.0 unlocks spin lock forks[2] (build_scene.h:%d), which it "
		"does not hold; the thread itself holds it",
		abort_location.line);
}

static void test_build__says_that_a_holder_has_gone(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_DEADLOCK, (struct thread_id){0}, 0);
	add_wait(scene, 0, 1, fork_address(1));
	scene->outcome.waits[0].is_on_cycle = 0;
	assert_title(scene,
		"deadlock: main waits for mutex forks[1] (build_scene.h:%d), which main.0 took at "
		"build_scene.h:%d and never released",
		take_second.line, take_first.line);
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
	scene->outcome.site = abort_location.address;
	scene->source.thread_count = 0;
	assert_int_equal(finding_build(&scene->finding, &scene->source, NULL, &scene->err), 0);
	assert_string_equal(scene->finding.title, "crash: main got SIGSEGV in an unknown location");
	assert_non_null(strstr(scene->finding.detail, " used address 0x100000\n"));
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
	/* The wrapper is the best location if no callers are known. */
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
	assert_int_equal(trace_reader_open(&reader, scene->finding.trace, scene->finding.trace_size,
				 "trace", &scene->err),
		0);
	while (!trace_reader_next(reader, &events, &count, &scene->err) && count)
		seen += count;
	assert_int_equal(seen, 2000);
	assert_int_equal(count, 0);
	assert_string_equal(trace_reader_run(reader)->threads[3].path, "main.2");
	assert_int_equal(trace_reader_run(reader)->outcome.waits[0].op, OP_MUTEX_LOCK);
	trace_reader_close(reader);
	/* The caller gets as many steps as it wants. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SCENE(test_build__describes_a_deadlock_in_words),
		WITH_SCENE(test_build__gives_one_signature_to_other_threads),
		WITH_SCENE(test_build__names_heap_objects_by_their_first_use),
		WITH_SCENE(test_build__says_which_signal_was_lost),
		WITH_SCENE(test_build__describes_every_other_kind_with_its_location),
		WITH_SCENE(test_build__says_who_holds_what_is_destroyed),
		WITH_SCENE(test_build__calls_a_spin_lock_what_it_is),
		WITH_SCENE(test_build__says_that_a_holder_has_gone),
		WITH_SCENE(test_build__names_threads_in_the_schedule),
		WITH_SCENE(test_build__works_without_symbols_and_threads),
		WITH_SCENE(test_build__looks_through_wrappers_of_headers),
		WITH_SCENE(test_build__keeps_the_run_as_a_trace),
		WITH_SCENE(test_build__refuses_evidence_that_contradicts_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
