/* Which answers of an explanation are kept. */
#include "commands/explain/explain_work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/command.h"

/* Defined by the command's main file. */
enum stop_reason command_stop_reason(void)
{
	return 0;
}

static struct explain_answer make_answer(uint64_t key, uint32_t failed)
{
	return (struct explain_answer){.has_cause = true,
		.cause = {
			.key = key, .could_force = true, .forced = {.runs = 30, .failed = failed}}};
}

/* Of 100 compared runs, 40 fail: about 12 of 30. */
static void test_explain_work__drops_patterns_that_make_no_failure_likelier(void **state)
{
	const struct finding finding = {.remedy = (char *)"lock"};
	const struct pattern_record own = {0}, foreign = {.is_foreign = true};
	struct explain_result result = {
		.finding = &finding, .ranking = {.failed = 40, .passed = 60}};

	(void)state;
	result.answers[0] = make_answer(1, 0);
	result.answers[1] = make_answer(2, 25);
	result.answers[2] = make_answer(3, 11);
	result.answers[3] = make_answer(4, 0);
	result.answers[3].cause.could_force = false;
	result.answers[4] = make_answer(5, 0);
	result.answers[4].cause.is_cause = true;
	for (unsigned i = 0; i < 5; i++)
		result.answers[i].record = &own;
	result.answers[5] = make_answer(6, 25);
	result.answers[5].record = &foreign;
	result.answer_count = 6;
	explain_result_drop_refuted(&result);
	assert_int_equal(result.answer_count, 3);
	assert_int_equal(result.answers[0].cause.key, 2);
	assert_int_equal(result.answers[1].cause.key, 4);
	assert_int_equal(result.answers[2].cause.key, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_explain_work__drops_patterns_that_make_no_failure_likelier),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
