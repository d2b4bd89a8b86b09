#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/command.h"
#include "cli/option.h"

static void test_number_parse__takes_whole_numbers_in_range(void **state)
{
	static const char *const wrong[] = {
		"", " 1", "+1", "-1", "1x", "0x10", "1.5", "101", "9", "18446744073709551616"};
	uint64_t number = 0;

	(void)state;
	assert_true(number_parse("10", 10, 100, &number));
	assert_int_equal(number, 10);
	assert_true(number_parse("100", 10, 100, &number));
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (number_parse(wrong[i], 10, 100, &number))
			fail_msg("\"%s\" was taken", wrong[i]);
	assert_int_equal(number, 100);
}

static void test_duration_parse__knows_units(void **state)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} right[] = {{"1", 1000000000}, {"0.5s", 500000000}, {"250ms", 250000000},
		{"2m", 120000000000}, {"2min", 120000000000}, {"1h", 3600000000000}};
	static const char *const wrong[] = {
		"", "s", "-1s", "1 s", "1d", "0s", "1e300", "nan", "inf", "1s2"};
	uint64_t ns = 7;

	(void)state;
	for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
		assert_true(duration_parse(right[i].text, &ns));
		assert_int_equal(ns, right[i].ns);
	}
	ns = 7;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		if (duration_parse(wrong[i], &ns))
			fail_msg("\"%s\" was taken", wrong[i]);
	assert_int_equal(ns, 7);
}

struct example {
	bool is_on;
	const char *text, *pattern;
	uint32_t small;
	uint64_t bytes, limit_ns;
	enum { EXAMPLE_FIRST, EXAMPLE_SECOND, EXAMPLE_THIRD } choice;
	size_t length;
	char *const *program;
};

static int example_read_length(const char *text, void *length, struct error *err)
{
	(void)err;
	*(size_t *)length = strlen(text);
	return 0;
}

static const struct command_option example_options[] = {
	OPTION_HEADING("Kinds:"),
	{"on", 'o', NULL, "flag", OPTION_OF(FLAG, example, is_on)},
	{"text", 0, "TEXT", "text", OPTION_OF(TEXT, example, text)},
	{"pattern", 0, "PATTERN", "optional", OPTION_OF(OPTIONAL_TEXT, example, pattern)},
	{"small", 0, "N", "number", OPTION_NUMBER(example, small, 1, 9)},
	{"bytes", 0, "MB", "megabytes", OPTION_MEGABYTES(example, bytes, 0, 9)},
	{"limit", 0, "TIME", "limit", OPTION_OF(LIMIT, example, limit_ns)},
	{"choice", 0, "a|ab|abc", "choice", OPTION_OF(CHOICE, example, choice)},
	{"length", 0, "TEXT", "read", OPTION_READ(example, length, example_read_length)},
	{0},
};

static void test_options_parse__stores_every_kind(void **state)
{
	static const struct command command = {.name = "example",
		.options = example_options,
		.operands = {OPERANDS_PROGRAM, offsetof(struct example, program), "no program"}};
	char *argv[] = {"raddle example", "-o", "--text", "x", "--pattern", "--small=9",
		"--bytes=3", "--limit=0", "--choice=ab", "--length=four", "prog", "--on", NULL};
	struct example example = {.limit_ns = 5};

	(void)state;
	options_parse(&command, sizeof argv / sizeof *argv - 1, argv, &example);
	assert_true(example.is_on);
	assert_string_equal(example.text, "x");
	assert_string_equal(example.pattern, "");
	assert_int_equal(example.small, 9);
	assert_int_equal(example.bytes, 3 << 20);
	assert_int_equal(example.limit_ns, 0);
	assert_int_equal(example.choice, EXAMPLE_SECOND);
	assert_int_equal(example.length, 4);
	assert_ptr_equal(example.program, argv + 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number_parse__takes_whole_numbers_in_range),
		cmocka_unit_test(test_duration_parse__knows_units),
		cmocka_unit_test(test_options_parse__stores_every_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
