#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/text/interleaving_rows.h"

#define STEPS_MAX 64

static struct finding_step steps[STEPS_MAX];
static struct finding finding;
static struct report_style style;
static enum interleaving_row rows[STEPS_MAX];

static int set_up(void **state)
{
	(void)state;
	finding = (struct finding){.steps = steps};
	style = (struct report_style){.steps_most = 8};
	return 0;
}

static struct finding_step *add_step(char *thread, char *verb, char *object)
{
	struct finding_step *step = &steps[finding.step_count++];

	*step = (struct finding_step){.thread = thread,
		.verb = verb,
		.object = object,
		.where = {.file = (char *)"bank.c", .line = finding.step_count}};
	return step;
}

static uint32_t count_rows(enum interleaving_row row)
{
	uint32_t count = 0;

	interleaving_choose_rows(&finding, &style, rows);
	for (uint32_t i = 0; i < finding.step_count; i++)
		count += rows[i] == row;
	return count;
}

static void test_interleaving_rows__short_tables_keep_private_accesses(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 8; i++)
		add_step("main", "writes", "own");
	assert_int_equal(count_rows(ROW_SHOWN), 8);
}

static void test_interleaving_rows__private_accesses_are_left_out_first(void **state)
{
	(void)state;
	add_step("main", "writes", "total");
	for (unsigned i = 0; i < 20; i++)
		add_step("main", "atomically reads", "own");
	add_step("main.0", "reads", "total");
	add_step("main.0", "locks", "mutex m");
	assert_int_equal(count_rows(ROW_PRIVATE), 20);
	assert_int_equal(count_rows(ROW_SHOWN), 3);
	assert_int_equal(rows[0], ROW_SHOWN);
}

static void test_interleaving_rows__the_middle_is_left_out_next(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20; i++)
		add_step(i % 2 ? "main" : "main.0", "writes", "total");
	assert_int_equal(count_rows(ROW_MIDDLE), 12);
	assert_int_equal(rows[1], ROW_SHOWN);
	assert_int_equal(rows[2], ROW_MIDDLE);
	assert_int_equal(rows[13], ROW_MIDDLE);
	assert_int_equal(rows[14], ROW_SHOWN);
}

static void test_interleaving_rows__the_last_waits_stay(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20; i++)
		add_step(i % 2 ? "main" : "main.0", "writes", "total");
	for (unsigned i = 4; i < 9; i++) {
		steps[i].verb = (char *)(i % 2 ? "signals" : "waits on");
		steps[i].object = (char *)"condition variable c";
	}
	steps[10].verb = (char *)"locks";
	assert_int_equal(count_rows(ROW_MIDDLE), 8); /* at most half of the rows are for waits */
	assert_int_equal(rows[4], ROW_MIDDLE);
	assert_int_equal(rows[5], ROW_SHOWN);
	assert_int_equal(rows[8], ROW_SHOWN);
	assert_int_equal(rows[10], ROW_MIDDLE);
}

static void test_interleaving_rows__key_steps_stay(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 40; i++)
		add_step(i % 2 ? "main" : "main.0", "writes", i % 4 ? "total" : "own");
	steps[8].cause_line = 1;
	steps[20].is_preemption = true;
	finding.preemptions = 1;
	interleaving_choose_rows(&finding, &style, rows);
	assert_int_equal(rows[8], ROW_SHOWN);
	assert_int_equal(rows[19], ROW_SHOWN);
	assert_int_equal(rows[20], ROW_SHOWN);
	assert_int_equal(rows[12], ROW_PRIVATE);
	assert_int_equal(rows[15], ROW_MIDDLE);
}

static void test_interleaving_rows__accesses_of_one_call_share_a_row(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct finding_step *step = add_step("main", "reads", "jobs");

		step->library_call = (char *)"jobs.push_back(...)";
		step->where.line = 7;
	}
	add_step("main.0", "reads", "jobs");
	assert_int_equal(count_rows(ROW_FOLDED), 19);
	assert_int_equal(count_rows(ROW_SHOWN), 2);
	style.has_system_frames = true;
	assert_int_equal(count_rows(ROW_FOLDED), 0);
}

static void test_interleaving_rows__library_state_is_left_out(void **state)
{
	(void)state;
	add_step("main", "reads", "state")->where.is_system = true;
	add_step("main", "locks", "mutex m")->where.is_system = true;
	add_step("main.0", "reads", "state")->where.is_system = true;
	steps[2].is_switch = true;
	assert_int_equal(count_rows(ROW_LIBRARY), 1);
	assert_int_equal(rows[0], ROW_LIBRARY);
	style.has_system_frames = true;
	assert_int_equal(count_rows(ROW_LIBRARY), 0);
}

