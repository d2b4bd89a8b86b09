/* The steps of a finding that are no scheduling points: the free of memory that is used later, and the failure. */
#include "build_scene.h"

static struct finding_step *last_step(struct scene *scene)
{
	return &scene->finding.steps[scene->finding.step_count - 1];
}

static void add_locks(struct scene *scene, uint16_t thread, unsigned count)
{
	while (count--)
		add_event(scene, thread, OP_MUTEX_LOCK, fork_address(0), take_first.address);
}

static void test_ending__a_crash_is_the_last_step(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_CRASH, (struct thread_id){1}, SIGSEGV);
	scene->outcome.site = abort_location.address - 1;
	add_locks(scene, 0, 2);
	add_locks(scene, 1, 1);
	build(scene);
	assert_int_equal(scene->finding.step_count, 4);
	assert_true(last_step(scene)->is_failure);
	assert_string_equal(last_step(scene)->verb, "gets SIGSEGV");
	assert_string_equal(last_step(scene)->thread, "main.0");
	assert_int_equal(last_step(scene)->step, 2);
	assert_int_equal(last_step(scene)->where.line, abort_location.line);
	assert_false(last_step(scene)->is_switch);
}

/* Another thread has sent the signal, which is a step of its own. */
static void test_ending__a_sent_signal_adds_no_step(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_CRASH, (struct thread_id){1}, SIGTERM);
	add_locks(scene, 1, 2);
	build(scene);
	assert_int_equal(scene->finding.step_count, 2);
	assert_false(last_step(scene)->is_failure);
}

static void test_ending__abort_after_its_signal_adds_no_step(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_ABORT, (struct thread_id){1}, SIGABRT);
	add_locks(scene, 1, 1);
	add_event(scene, 1, OP_SIGNAL_SEND, 0, take_second.address);
	scene->events[1].number = SIGABRT;
	build(scene);
	assert_int_equal(scene->finding.step_count, 2);
	assert_true(last_step(scene)->is_failure);
}

static void test_ending__a_misuse_marks_its_step(void **state)
{
	struct scene *scene = *state;

	outcome_set(&scene->outcome, OUTCOME_UNLOCK_NOT_OWNED, (struct thread_id){1}, 0);
	add_locks(scene, 1, 3);
	build(scene);
	assert_int_equal(scene->finding.step_count, 3);
	assert_true(last_step(scene)->is_failure);
	assert_false(scene->finding.steps[0].is_failure);
}

/* A thread frees memory after its second step, and another one frees it again. No event tells of either. */
static void free_twice(struct scene *scene)
{
	outcome_set(&scene->outcome, OUTCOME_DOUBLE_FREE, (struct thread_id){2}, 0);
	scene->outcome.address = ON_HEAP;
	scene->outcome.site = take_second.address;
	scene->outcome.step = 5;
	scene->outcome.other_thread = (struct thread_id){1};
	scene->outcome.other_site = take_first.address;
	scene->outcome.other_step = 2;
	add_locks(scene, 1, 2);
	add_locks(scene, 2, 3);
}

static void test_ending__a_free_has_its_place(void **state)
{
	struct scene *scene = *state;
	const struct finding_step *steps;

	free_twice(scene);
	build(scene);
	steps = scene->finding.steps;
	assert_int_equal(scene->finding.step_count, 7);
	assert_string_equal(steps[2].verb, "frees");
	assert_string_equal(steps[2].thread, "main.0");
	assert_int_equal(steps[2].step, 1);
	assert_int_equal(steps[2].where.line, take_first.line);
	assert_int_equal(steps[2].cause_line, 1);
	assert_false(steps[2].is_failure);
	assert_int_equal(steps[3].step, 2);
	assert_string_equal(steps[6].verb, "frees");
	assert_string_equal(steps[6].thread, "main.1");
	assert_int_equal(steps[6].cause_line, 2);
	assert_true(steps[6].is_failure);
}

/* A free that is no event is not shown if it is before the first kept step. */
static void test_ending__an_early_free_is_left_out(void **state)
{
	struct scene *scene = *state;

	free_twice(scene);
	scene->source.steps_most = 2;
	build(scene);
	assert_int_equal(scene->finding.step_count, 3);
	assert_string_equal(scene->finding.steps[0].verb, "locks");
	assert_int_equal(last_step(scene)->cause_line, 2);
}

/* If the free is an event, it stays as a step of the cause. */
static void test_ending__an_early_step_of_the_cause_is_kept(void **state)
{
	struct scene *scene = *state;

	free_twice(scene);
	scene->events[1].kind = OP_STORE;
	scene->events[1].call = CALL_FREE;
	scene->source.steps_most = 2;
	build(scene);
	assert_int_equal(scene->finding.step_count, 4);
	assert_int_equal(scene->finding.early_step_count, 1);
	assert_int_equal(scene->finding.steps[0].step, 1);
	assert_int_equal(scene->finding.steps[0].cause_line, 1);
	assert_int_equal(scene->finding.steps[1].step, 3);
	assert_int_equal(scene->finding.steps_left_out, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SCENE(test_ending__a_crash_is_the_last_step),
		WITH_SCENE(test_ending__a_sent_signal_adds_no_step),
		WITH_SCENE(test_ending__abort_after_its_signal_adds_no_step),
		WITH_SCENE(test_ending__a_misuse_marks_its_step),
		WITH_SCENE(test_ending__a_free_has_its_place),
		WITH_SCENE(test_ending__an_early_free_is_left_out),
		WITH_SCENE(test_ending__an_early_step_of_the_cause_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
