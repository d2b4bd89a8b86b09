#include "base/files/regular_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/raddle-source-XXXXXX";

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) && !chdir(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"source.c", "link.c", "large.c", "fifo.c"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		(void)unlink(names[i]); /* the file may not exist */
	return rmdir(folder);
}

static void make_file(const char *name, off_t bytes)
{
	const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	(void)close(fd);
}

static void assert_opens(const char *path, bool follows_links)
{
	struct stat status;
	const int fd = regular_file_open(AT_FDCWD, path, follows_links, &status);

	assert_true(fd >= 0);
	assert_true(S_ISREG(status.st_mode));
	(void)close(fd); /* the file was opened for reading */
}

static void assert_refused(const char *path, bool follows_links)
{
	struct stat status;

	assert_int_equal(regular_file_open(AT_FDCWD, path, follows_links, &status), -1);
}

static void test_regular_file__opens_regular_files(void **state)
{
	(void)state;
	make_file("source.c", 100);
	assert_int_equal(symlink("source.c", "link.c"), 0);
	assert_opens("source.c", false);
	assert_opens("link.c", true);
	assert_refused("link.c", false);
}

/* A FIFO without a writer would make open() wait. */
static void test_regular_file__refuses_all_others(void **state)
{
	(void)state;
	assert_int_equal(mkfifo("fifo.c", 0600), 0);
	for (int follows_links = 0; follows_links < 2; follows_links++) {
		assert_refused("fifo.c", follows_links);
		assert_refused("/dev/zero", follows_links);
		assert_refused(".", follows_links);
		assert_refused("missing.c", follows_links);
	}
}

static void test_regular_file__reads_whole_files_up_to_a_limit(void **state)
{
	struct stat status;
	size_t size;
	char *text;

	(void)state;
	make_file("read.c", 100);
	text = regular_file_read(regular_file_open(AT_FDCWD, "read.c", false, &status), 100, &size);
	assert_non_null(text);
	assert_int_equal(size, 100);
	assert_int_equal(text[100], '\0');
	free(text);
	assert_null(regular_file_read(
		regular_file_open(AT_FDCWD, "read.c", false, &status), 99, &size));
	assert_int_equal(errno, EFBIG);
	assert_null(regular_file_read(
		regular_file_open(AT_FDCWD, "missing.c", false, &status), 99, &size));
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regular_file__opens_regular_files),
		cmocka_unit_test(test_regular_file__refuses_all_others),
		cmocka_unit_test(test_regular_file__reads_whole_files_up_to_a_limit),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