static void test_interleaving_rows__memory_handed_to_a_new_thread_is_private(void **state)
{
	(void)state;
	style.steps_most = 6;
	add_step("main", "writes", "job");
	add_step("main", "creates", "thread main.0");
	add_step("main.0", "reads", "job");
	add_step("main.0", "writes", "job");
	add_step("main.0", "ends", NULL);
	add_step("main", "joins", "thread main.0");
	add_step("main", "reads", "job");
	assert_int_equal(count_rows(ROW_PRIVATE), 4);
	steps[1].object = (char *)"thread main.00";
	assert_int_equal(count_rows(ROW_PRIVATE), 1);
	steps[1].object = (char *)"thread main.0";
	steps[5].thread =
		(char *)"main.1"; /* another thread joins: the write and the last read meet */
	assert_int_equal(count_rows(ROW_PRIVATE), 2);
	assert_int_equal(rows[3], ROW_SHOWN);
	assert_int_equal(rows[6], ROW_SHOWN);
}

static void test_interleaving_rows__unnamed_private_memory_is_never_shown(void **state)
{
	(void)state;
	add_step("main", "writes", "(block of 16 bytes allocated at a.cpp:5, #1)+8");
	add_step("main", "writes", "total");
	add_step("main", "frees", "(block of 16 bytes allocated at a.cpp:5, #1)");
	assert_int_equal(count_rows(ROW_PRIVATE), 2);
}

static void test_interleaving_rows__further_turns_of_a_loop_are_left_out(void **state)
{
	(void)state;
	style.steps_most = 40;
	for (unsigned i = 0; i < 4; i++) {
		add_step("main", "locks", "mutex m")->where.line = 5;
		add_step("main", "writes", "total")->where.line = 6;
		add_step("main", "unlocks", "mutex m")->where.line = 7;
	}
	assert_int_equal(count_rows(ROW_REPEATED), 9);
	assert_int_equal(rows[2], ROW_SHOWN);
	assert_int_equal(rows[3], ROW_REPEATED);
	steps[4].cause_line = 1; /* shown, and the six steps after it are like those before */
	assert_int_equal(count_rows(ROW_REPEATED), 6);
	assert_int_equal(rows[4], ROW_SHOWN);
	assert_int_equal(rows[5], ROW_REPEATED);
	assert_int_equal(rows[11], ROW_SHOWN);
	steps[9].is_switch = true; /* another thread moved in between */
	assert_int_equal(count_rows(ROW_REPEATED), 0);
}

static void test_interleaving_rows__wakes_belong_to_the_call(void **state)
{
	(void)state;
	add_step("main", "atomically writes", "done")->library_call = (char *)"done.release(...)";
	add_step("main", "wakes waiters of", "futex done")->where.line = 1;
	add_step("main", "wakes waiters of", "futex done")->where.line = 2;
	assert_int_equal(count_rows(ROW_FOLDED), 1);
	assert_int_equal(rows[1], ROW_FOLDED);
	assert_int_equal(rows[2], ROW_SHOWN);
}

static void test_interleaving_rows__creation_and_return_share_a_row(void **state)
{
	(void)state;
	add_step("main", "creates", "thread main.0");
	add_step("main", "returns from pthread_create", NULL);
	add_step("main", "creates", "thread main.1");
	add_step("main.0", "begins", NULL)->is_switch = true;
	add_step("main", "returns from pthread_create", NULL)->is_switch = true;
	assert_int_equal(count_rows(ROW_FOLDED), 1);
	assert_int_equal(rows[1], ROW_FOLDED);
	style.has_callers = true;
	assert_int_equal(count_rows(ROW_FOLDED), 0);
	style.has_callers = false;
	steps[2].is_preemption = true; /* after the return */
	assert_int_equal(count_rows(ROW_FOLDED), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			test_interleaving_rows__short_tables_keep_private_accesses, set_up),
		cmocka_unit_test_setup(
			test_interleaving_rows__private_accesses_are_left_out_first, set_up),
		cmocka_unit_test_setup(test_interleaving_rows__the_middle_is_left_out_next, set_up),
		cmocka_unit_test_setup(test_interleaving_rows__the_last_waits_stay, set_up),
		cmocka_unit_test_setup(test_interleaving_rows__key_steps_stay, set_up),
		cmocka_unit_test_setup(
			test_interleaving_rows__accesses_of_one_call_share_a_row, set_up),
		cmocka_unit_test_setup(test_interleaving_rows__library_state_is_left_out, set_up),
		cmocka_unit_test_setup(
			test_interleaving_rows__memory_handed_to_a_new_thread_is_private, set_up),
		cmocka_unit_test_setup(
			test_interleaving_rows__unnamed_private_memory_is_never_shown, set_up),
		cmocka_unit_test_setup(
			test_interleaving_rows__further_turns_of_a_loop_are_left_out, set_up),
		cmocka_unit_test_setup(test_interleaving_rows__wakes_belong_to_the_call, set_up),
		cmocka_unit_test_setup(
			test_interleaving_rows__creation_and_return_share_a_row, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
