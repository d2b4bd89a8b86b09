#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "model/thread_name.h"
#include "trace/schedule_text.h"

static const char sample[] = "raddle schedule 1\n"
			     "program ./bank\n"
			     "outcome deadlock\n"
			     "steps 19\n"
			     "layout 41523\n"
			     "interruption points\n"
			     "main 12\n"
			     "main.0 3 preempts\n"
			     "value 1 of 3\n"
			     "main 2 stalls\n"
			     "main.0 1 preempts stalls\n"
			     "main 1\n";

static int parse(const char *text, struct schedule_file *file, struct error *err)
{
	*err = (struct error){0};
	return schedule_text_parse(text, strlen(text), "test.txt", file, err);
}

static void assert_refused(const char *text, int code, const char *cause)
{
	struct schedule_file file;
	struct error err;

	assert_int_equal(parse(text, &file, &err), code);
	assert_int_equal(err.code, code);
	if (!strstr(err.text, cause))
		fail_msg("\"%s\" does not say \"%s\"", err.text, cause);
	assert_non_null(strstr(err.text, "; ")); /* the remedy */
	assert_null(strchr(err.text, '\n'));
}

static void test_schedule_text__reads_every_kind_of_line(void **state)
{
	struct schedule_file file;
	struct error err;

	(void)state;
	assert_int_equal(parse(sample, &file, &err), 0);
	assert_string_equal(file.program, "./bank");
	assert_string_equal(file.outcome, "deadlock");
	assert_int_equal(file.step_count, 19);
	assert_int_equal(file.layout, 41523);
	assert_int_equal(file.interruption_points, INTERRUPTION_POINTS_ALL);
	assert_int_equal(file.thread_count, 2);
	assert_string_equal(file.threads[1].path, "main.0");
	assert_int_equal(file.threads[1].name, thread_name_child(THREAD_NAME_MAIN, 0));
	assert_int_equal(file.segment_count, 6);
	assert_int_equal(file.segments[1].flags, SEGMENT_PREEMPTS);
	assert_int_equal(file.segments[3].flags, SEGMENT_STALLS);
	assert_int_equal(file.segments[4].flags, SEGMENT_PREEMPTS | SEGMENT_STALLS);
	assert_int_equal(file.segments[1].count, 3);
	assert_int_equal(file.segments[2].flags, SEGMENT_VALUE);
	assert_int_equal(file.segments[2].thread, 1);
	assert_int_equal(file.segments[2].count, 3);
	schedule_file_release(&file);
}

static void test_schedule_text__writes_what_it_read(void **state)
{
	struct schedule_file file;
	struct error err;
	struct strbuf text;

	(void)state;
	strbuf_init(&text);
	assert_int_equal(parse(sample, &file, &err), 0);
	schedule_text_write(&file, &text);
	assert_string_equal(text.text, sample);
	strbuf_release(&text);
	schedule_file_release(&file);
}

static void test_schedule_text__keeps_strange_program_names(void **state)
{
	static const char *const names[] = {
		" a b ", "x\ny", "back\\slash", "", "#no comment", "caf\xc3\xa9", "\xff\x01"};
	struct schedule_file file, again;
	struct error err;
	struct strbuf text;

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		file = (struct schedule_file){.program = (char *)(uintptr_t)names[i]};
		strbuf_init(&text);
		schedule_text_write(&file, &text);
		assert_int_equal(parse(text.text, &again, &err), 0);
		assert_string_equal(again.program, names[i]);
		schedule_file_release(&again);
		strbuf_release(&text);
	}
}

static void test_schedule_text__accepts_what_an_editor_does(void **state)
{
	struct schedule_file file;
	struct error err;

	(void)state;
	assert_int_equal(parse("# mine\r\n\r\nraddle schedule 1\r\n\n  main   2 # first\r\n"
			       "\tmain.3.1 4",
				 &file, &err),
		0);
	assert_int_equal(file.step_count, 6);
	assert_int_equal(
		file.threads[1].name, thread_name_child(thread_name_child(THREAD_NAME_MAIN, 3), 1));
	schedule_file_release(&file);
}

static void test_schedule_text__refuses_a_future_version(void **state)
{
	(void)state;
	assert_refused("raddle schedule 2\nsteps 0\n", ERROR_VERSION, "version 2");
}

