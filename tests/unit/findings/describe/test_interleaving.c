/* The steps of a finding, with the thread of each step. */
#include "build_scene.h"

static void test_interleaving__marks_switches_and_preemptions(void **state)
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

static void test_interleaving__names_created_begun_and_joined_threads(void **state)
{
	enum { RECORD = 0x1000 }; /* record of main.1, in the runtime */
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

static struct trace_event *last_event(struct scene *scene)
{
	return &scene->events[scene->source.event_count - 1];
}

static void test_interleaving__says_what_was_called(void **state)
{
	struct scene *scene = *state;
	static const char *const verbs[] = {"accepts on", "sends SIGTERM to the process",
		"raises SIGABRT", "times out waiting on", "times out locking",
		"is interrupted by a signal receiving from", "forks"};

	outcome_set(&scene->outcome, OUTCOME_EXIT, (struct thread_id){1}, 1);
	add_event(scene, 0, OP_FD_READ, ON_HEAP, take_first.address);
	last_event(scene)->call = CALL_ACCEPT;
	last_event(scene)->number = descriptor_number(DESCRIPTOR_SOCKET, 5);
	add_event(scene, 0, OP_SIGNAL_SEND, 0, take_first.address);
	last_event(scene)->number = SIGTERM;
	add_event(scene, 0, OP_SIGNAL_SEND, ON_HEAP, take_first.address);
	last_event(scene)->number = SIGABRT;
	last_event(scene)->other = 1;
	add_event(scene, 0, OP_COND_WAKE, fork_address(0), take_first.address);
	last_event(scene)->result = RESULT_TIMED_OUT;
	add_event(scene, 0, OP_MUTEX_LOCK, fork_address(0), take_first.address);
	last_event(scene)->result = RESULT_TIMED_OUT;
	add_event(scene, 0, OP_FD_READ, ON_HEAP, take_first.address);
	last_event(scene)->call = CALL_RECEIVE;
	last_event(scene)->result = RESULT_INTERRUPTED;
	add_event(scene, 0, OP_NONE, 0, take_first.address);
	last_event(scene)->call = CALL_FORK;
	build(scene);
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		assert_string_equal(scene->finding.steps[i].verb, verbs[i]);
	assert_string_equal(scene->finding.steps[0].object, "socket 5");
	assert_null(scene->finding.steps[2].object);
	assert_null(scene->finding.steps[6].object);
}

static void test_interleaving__names_threads_as_the_program_does(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_JOIN_SELF, (struct thread_id){1}, 0);
	(void)strcpy(scene->threads[1].label, "logger"); /* fits */
	add_event(scene, 1, OP_YIELD, 0, take_first.address);
	build(scene);
	assert_int_equal(scene->finding.thread_count, 1);
	assert_string_equal(finding_thread_label(&scene->finding, "main.0"), "logger");
	assert_null(finding_thread_label(&scene->finding, "main"));
	assert_non_null(strstr(scene->finding.title, "main.0 \"logger\" joins itself"));
}

static void test_interleaving__keeps_the_end_of_a_long_interleaving(void **state)
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

static void test_interleaving__keeps_what_led_to_an_endless_loop(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_LIVELOCK, (struct thread_id){0}, 0);
	for (unsigned i = 0; i < 8000; i++)
		add_event(scene, i < 3000 && i % 2, OP_YIELD, 0, take_first.address);
	build(scene);
	assert_in_range(scene->finding.steps[scene->finding.step_count - 1].step, 3010, 3100);
	assert_int_equal(scene->finding.steps[0].step, scene->finding.steps_left_out);
	assert_int_equal(scene->finding.steps_left_out + scene->finding.step_count +
				 scene->finding.later_steps_left_out,
		8000);
}

static void test_interleaving__of_a_window_begins_there(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_LIVELOCK, (struct thread_id){0}, 0);
	add_event(scene, 0, OP_THREAD_CREATE, 0, take_first.address);
	for (unsigned i = 0; i < 50; i++) {
		add_event(scene, i % 2, OP_YIELD, 0, take_first.address);
		scene->events[i + 1].step = 9000 + i;
	}
	scene->source.events_from = 9000;
	scene->source.events_dropped = 100;
	build(scene);
	assert_int_equal(scene->finding.step_count, 50);
	assert_int_equal(scene->finding.steps[0].step, 9000);
	assert_int_equal(scene->finding.steps_left_out, 9000);
	assert_int_equal(scene->finding.later_steps_left_out, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SCENE(test_interleaving__marks_switches_and_preemptions),
		WITH_SCENE(test_interleaving__names_created_begun_and_joined_threads),
		WITH_SCENE(test_interleaving__says_what_was_called),
		WITH_SCENE(test_interleaving__names_threads_as_the_program_does),
		WITH_SCENE(test_interleaving__keeps_the_end_of_a_long_interleaving),
		WITH_SCENE(test_interleaving__keeps_what_led_to_an_endless_loop),
		WITH_SCENE(test_interleaving__of_a_window_begins_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
