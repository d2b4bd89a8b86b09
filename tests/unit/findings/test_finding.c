#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/sample_finding.h"

static void replace(char **text, const char *by)
{
	free(*text);
	*text = strdup(by);
}

static uint64_t signature_and_release(struct finding *finding)
{
	const uint64_t signature = finding_signature(finding);

	finding_release(finding);
	return signature;
}

static struct finding_step *many_steps(uint32_t count)
{
	struct finding_step *steps = calloc(count, sizeof *steps);

	assert_non_null(steps);
	for (uint32_t i = 0; i < count; i++)
		steps[i] = sample_step(i + 1, "main.0", "locks", "mutex accounts", 41);
	return steps;
}

static void test_frame_is_its_line__knows_a_lambda_by_its_line(void **state)
{
	struct finding_frame frame = {.function = (char *)"lambda at pool.cpp:14", .line = 14};

	(void)state;
	assert_true(finding_frame_is_its_line(&frame));
	frame.line = 15;
	assert_false(finding_frame_is_its_line(&frame));
	frame.function = (char *)"pool::run";
	assert_false(finding_frame_is_its_line(&frame));
}

static void test_keep_steps__frees_the_other_steps(void **state)
{
	static const bool is_kept[] = {false, true, false, true};
	struct finding finding = {.steps = many_steps(4), .step_count = 4};

	(void)state;
	finding_keep_steps(&finding, is_kept);
	assert_int_equal(finding.step_count, 2);
	assert_int_equal(finding.steps[0].step, 2);
	assert_int_equal(finding.steps[1].step, 4);
	finding_release(&finding);
}

/* Long runs and long names leave a finding that tools can still open. */
static void test_shorten__keeps_the_last_steps_of_both_runs_within_a_megabyte(void **state)
{
	enum { STEPS = 20000 };
	struct finding finding = sample_finding();
	struct finding short_one = sample_finding();
	char *text;

	(void)state;
	finding_shorten(&short_one);
	assert_int_equal(short_one.step_count, finding.step_count);
	finding_release(&short_one);
	finding_release(&finding);
	finding = (struct finding){.steps = many_steps(STEPS),
		.step_count = STEPS,
		.passing_steps = many_steps(STEPS),
		.passing_step_count = STEPS};
	finding_shorten(&finding);
	text = finding_to_json(&finding);
	assert_true(strlen(text) < 1000000);
	assert_true(strlen(text) > 600000);
	assert_int_equal(finding.steps[finding.step_count - 1].step, STEPS);
	assert_int_equal(finding.steps_left_out, STEPS - finding.step_count);
	assert_int_equal(finding.passing_steps_left_out, STEPS - finding.passing_step_count);
	free(text);
	finding_release(&finding);
}

/* The steps that the cause names stay, however early they are. */
static void test_shorten__keeps_the_steps_of_the_cause(void **state)
{
	enum { STEPS = 20000 };
	struct finding finding = {.steps = many_steps(STEPS), .step_count = STEPS};
	uint32_t count;

	(void)state;
	finding.steps[7].cause_line = 1;
	finding.steps[4000].cause_line = 2;
	finding.steps[STEPS - 1].cause_line = 3;
	finding_shorten(&finding);
	count = finding.step_count;
	assert_int_equal(finding.early_step_count, 2);
	assert_int_equal(finding.steps[0].step, 8);
	assert_int_equal(finding.steps[1].step, 4001);
	assert_int_equal(finding.steps[count - 1].step, STEPS);
	assert_int_equal(finding.steps[2].step, STEPS - (count - 3));
	assert_int_equal(finding.steps_left_out, STEPS - count);
	finding_shorten(&finding);
	assert_int_equal(finding.step_count, count);
	assert_int_equal(finding.early_step_count, 2);
	finding_release(&finding);
}

static void test_signature__ignores_thread_numbers_and_order_of_waits(void **state)
{
	struct finding finding = sample_finding();
	const uint64_t expected = finding.signature;
	struct finding_wait first = finding.waits[0];

	(void)state;
	finding.waits[0] = finding.waits[1];
	finding.waits[1] = first;
	replace(&finding.waits[0].thread, "main.7");
	replace(&finding.waits[1].holder, "main.7");
	assert_true(signature_and_release(&finding) == expected);
}

