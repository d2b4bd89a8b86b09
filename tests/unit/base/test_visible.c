#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/visible.h"

static void assert_shown(const char *text, bool has_lines, const char *expected)
{
	char *shown = visible_text(text, has_lines);

	assert_string_equal(shown, expected);
	assert_int_equal(is_visible(text, has_lines), strcmp(text, expected) == 0);
	free(shown);
}

static void test_visible__leaves_text(void **state)
{
	(void)state;
	assert_shown("", false, "");
	assert_shown("a\\b 'é' € 𝄞", false, "a\\b 'é' € 𝄞");
	assert_shown("a\n\tb", true, "a\n\tb");
	assert_null(visible_text(NULL, true));
}

static void test_visible__shows_controls(void **state)
{
	(void)state;
	assert_shown("\033[2J\x7f\r", true, "\\u001b[2J\\u007f\\u000d");
	assert_shown("a\n\tb", false, "a\\u000a\\u0009b");
	assert_shown("\xc2\x9b"
		     "31m\xc2\xa0",
		true, "\\u009b31m\xc2\xa0");
	assert_shown("\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8", true,
		"\\u202e\\u2066\\u061c\\u2028");
	assert_shown("\xef\xbf\xbe", true, "\\ufffe");
}

/* Longer forms than needed, surrogates, numbers past the end, and characters that are cut off. */
static void test_visible__shows_bytes_that_are_no_utf8(void **state)
{
	(void)state;
	assert_shown("\xff"
		     "a\x80",
		true, "\\xffa\\x80");
	assert_shown("\xc0\xaf", true, "\\xc0\\xaf");
	assert_shown("\xe0\x80\xaf", true, "\\xe0\\x80\\xaf");
	assert_shown("\xed\xa0\x80", true, "\\xed\\xa0\\x80");
	assert_shown("\xf4\x90\x80\x80", true, "\\xf4\\x90\\x80\\x80");
	assert_shown("\xe2\x82", true, "\\xe2\\x82");
	assert_shown("\xe2\x82z", true, "\\xe2\\x82z");
}

static void test_visible__waits_for_the_rest_of_a_character(void **state)
{
	char shown[VISIBLE_BYTES];

	(void)state;
	assert_int_equal(visible_character("\xe2\x82\xac", 2, true, shown), 0);
	assert_int_equal(visible_character("\xe2\x82\xac", 3, true, shown), 3);
	assert_string_equal(shown, "€");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_visible__leaves_text),
		cmocka_unit_test(test_visible__shows_controls),
		cmocka_unit_test(test_visible__shows_bytes_that_are_no_utf8),
		cmocka_unit_test(test_visible__waits_for_the_rest_of_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
