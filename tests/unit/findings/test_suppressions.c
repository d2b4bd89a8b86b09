/* Suppressions of races: their file, their patterns, what they match. */
#include "findings/suppressions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_pattern__matches_parts_of_names(void **state)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = {
		{"lock", "unlock_all", true},
		{"lock", "LOCK", false},
		{"^lock", "unlock", false},
		{"^lock", "lock_all", true},
		{"lock$", "unlock", true},
		{"lock$", "locked", false},
		{"lock$", "lock the lock", true},
		{"^lock$", "lock", true},
		{"^lock$", "lock lock", false},
		{"a*c", "xabbcx", true},
		{"a*c", "cba", false},
		{"^a*c$", "abcbc", true},
		{"^a*c$", "abcb", false},
		{"^std::*::operator", "std::map<int, int>::operator[]", true},
		{"*", "anything", true},
		{"**", "", true},
		{"^$", "", true},
		{"^$", "x", false},
		{"$", "x", true},
		{"^", "x", true},
		{"a*b*c", "a.b.b.c", true},
		{"a*b*c", "a.c.b", false},
		{"", "x", true},
		{"longer than the name", "name", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (suppression_pattern_matches(cases[i].pattern, cases[i].name) !=
			cases[i].matches)
			fail_msg("%s and %s", cases[i].pattern, cases[i].name);
}

static void test_parse__reads_what_thread_sanitizer_reads(void **state)
{
	static const char text[] = "# ours\n"
				   "\n"
				   "race:counter\r\n"
				   "  race_top: operator new  \n"
				   "called_from_lib:libz.so\n"
				   "mutex:m\nthread:t\nsignal:s\ndeadlock:d\n"
				   "race:std::vector";
	struct suppressions suppressions;

	(void)state;
	assert_int_equal(suppressions_parse(&suppressions, text, strlen(text), "file", NULL), 0);
	assert_int_equal(suppressions.count, 8);
	assert_int_equal(suppressions.without_effect, 4);
	assert_string_equal(suppressions.list[0].pattern, "counter");
	assert_string_equal(suppressions.list[1].pattern, " operator new");
	assert_int_equal(suppressions.list[1].type, SUPPRESS_RACE_TOP);
	assert_string_equal(suppressions.list[7].pattern, "std::vector");
	suppressions_release(&suppressions);
}

static void expect_refusal(const char *text, size_t size, const char *message)
{
	struct suppressions suppressions;
	struct error err = {0};

	assert_int_equal(suppressions_parse(&suppressions, text, size, "ours", &err), ERROR_USAGE);
	assert_string_equal(err.text, message);
}

static void test_parse__says_which_line_is_wrong(void **state)
{
	(void)state;
	expect_refusal("race:a\n\ncounter\n", 16,
		"line 3 of the suppressions ours has no colon; write TYPE:PATTERN, such as "
		"race:function");
	expect_refusal("leak:a\n", 7,
		"line 1 of the suppressions ours is of no known type; there are race, race_top, "
		"called_from_lib, mutex, thread, signal, deadlock");
	expect_refusal("race: \n", 7,
		"line 1 of the suppressions ours has no pattern; write TYPE:PATTERN, such as "
		"race:function");
	expect_refusal("race:\0x", 7,
		"line 1 of the suppressions ours holds a zero byte; give a text file");
}

/* main calls add(), which is in the file sum.c; main.0 writes in reset() of libpool.so. */
static bool suppresses(const char *text)
{
	struct finding_frame earlier[] = {
		{.function = "add", .file = "src/sum.c"}, {.function = "main", .file = "main.c"}};
	struct finding_frame later[] = {{.function = "reset", .module = "libpool.so"}};
	struct finding finding = {.kind = OUTCOME_RACE,
		.variable = "totals[1] (sum.c:3)",
		.race = {{.thread = "main", .at = {.frames = earlier, .count = 2}},
			{.thread = "main.0", .at = {.frames = later, .count = 1}}}};
	struct suppressions suppressions;
	bool result;

	assert_int_equal(suppressions_parse(&suppressions, text, strlen(text), "file", NULL), 0);
	result = suppressions_match(&suppressions, &finding);
	suppressions_release(&suppressions);
	return result;
}

static void test_match__looks_at_both_stacks_and_the_variable(void **state)
{
	(void)state;
	assert_true(suppresses("race:^add$"));
	assert_true(suppresses("race:^main$"));
	assert_true(suppresses("race:src/*.c"));
	assert_true(suppresses("race:libpool.so"));
	assert_true(suppresses("race:^totals"));
	assert_true(suppresses("race:[1]$"));
	assert_false(suppresses("race:subtract"));
	assert_true(suppresses("race_top:^add$"));
	assert_true(suppresses("race_top:reset"));
	assert_false(suppresses("race_top:main"));
	assert_false(suppresses("race_top:totals"));
	assert_true(suppresses("called_from_lib:libpool.so"));
	assert_false(suppresses("called_from_lib:main"));
	assert_false(suppresses("mutex:add\nthread:add\nsignal:add\ndeadlock:add"));
	assert_true(suppresses("race:nothing\nrace:reset"));
	assert_false(suppresses(""));
}

static void test_match__takes_races_only(void **state)
{
	static const char text[] = "race:*";
	const struct finding finding = {.kind = OUTCOME_ABORT};
	struct suppressions suppressions;

	(void)state;
	assert_int_equal(suppressions_parse(&suppressions, text, strlen(text), "file", NULL), 0);
	assert_false(suppressions_match(&suppressions, &finding));
	suppressions_release(&suppressions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pattern__matches_parts_of_names),
		cmocka_unit_test(test_parse__reads_what_thread_sanitizer_reads),
		cmocka_unit_test(test_parse__says_which_line_is_wrong),
		cmocka_unit_test(test_match__looks_at_both_stacks_and_the_variable),
		cmocka_unit_test(test_match__takes_races_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
