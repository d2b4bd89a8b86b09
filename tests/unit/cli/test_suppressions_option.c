#include "cli/suppressions_option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void expect(const char *list, const char *wanted)
{
	char *found = suppressions_option_find(list);

	if (wanted)
		assert_string_equal(found, wanted);
	else
		assert_null(found);
	free(found);
}

static void test_find__reads_the_list_as_the_sanitizer_does(void **state)
{
	(void)state;
	expect(NULL, NULL);
	expect("", NULL);
	expect("halt_on_error=1", NULL);
	expect("suppressions=a.txt", "a.txt");
	expect("halt_on_error=1:suppressions=/x/a.txt:verbosity=2", "/x/a.txt");
	expect("halt_on_error=1 suppressions=a.txt", "a.txt");
	expect("suppressions='a b:c.txt':verbosity=2", "a b:c.txt");
	expect("suppressions=\"a b\"", "a b");
	expect("no_suppressions=a", NULL);
	expect(":::suppressions=", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find__reads_the_list_as_the_sanitizer_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
