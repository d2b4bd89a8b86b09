#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/interleaving_rows.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			test_interleaving_rows__short_tables_keep_private_accesses, set_up),
		cmocka_unit_test_setup(
			test_interleaving_rows__private_accesses_are_left_out_first, set_up),
		cmocka_unit_test_setup(test_interleaving_rows__the_middle_is_left_out_next, set_up),
		cmocka_unit_test_setup(test_interleaving_rows__key_steps_stay, set_up),
		cmocka_unit_test_setup(
			test_interleaving_rows__accesses_of_one_call_share_a_row, set_up),
		cmocka_unit_test_setup(test_interleaving_rows__library_state_is_left_out, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
