/* Titles from the output of test frameworks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "findings/finding.h"

static void expect(const char *output, const char *title)
{
	struct finding finding = {
		.kind = OUTCOME_EXIT, .title = strdup("status"), .output = strdup(output)};

	finding_title_from_output(&finding);
	assert_string_equal(finding.title, title);
	finding_release(&finding);
}

static void test_program_words__names_expectations(void **state)
{
	(void)state;
	expect("[ RUN ] a\n/src/pool_test.cc:31: Failure\nExpected: x\n  y\n[ FAILED ] a\n",
		"exit: pool_test.cc:31: Expected: x, y");
	expect("/src/pool.cc:8: FAILED:\n  REQUIRE( a == b )\nwith expansion:\n  1 == 2\n\n",
		"exit: pool.cc:8: REQUIRE( a == b ), with expansion: 1 == 2");
	expect("[doctest] run\n/src/pool.cc:8: FATAL ERROR: REQUIRE( a == b ) is NOT correct!\n",
		"exit: pool.cc:8: REQUIRE( a == b ) is NOT correct!");
	expect("/src/pool.cc(11): \033[1;31;49merror: in \"sum\": check a == b has failed [1 != 2]\033[0m\n",
		"exit: pool.cc(11): \"sum\": check a == b has failed [1 != 2]");
	expect("  a.c:7: Check 1 == 1... ok\n  a.c:360: Check sum == 3... failed\n    sum: got 2\n",
		"exit: a.c:360: sum == 3... failed");
	expect("0%: Checks: 1\n/src/pool.c:9:F:core:test_sum:0: Assertion 'a == b' failed: a == 1\n",
		"exit: pool.c:9: Assertion 'a == b' failed: a == 1");
	expect("[ RUN      ] sum\n[  ERROR   ] --- 0xa != 0x14\n"
	       "[   LINE   ] --- /src/pool.c:19: error: Failure!\n",
		"exit: pool.c:19: 0xa != 0x14");
}

static void test_program_words__leaves_other_output(void **state)
{
	(void)state;
	expect("", "status");
	expect("\033[", "status");
	expect(": Failure\n: ERROR: x\nno location: ERROR: y\n12 tests\n", "status");
}

static void expect_exception(const char *output, const char *title)
{
	struct finding finding = {
		.kind = OUTCOME_ABORT, .title = strdup("aborted"), .output = strdup(output)};

	finding_title_from_output(&finding);
	assert_string_equal(finding.title, title);
	finding_release(&finding);
}

static void test_program_words__names_an_exception_once(void **state)
{
	(void)state;
	expect_exception("terminate called after throwing an instance of 'std::runtime_error'\n"
			 "  what():  no route\n",
		"abort: uncaught std::runtime_error: no route, thrown by a thread");
	expect_exception("terminate called after throwing an instance of 'std::future_error'\n"
			 "  what():  std::future_error: No associated state\n",
		"abort: uncaught std::future_error: No associated state, thrown by a thread");
	expect_exception("terminate called after throwing an instance of 'int'\n",
		"abort: uncaught int, thrown by a thread");
}

static uint64_t sign(const char *title, char *word)
{
	char *argv[] = {word, NULL};
	struct finding finding = {.kind = OUTCOME_EXIT, .title = strdup(title), .argv = argv};

	finding_sign_exit(&finding);
	free(finding.title);
	return finding.signature;
}

static void test_program_words__signs_an_exit_by_its_expectation(void **state)
{
	char one[] = "one", other[] = "other";

	(void)state;
	assert_int_equal(sign("exit: a.cc:3: 1 == 2", one), sign("exit: a.cc:3: 1 == 4", other));
	assert_int_not_equal(sign("exit: a.cc:3: 1 == 2", one), sign("exit: a.cc:4: 1 == 2", one));
	assert_int_not_equal(sign("exit: status 1", one), sign("exit: status 1", other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_words__names_expectations),
		cmocka_unit_test(test_program_words__leaves_other_output),
		cmocka_unit_test(test_program_words__names_an_exception_once),
		cmocka_unit_test(test_program_words__signs_an_exit_by_its_expectation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
