#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/shell_words.h"

static void assert_words(char *const *words, const char *expected)
{
	struct strbuf text;

	strbuf_init(&text);
	shell_words_add(&text, words);
	assert_string_equal(text.text, expected);
	strbuf_release(&text);
}

static void test_shell_words__leaves_plain_words(void **state)
{
	char *const words[] = {"./a.out", "--x=1", "a,b:c", NULL};

	(void)state;
	assert_words(words, "./a.out --x=1 a,b:c");
}

static void test_shell_words__quotes_what_a_shell_would_take(void **state)
{
	char *const words[] = {"a b", "$HOME", "it's", "", "*", NULL};

	(void)state;
	assert_words(words, "'a b' '$HOME' 'it'\\''s' '' '*'");
}

static void test_shell_words__escapes_what_a_terminal_obeys(void **state)
{
	char *const words[] = {"\033[2J'\\é", "a\nb", "\xe2\x80\xae\xff", NULL};

	(void)state;
	assert_words(words, "$'\\x1b[2J\\'\\\\é' $'a\\x0ab' $'\\xe2\\x80\\xae\\xff'");
}

static void test_shell_words__appends(void **state)
{
	char *const words[] = {"b", NULL};
	struct strbuf text;

	(void)state;
	strbuf_init(&text);
	strbuf_adds(&text, "a ");
	shell_words_add(&text, words);
	assert_string_equal(text.text, "a b");
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shell_words__leaves_plain_words),
		cmocka_unit_test(test_shell_words__quotes_what_a_shell_would_take),
		cmocka_unit_test(test_shell_words__escapes_what_a_terminal_obeys),
		cmocka_unit_test(test_shell_words__appends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
