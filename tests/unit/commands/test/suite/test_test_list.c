/* Each list format: what a program of the framework prints, and damaged lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"
#include "commands/test/suite/test_framework.h"
#include "commands/test/suite/test_list.h"

#define MANY 400000

typedef int parser(const char *text, struct test_suite *suite, struct error *err);

/* Checks that the list has these names, joined by "|". */
static void expect(parser *parse, const char *text, const char *names)
{
	struct test_suite suite = {0};
	struct error err = {0};
	struct strbuf joined;

	strbuf_init(&joined);
	assert_int_equal(parse(text, &suite, &err), 0);
	for (uint32_t i = 0; i < suite.count; i++)
		strbuf_addf(&joined, "%s%s", i ? "|" : "", suite.cases[i].name);
	assert_string_equal(joined.text, names);
	strbuf_release(&joined);
	test_suite_release(&suite);
}

static void refuse(parser *parse, const char *text, const char *why)
{
	struct test_suite suite = {0};
	struct error err = {0};

	assert_int_equal(parse(text, &suite, &err), ERROR_FORMAT);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" does not contain \"%s\"", err.text, why);
	assert_null(strchr(err.text, '\n'));
	test_suite_release(&suite);
}

static void test_list__names(void **state)
{
	(void)state;
	expect(test_list_names, "one\n\n  two words \r\n\"#three\"\none", "one|two words|#three");
	expect(test_list_names, "", "");
}

/* A look-up of each name among all others would take minutes. */
static void test_list__many_names(void **state)
{
	struct test_suite suite = {0};
	struct error err = {0};
	struct strbuf text;

	(void)state;
	strbuf_init(&text);
	for (unsigned i = 0; i < 2 * MANY; i++)
		strbuf_addf(&text, "%u\n", i % MANY);
	assert_int_equal(test_list_names(text.text, &suite, &err), 0);
	assert_int_equal(suite.count, MANY);
	assert_string_equal(suite.cases[MANY - 1].name, "399999");
	strbuf_release(&text);
	test_suite_release(&suite);
}

static void test_list__googletest(void **state)
{
	(void)state;
	expect(test_list_googletest,
		"Running main() from gtest_main.cc\nCPU Caches:\n  L1 Data 48 KiB (x2)\nA.\n  one\n  two\nTy/0.  # TypeParam = int\n  ty\n"
		"D.\n  DISABLED_x\nDISABLED_S.\n  y\nIn/P.\n  par/0  # GetParam() = 1\n",
		"A.one|A.two|Ty/0.ty|In/P.par/0");
	refuse(test_list_googletest, "  one\nA.\n",
		"line 1 of the list of test cases has no suite");
}

static void test_list__catch2(void **state)
{
	(void)state;
	expect(test_list_catch2,
		"<?xml version=\"1.0\"?>\n<MatchingTests>\n  <TestCase>\n    <Name>a &lt;b&gt; &amp;c</Name>\n"
		"    <ClassName/>\n  </TestCase>\n  <TestCase>\n    <Name>two</Name>\n  </TestCase>\n"
		"</MatchingTests>\n",
		"a <b> &c|two");
	refuse(test_list_catch2, "one\ntwo\n", "is no XML document of Catch2");
	refuse(test_list_catch2, "<MatchingTests>\n<TestCase>\n<Name>one\n", "line 3");
}

static void test_list__doctest(void **state)
{
	(void)state;
	expect(test_list_doctest,
		"[doctest] listing all test case names\n==========\none, two\nthree\nthree\n==========\n"
		"[doctest] unskipped test cases passing the current filters: 3\n",
		"one, two|three");
	refuse(test_list_doctest, "==========\none\n", "has no end");
}

static void test_list__boost(void **state)
{
	(void)state;
	expect(test_list_boost,
		"free_case*\nsu*\n    thr*\n    in*\n        x*: descr*: more\n        dis \n"
		"        off : later\nlast*\n",
		"free_case|su/thr|su/in/x|last");
	refuse(test_list_boost, "su*\n   thr*\n", "line 2");
	refuse(test_list_boost, "su*\n        thr*\n", "is not indented");
}

static void test_list__check(void **state)
{
	(void)state;
	expect(test_list_check,
		"Running suite(s): Core\n Pool\nRunning suite Core\nk.c:5:P:basic:t_a:0: Passed\n"
		"k.c:6:F:basic:t_b:0: Assertion 'a == b' failed: a == 1, b == 2\n"
		"Running suite Pool\nC:k.c:6:E:two words:t_b:1: (after this point) x: y\n100%: Checks: 3\n",
		"Core:basic|Pool:two words");
	refuse(test_list_check, "k.c:5:P:basic:t_a:0: Passed\n", "has no suite above it");
}

static void test_list__acutest(void **state)
{
	(void)state;
	expect(test_list_acutest, "Unit tests:\n  send recv\n  one/two\n", "send recv|one/two");
}

static void test_list__criterion(void **state)
{
	(void)state;
	expect(test_list_criterion, "one: 2 tests\n├── a\n└── b\ntwo: 1 test\n|-- c\n`-- d\n",
		"one/a|one/b|two/c|two/d");
	refuse(test_list_criterion, "|-- a\n", "has no suite above it");
}

static void test_list__glib(void **state)
{
	(void)state;
	expect(test_list_glib,
		"# random seed: R02S58\n1..2\n# Start of a tests\n/a/b c\n/a/d\n# End of a tests\n",
		"/a/b c|/a/d");
}

static void test_list__refuses_endless_lines(void **state)
{
	char *text = malloc(100002);

	(void)state;
	memset(text, 'a', 100000);
	strcpy(text + 100000, "\n");
	refuse(test_list_names, text, "line 1 of the list of test cases is longer than");
	free(text);
}

static void test_framework__expands_names(void **state)
{
	char name[] = "a, [b] c", group[] = "a", own[] = "c d";
	const struct test_case test = {.name = name, .group = group, .own = own};
	char **words =
		test_framework_expand(NULL, " --only  x={}=y {group}{own} {", &test, "\\,[]");

	(void)state;
	assert_string_equal(words[0], "--only");
	assert_string_equal(words[1], "x=a\\, \\[b\\] c=y");
	assert_string_equal(words[2], "ac d");
	assert_string_equal(words[3], "{");
	assert_null(words[4]);
	for (int i = 0; i < 4; i++)
		free(words[i]);
	free(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list__names),
		cmocka_unit_test(test_list__many_names),
		cmocka_unit_test(test_list__googletest),
		cmocka_unit_test(test_list__catch2),
		cmocka_unit_test(test_list__doctest),
		cmocka_unit_test(test_list__boost),
		cmocka_unit_test(test_list__check),
		cmocka_unit_test(test_list__acutest),
		cmocka_unit_test(test_list__criterion),
		cmocka_unit_test(test_list__glib),
		cmocka_unit_test(test_list__refuses_endless_lines),
		cmocka_unit_test(test_framework__expands_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