static void test_schedule_text__refuses_damage_with_its_location(void **state)
{
	static const struct {
		const char *text, *cause;
	} cases[] = {
		{"", "not a schedule"},
		{"\x7f"
		 "ELF",
			"not a schedule"},
		{"raddle schedule 1\nmain\n", "test.txt:2:"},
		{"raddle schedule 1\nmain 0\n", "from 1 on"},
		{"raddle schedule 1\nmain 99999999999999999999\n", "from 1 on"},
		{"raddle schedule 1\nmain 4294967296\n", "from 1 on"},
		{"raddle schedule 1\nmain -1\n", "from 1 on"},
		{"raddle schedule 1\nmain 3 preempt\n", "preempts"},
		{"raddle schedule 1\nmain 3 stalls stalls\n", "stalls"},
		{"raddle schedule 1\nmain. 3\n", "not a thread"},
		{"raddle schedule 1\nmain.00 3\n", "not a thread"},
		{"raddle schedule 1\nmain.65536 3\n", "not a thread"},
		{"raddle schedule 1\nmainly 3\n", "not a thread"},
		{"raddle schedule 1\nvalue 3 of 3\n", "value choice"},
		{"raddle schedule 1\nvalue 1 in 3\n", "value choice"},
		{"raddle schedule 1\nsteps 1\nsteps 1\nmain 1\n", "not a line"},
		{"raddle schedule 1\nprogram a\nprogram b\n", "twice"},
		{"raddle schedule 1\nprogram a\\x0\n", "escape"},
		{"raddle schedule 1\nprogram a\\x00b\n", "escape"},
		{"raddle schedule 1\nmain 1\nprogram a\n", "neither"},
		{"raddle schedule 1\nhello\n", "not a line"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_refused(cases[i].text, ERROR_FORMAT, cases[i].cause);
	assert_refused("raddle schedule 1\nlayout 65536\nmain 1\n", ERROR_FORMAT,
		"test.txt:2: not a layout");
	assert_refused("raddle schedule 1\nlayout 1\nlayout 1\nmain 1\n", ERROR_FORMAT,
		"test.txt:3: this line stands twice");
	assert_refused("raddle schedule 1\ninterruption points\ninterruption points\nmain 1\n",
		ERROR_FORMAT, "test.txt:3: this line stands twice");
}

/* The header states the length from the "steps" line on. */
static void test_schedule_text__notices_every_cut(void **state)
{
	const size_t claimed = (size_t)(strstr(sample, "main 12") - sample);
	struct schedule_file file;
	struct error err;

	(void)state;
	/* The schedule is complete without its last byte, the newline. */
	for (size_t size = claimed; size < sizeof sample - 2; size++)
		assert_int_equal(
			schedule_text_parse(sample, size, "cut", &file, &err), ERROR_FORMAT);
}

static void test_schedule_text__reads_4096_threads_and_refuses_one_more(void **state)
{
	struct schedule_file file;
	struct error err;
	struct strbuf text;

	(void)state;
	strbuf_init(&text);
	strbuf_adds(&text, "raddle schedule 1\nmain 1\n");
	for (unsigned i = 0; i < THREAD_CAPACITY - 1; i++)
		strbuf_addf(&text, "main.%u 1\n", i);
	assert_int_equal(parse(text.text, &file, &err), 0);
	assert_int_equal(file.thread_count, THREAD_CAPACITY);
	schedule_file_release(&file);
	strbuf_adds(&text, "main.60000 1\n");
	assert_refused(text.text, ERROR_FORMAT, "more threads");
	strbuf_release(&text);
}

static void test_schedule_text__says_which_file_is_not_there(void **state)
{
	struct schedule_file file;
	struct error err;

	(void)state;
	assert_int_equal(schedule_text_read("/nonexistent/s.txt", &file, &err), ERROR_NOTFOUND);
	assert_non_null(strstr(err.text, "/nonexistent/s.txt"));
	assert_int_equal(schedule_text_read("/tmp", &file, &err), ERROR_IO);
	assert_non_null(strstr(err.text, "/tmp"));
}

static void test_thread_path_name__is_the_engines_name(void **state)
{
	(void)state;
	assert_int_equal(thread_path_name("main"), THREAD_NAME_MAIN);
	assert_int_equal(thread_path_name("main.2"), thread_name_child(THREAD_NAME_MAIN, 2));
	assert_int_equal(thread_path_name("main.x"), 0);
	assert_int_equal(thread_path_name(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schedule_text__reads_every_kind_of_line),
		cmocka_unit_test(test_schedule_text__writes_what_it_read),
		cmocka_unit_test(test_schedule_text__keeps_strange_program_names),
		cmocka_unit_test(test_schedule_text__accepts_what_an_editor_does),
		cmocka_unit_test(test_schedule_text__refuses_a_future_version),
		cmocka_unit_test(test_schedule_text__refuses_damage_with_its_location),
		cmocka_unit_test(test_schedule_text__notices_every_cut),
		cmocka_unit_test(test_schedule_text__reads_4096_threads_and_refuses_one_more),
		cmocka_unit_test(test_schedule_text__says_which_file_is_not_there),
		cmocka_unit_test(test_thread_path_name__is_the_engines_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
