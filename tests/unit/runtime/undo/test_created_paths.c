/* Tests which paths a run may remove. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/undo/created_paths.c"

static struct created_paths paths;

static bool note(long number, long a, long b, long c, long result)
{
	long arguments[6] = {a, b, c};
	bool is_foreign;

	(void)created_paths_note(&paths, number, arguments, result, &is_foreign);
	return is_foreign;
}

static int empty_paths(void **state)
{
	(void)state;
	created_paths_clear(&paths);
	assert_int_equal(paths.count, 0);
	return 0;
}

static void test_created_paths__what_was_there_is_foreign(void **state)
{
	(void)state;
	assert_true(note(SYS_unlink, (long)"/a", 0, 0, 0));
	assert_true(note(SYS_unlinkat, 7, (long)"a", 0, 0));
	assert_true(note(SYS_rmdir, (long)"d", 0, 0, 0));
	assert_true(note(SYS_rename, (long)"a", (long)"b", 0, 0));
}

static void test_created_paths__what_the_run_made_is_its_own(void **state)
{
	(void)state;
	assert_false(note(SYS_openat, AT_FDCWD, (long)"a", O_CREAT | O_EXCL | O_RDWR, 5));
	assert_false(note(SYS_unlink, (long)"a", 0, 0, 0));
	assert_false(note(SYS_mkdir, (long)"d", 0, 0, 0));
	assert_false(note(SYS_unlinkat, AT_FDCWD, (long)"d", 0x200, 0));
	assert_false(note(SYS_open, (long)"/t", O_CREAT | O_TRUNC, 0, 6));
	assert_false(note(SYS_rename, (long)"/t", (long)"/u", 0, 0));
	assert_false(note(SYS_unlink, (long)"/u", 0, 0, 0));
}

static void test_created_paths__folders_distinguish_relative_names(void **state)
{
	(void)state;
	assert_false(note(SYS_mkdirat, 4, (long)"d", 0, 0));
	assert_true(note(SYS_unlinkat, 5, (long)"d", 0, 0));
	assert_false(note(SYS_unlinkat, 4, (long)"d", 0, 0));
	assert_false(note(SYS_mkdirat, 4, (long)"/d", 0, 0));
	assert_false(note(SYS_unlinkat, 5, (long)"/d", 0, 0));
}

static void test_created_paths__opening_what_has_content_makes_nothing(void **state)
{
	char name[] = "/tmp/created_paths.XXXXXX";
	int file = mkstemp(name);

	(void)state;
	assert_true(file >= 0);
	assert_false(note(SYS_open, (long)"empty", O_CREAT | O_RDWR, 0, file));
	assert_int_equal(write(file, "x", 1), 1);
	assert_false(note(SYS_open, (long)name, O_CREAT | O_RDWR, 0, file));
	assert_false(note(SYS_open, (long)name, O_RDWR, 0, file));
	assert_true(note(SYS_unlink, (long)name, 0, 0, 0));
	assert_false(note(SYS_unlink, (long)"empty", 0, 0, 0));
	(void)unlink(name);
	(void)close(file);
}

static void test_created_paths__a_bound_socket_is_a_path(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/s"};

	(void)state;
	assert_false(note(SYS_bind, 3, (long)&address, sizeof address, 0));
	assert_false(note(SYS_unlink, (long)"/s", 0, 0, 0));
}

static void test_created_paths__too_many_are_foreign(void **state)
{
	char name[32];
	unsigned foreign = 0;

	(void)state;
	for (unsigned i = 0; i < CREATED_PATHS_MAX + 10; i++) {
		(void)snprintf(name, sizeof name, "f%u", i);
		assert_false(note(SYS_mkdir, (long)name, 0, 0, 0));
	}
	for (unsigned i = 0; i < CREATED_PATHS_MAX + 10; i++) {
		(void)snprintf(name, sizeof name, "f%u", i);
		foreign += note(SYS_rmdir, (long)name, 0, 0, 0);
	}
	assert_int_equal(foreign, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_created_paths__what_was_there_is_foreign, empty_paths),
		cmocka_unit_test_setup(
			test_created_paths__what_the_run_made_is_its_own, empty_paths),
		cmocka_unit_test_setup(
			test_created_paths__folders_distinguish_relative_names, empty_paths),
		cmocka_unit_test_setup(
			test_created_paths__opening_what_has_content_makes_nothing, empty_paths),
		cmocka_unit_test_setup(test_created_paths__a_bound_socket_is_a_path, empty_paths),
		cmocka_unit_test_setup(test_created_paths__too_many_are_foreign, empty_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