static void test_signature__takes_longer_cycles_of_the_same_lines_for_one(void **state)
{
	struct finding finding = sample_finding();
	const uint64_t expected = finding.signature;

	(void)state;
	finding.waits = realloc(finding.waits, 3 * sizeof *finding.waits);
	assert_non_null(finding.waits);
	finding.waits[finding.wait_count++] = sample_wait("main.2", "main.0", "mutex x", 42);
	assert_true(signature_and_release(&finding) == expected);
}

static void test_signature__ignores_waits_beside_the_cycle(void **state)
{
	struct finding finding = sample_finding();
	const uint64_t expected = finding.signature;

	(void)state;
	finding.waits = realloc(finding.waits, 3 * sizeof *finding.waits);
	assert_non_null(finding.waits);
	finding.waits[2] = sample_wait("main", "main.0", "thread main.0", 99);
	finding.waits[2].is_on_cycle = false;
	finding.wait_count++;
	assert_true(signature_and_release(&finding) == expected);
}

static void test_signature__ignores_the_folder_of_the_sources(void **state)
{
	struct finding finding = sample_finding();
	const uint64_t expected = finding.signature;

	(void)state;
	replace(&finding.waits[0].at.frames[1].file, "/elsewhere/bank.c");
	assert_true(signature_and_release(&finding) == expected);
}

static void test_signature__distinguishes_lines_kinds_and_codes(void **state)
{
	struct finding line = sample_finding(), kind = sample_finding(), code = sample_finding();
	const uint64_t expected = line.signature;

	(void)state;
	line.waits[0].at.frames[1].line++;
	kind.kind = OUTCOME_LOST_WAKEUP;
	code.code = 1;
	assert_false(signature_and_release(&line) == expected);
	assert_false(signature_and_release(&kind) == expected);
	assert_false(signature_and_release(&code) == expected);
}

static void test_signature__looks_at_the_users_frames_of_a_failing_stack(void **state)
{
	struct finding a = {.kind = OUTCOME_ABORT, .at = sample_stack("check", 5)};
	struct finding b = {.kind = OUTCOME_ABORT, .at = sample_stack("check", 5)};
	struct finding c = {.kind = OUTCOME_ABORT, .at = sample_stack("check", 6)};
	uint64_t first;

	(void)state;
	replace(&b.at.frames[0].function, "raise");
	first = signature_and_release(&a);
	assert_true(signature_and_release(&b) == first);
	assert_false(signature_and_release(&c) == first);
}

static void test_json__is_read_as_written(void **state)
{
	struct finding finding = sample_finding(), back;
	struct error err = {0};
	char *text, *again;

	(void)state;
	strcpy(finding.id, "F12");
	finding.passing_steps = calloc(1, sizeof *finding.passing_steps);
	finding.passing_step_count = 1;
	finding.passing_steps[0] = (struct finding_step){
		.step = 4, .thread = strdup("main.0"), .verb = strdup("unlocks")};
	finding.passing_steps_left_out = 3;
	finding.later_steps_left_out = 5;
	text = finding_to_json(&finding);
	if (finding_from_json(text, strlen(text), &back, &err))
		fail_msg("%s", err.text);
	assert_int_equal(back.passing_step_count, 1);
	assert_string_equal(back.passing_steps[0].verb, "unlocks");
	assert_int_equal(back.passing_steps_left_out, 3);
	assert_int_equal(back.later_steps_left_out, 5);
	again = finding_to_json(&back);
	assert_string_equal(again, text);
	assert_true(finding_signature(&back) == finding.signature);
	assert_string_equal(back.argv[2], "\xff\xfe");
	assert_null(back.argv[3]);
	assert_true(back.seed == UINT64_MAX);
	assert_int_equal(back.schedule.segment_count, 3);
	assert_string_equal(back.steps[1].verb, "locks");
	assert_true(back.steps[1].is_preemption);
	free(text);
	free(again);
	finding_release(&finding);
	finding_release(&back);
}

static void test_json__of_an_empty_finding_is_readable(void **state)
{
	struct finding finding = {0}, back;
	char *text = finding_to_json(&finding);
	struct error err = {0};

	(void)state;
	if (finding_from_json(text, strlen(text), &back, &err))
		fail_msg("%s", err.text);
	assert_null(back.title);
	assert_int_equal(back.wait_count, 0);
	finding_release(&back);
	free(text);
}

