/* Text that test programs and ThreadSanitizer print: lists of test cases, and reports of races. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bug.h"
#include "commands/run/run_like.h"
#include "commands/test/suite/test_framework.h"
#include "commands/test/suite/test_list.h"
#include "fuzz/fuzz_targets.h"

/* The names are arguments of a program, one line each, and differ. */
static void lists_check(const struct test_suite *suite, const struct test_framework *framework)
{
	for (uint32_t i = 0; i < suite->count; i++) {
		const struct test_case *test = &suite->cases[i];
		char **words =
			test_framework_expand(NULL, framework->arguments, test, framework->escaped);

		BUG_ON(!*test->name || strchr(test->name, '\n'));
		BUG_ON(i && !strcmp(test->name, test[-1].name));
		for (size_t word = 0; words[word]; word++)
			free(words[word]);
		free(words);
	}
}

/* The first byte selects the framework. */
static bool lists_run(const uint8_t *bytes, size_t size)
{
	const struct test_framework *framework =
		&test_frameworks[size ? bytes[0] % test_framework_count : 0];
	struct test_suite suite = {0};
	struct error err = {0};
	char *text;
	int status;

	if (!size || !framework->parse)
		return false;
	text = strndup((const char *)bytes + 1, size - 1);
	BUG_ON(!text);
	status = framework->parse(text, &suite, &err);
	free(text);
	if (status)
		fuzz_check_refusal(status, &err);
	lists_check(&suite, framework);
	test_suite_release(&suite);
	return !status;
}

static size_t lists_make_seed(uint8_t *bytes, size_t capacity)
{
	/* The framework of each row whose number is the first byte; 0: GoogleTest */
	static const char text[] =
		"\0Running main() from gtest_main.cc\nA.\n  one\n  two\n"
		"Ty/0.  # TypeParam = int\n  ty\nIn/P.\n  par/0  # GetParam() = 1\n";

	BUG_ON(sizeof text > capacity);
	memcpy(bytes, text, sizeof text - 1);
	return sizeof text - 1;
}

const struct fuzz_target fuzz_target_lists = {
	.name = "lists", .run = lists_run, .make_seed = lists_make_seed};

static bool like_run(const uint8_t *bytes, size_t size)
{
	struct run_like like;
	struct error err = {0};
	char path[32];
	const int file = memfd_create("fuzz", 0);
	int status;

	BUG_ON(file < 0 || write(file, bytes, size) != (ssize_t)size);
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", file); /* short */
	status = run_like_read(&like, path, "./racy", &err);
	BUG_ON(close(file));
	if (status) {
		fuzz_check_refusal(status, &err);
		return false;
	}
	for (int i = 0; i < 2; i++)
		BUG_ON(!*like.frames[i] || strchr(like.frames[i], '\n'));
	run_like_release(&like);
	return true;
}

static size_t like_make_seed(uint8_t *bytes, size_t capacity)
{
	static const char text[] =
		"==================\nWARNING: ThreadSanitizer: data race (pid=7)\n"
		"  Write of size 4 at 0x5581 by thread T2:\n"
		"    #0 memset ../tsan/tsan_interceptors.inc:9 (libtsan.so.2+0x40) (BuildId: 1f)\n"
		"    #1 work /src/racy.c:5 (racy+0x11e7) (BuildId: 2e)\n\n"
		"  Previous read of size 4 at 0x5581 by thread T1:\n"
		"    #0 work <null> (racy+0x11d2)\n    #1 main /src/racy.c:9 (racy+0x1300)\n\n"
		"SUMMARY: ThreadSanitizer: data race /src/racy.c:5 in work\n";

	BUG_ON(sizeof text > capacity);
	memcpy(bytes, text, sizeof text - 1);
	return sizeof text - 1;
}

const struct fuzz_target fuzz_target_like = {
	.name = "like", .run = like_run, .make_seed = like_make_seed};
