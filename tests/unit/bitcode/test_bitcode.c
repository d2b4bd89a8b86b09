/* Errors of the command's side of the points-to analysis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bitcode/bitcode.c"

/* The library exists, but cannot be loaded, as without LLVM. */
int installed_find(const char *name, char **path, struct error *err)
{
	(void)name;
	(void)err;
	*path = strdup("/dev/null");
	return 0;
}

static void test_points_to_compute__names_the_package_that_is_missing(void **state)
{
	static const char *const paths[] = {"program"};
	const struct points_to_files files = {.paths = paths, .count = 1};
	struct points_to *result;
	struct error err;

	(void)state;
	assert_int_equal(points_to_compute(&result, &files, &err), ERROR_MISSING);
	assert_non_null(strstr(err.text, "install the package libllvm19"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points_to_compute__names_the_package_that_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