/* Replaces `from` in the text of the sample finding and reads it. */
static int read_changed(const char *from, const char *to, struct error *err)
{
	struct finding finding = sample_finding(), back;
	char *text = finding_to_json(&finding);
	char *location = strstr(text, from);
	char *changed = malloc(strlen(text) + strlen(to) + 1);
	int status;

	assert_non_null(location);
	assert_non_null(changed);
	memcpy(changed, text, (size_t)(location - text));
	strcpy(changed + (location - text), to);
	strcat(changed, location + strlen(from));
	status = finding_from_json(changed, strlen(changed), &back, err);
	if (!status)
		finding_release(&back);
	free(changed);
	free(text);
	finding_release(&finding);
	return status;
}

static void test_json__refuses_damage_and_names_the_field(void **state)
{
	static const struct {
		const char *from, *to, *says;
		int code;
	} cases[] = {
		{"\"kind\": \"deadlock\"", "\"kind\": \"dead\"", "\"kind\"", ERROR_FORMAT},
		{"\"code\": 0", "\"code\": 4294967296", "\"code\"", ERROR_FORMAT},
		{"\"seed\": \"", "\"seed\": \"-", "\"seed\"", ERROR_FORMAT},
		{"\"seed\": \"", "\"seed\": \"9", "\"seed\"", ERROR_FORMAT},
		{"\"waits\": [", "\"waits\": [3, ", "\"thread\"", ERROR_FORMAT},
		{"\"fffe\"", "\"fff\"", "\"argv\"", ERROR_FORMAT},
		{"\"fffe\"", "\"ff00\"", "\"argv\"", ERROR_FORMAT},
		{"\"is_switch\": true", "\"is_switch\": 1", "\"is_switch\"", ERROR_FORMAT},
		{"main.0 3", "main.0 4", "steps", ERROR_FORMAT},
		{"\"steps_left_out\"", "\"steps_left\"", "missing", ERROR_FORMAT},
		{"\"title\"", "\"detail\"", "duplicate", ERROR_FORMAT},
		{"\"raddle_finding\": 1", "\"raddle_finding\": 2", "version 2", ERROR_VERSION},
		{"\"raddle_finding\"", "\"something\"", "not a stored finding", ERROR_FORMAT},
	};
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		err = (struct error){0};
		assert_int_equal(read_changed(cases[i].from, cases[i].to, &err), cases[i].code);
		if (!strstr(err.text, cases[i].says) || !strstr(err.text, "; "))
			fail_msg(
				"case %zu: \"%s\" does not say \"%s\"", i, err.text, cases[i].says);
	}
}

static void test_json__refuses_every_cut(void **state)
{
	struct finding finding = sample_finding(), back;
	char *text = finding_to_json(&finding);
	struct error err;

	(void)state;
	for (size_t size = 0; size < strlen(text); size += 7)
		assert_int_equal(finding_from_json(text, size, &back, &err), ERROR_FORMAT);
	free(text);
	finding_release(&finding);
}

/* jansson quotes the bytes that it stopped at. */
static void test_json__is_refused_in_one_line(void **state)
{
	static const char damaged[] = "{\"title\": \"a\nb\033[2J\"}";
	struct finding back;
	struct error err = {0};

	(void)state;
	assert_int_equal(finding_from_json(damaged, sizeof damaged - 1, &back, &err), ERROR_FORMAT);
	assert_null(strpbrk(err.text, "\n\033"));
	assert_non_null(strstr(err.text, "; "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_is_its_line__knows_a_lambda_by_its_line),
		cmocka_unit_test(test_signature__ignores_thread_numbers_and_order_of_waits),
		cmocka_unit_test(test_keep_steps__frees_the_other_steps),
		cmocka_unit_test(test_shorten__keeps_the_last_steps_of_both_runs_within_a_megabyte),
		cmocka_unit_test(test_shorten__keeps_the_steps_of_the_cause),
		cmocka_unit_test(test_signature__takes_longer_cycles_of_the_same_lines_for_one),
		cmocka_unit_test(test_signature__ignores_waits_beside_the_cycle),
		cmocka_unit_test(test_signature__ignores_the_folder_of_the_sources),
		cmocka_unit_test(test_signature__distinguishes_lines_kinds_and_codes),
		cmocka_unit_test(test_signature__looks_at_the_users_frames_of_a_failing_stack),
		cmocka_unit_test(test_json__is_read_as_written),
		cmocka_unit_test(test_json__of_an_empty_finding_is_readable),
		cmocka_unit_test(test_json__refuses_damage_and_names_the_field),
		cmocka_unit_test(test_json__refuses_every_cut),
		cmocka_unit_test(test_json__is_refused_in_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
