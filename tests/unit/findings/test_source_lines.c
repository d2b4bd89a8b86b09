/* Lines that belong to what is stored: which are kept, of which files, and what is said when a file changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "findings/source_lines.h"
#include "support/sample_finding.h"

/* A folder of the test's own, which is the working folder. */
static void enter_empty_folder(void)
{
	static char folder[] = "/tmp/raddle-source-lines-XXXXXX";

	if (strstr(folder, "XXXXXX"))
		assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
}

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static json_t *collect(const char *document)
{
	json_t *root = json_loads(document, 0, NULL), *sources;

	assert_non_null(root);
	sources = source_lines_collect(root, NULL);
	json_decref(root);
	return sources;
}

static const char *line_of(const json_t *sources, const char *file, const char *number)
{
	return json_string_value(
		json_object_get(json_object_get(json_object_get(sources, file), "lines"), number));
}

static void test_collect__keeps_lines_around_each_location(void **state)
{
	json_t *sources;

	(void)state;
	enter_empty_folder();
	write_file("a.c", "1\n2\n3\n4\n5\r\n6\n7\n8\n9\n10\n11");
	write_file("b.c", "x\xff\ny");
	sources = collect("{\"at\": [{\"file\": \"a.c\", \"line\": 5}],"
			  " \"other\": {\"where\": {\"file\": \"b.c\", \"line\": 1}},"
			  " \"library\": {\"file\": \"c.c\", \"line\": 1, \"is_system\": true}}");
	assert_int_equal(json_object_size(sources), 2);
	assert_null(line_of(sources, "a.c", "1"));
	assert_string_equal(line_of(sources, "a.c", "2"), "2");
	assert_string_equal(line_of(sources, "a.c", "5"), "5");
	assert_string_equal(line_of(sources, "a.c", "8"), "8");
	assert_null(line_of(sources, "a.c", "9"));
	assert_string_equal(line_of(sources, "b.c", "1"), "x?");
	assert_string_equal(line_of(sources, "b.c", "2"), "y");
	json_decref(sources);
}

static void test_collect__cuts_long_lines_between_characters(void **state)
{
	char text[1000] = "";
	const char *line;
	json_t *sources;

	(void)state;
	enter_empty_folder();
	for (int i = 0; i < 200; i++)
		strcat(text, "\u20ac"); /* three bytes */
	write_file("long.c", text);
	sources = collect("{\"file\": \"long.c\", \"line\": 1}");
	line = line_of(sources, "long.c", "1");
	assert_non_null(line);
	assert_int_equal(strlen(line), 399);
	assert_null(strchr(line, '?'));
	json_decref(sources);
}

static void test_collect__reads_regular_files_only(void **state)
{
	json_t *sources;

	(void)state;
	enter_empty_folder();
	(void)unlink("pipe"); /* an earlier test may have left it */
	assert_int_equal(mkfifo("pipe", 0600), 0);
	write_file("secret", "password\n");
	assert_int_equal(symlink("secret", "link.c"), 0);
	write_file("huge.c", "1\n");
	assert_int_equal(truncate("huge.c", INT64_C(1) << 40), 0);
	sources = collect(
		"[{\"file\": \"pipe\", \"line\": 1}, {\"file\": \"link.c\", \"line\": 1},"
		" {\"file\": \"huge.c\", \"line\": 1}, {\"file\": \"/dev/zero\", \"line\": 1},"
		" {\"file\": \".\", \"line\": 1}, {\"file\": \"none.c\", \"line\": 1}]");
	assert_int_equal(json_object_size(sources), 0);
	json_decref(sources);
}

static void test_changed__names_files_with_other_content(void **state)
{
	json_t *sources, *changed;

	(void)state;
	enter_empty_folder();
	write_file("same.c", "1\n");
	write_file("edited.c", "1\n");
	write_file("gone.c", "1\n");
	sources = collect(
		"[{\"file\": \"same.c\", \"line\": 1}, {\"file\": \"edited.c\", \"line\": 1},"
		" {\"file\": \"gone.c\", \"line\": 1}]");
	write_file("edited.c", "1\n2\n");
	assert_int_equal(unlink("gone.c"), 0);
	assert_int_equal(chdir("/"), 0); /* the names lead nowhere from here */
	changed = source_lines_changed(sources, &source_roots_everywhere);
	assert_int_equal(json_array_size(changed), 2);
	json_decref(changed);
	json_decref(sources);
}

static json_t *collect_below(const char *file, char *const *folders)
{
	const struct source_roots roots = {.folders = folders};
	json_t *root = json_pack("{s:s, s:i}", "file", file, "line", 1), *sources;

	sources = source_lines_collect(root, &roots);
	json_decref(root);
	return sources;
}

static size_t count_below(const char *file, char *const *folders)
{
	json_t *sources = collect_below(file, folders);
	const size_t count = json_object_size(sources);

	json_decref(sources);
	return count;
}

static void test_collect__reads_below_the_roots_only(void **state)
{
	char folder[] = "/tmp/raddle-source-roots-XXXXXX", path[64];
	char *const with[] = {"/nowhere", folder, NULL}, *const everything[] = {"/", NULL};
	json_t *sources;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof path, "%s/far.c", folder);
	write_file(path, "far\n");
	enter_empty_folder();
	write_file("near.c", "near\n");
	assert_int_equal(count_below("near.c", NULL), 1);
	assert_int_equal(count_below("./near.c", NULL), 1);
	assert_int_equal(count_below("/etc/passwd", NULL), 0);
	assert_int_equal(count_below("../../etc/passwd", NULL), 0);
	assert_int_equal(count_below("/proc/self/environ", everything), 1);
	sources = collect_below("/proc/self/environ", everything);
	assert_null(line_of(sources, "/proc/self/environ", "1"));
	json_decref(sources);
	assert_int_equal(count_below("/dev/zero", everything), 0);
	assert_int_equal(count_below(path, NULL), 0);
	assert_int_equal(count_below(path, with), 1);
	assert_int_equal(symlink(folder, "link"), 0);
	assert_int_equal(count_below("link/far.c", NULL), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(count_below("/etc/passwd", NULL), 0);
	assert_int_equal(count_below("etc/passwd", NULL), 0);
	assert_int_equal(count_below("etc/passwd", everything), 1);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

static void test_get__prefers_the_kept_line(void **state)
{
	struct strbuf line;
	json_t *sources;

	(void)state;
	enter_empty_folder();
	write_file("kept.c", "\t before\n");
	sources = collect("{\"file\": \"kept.c\", \"line\": 1}");
	write_file("kept.c", "after\n");
	strbuf_init(&line);
	assert_true(source_lines_get(sources, "kept.c", 1, &line));
	assert_string_equal(line.text, "before");
	assert_false(source_lines_get(sources, "kept.c", 2, &line));
	strbuf_clear(&line);
	assert_true(source_lines_get(NULL, "kept.c", 1, &line));
	assert_string_equal(line.text, "after");
	strbuf_release(&line);
	json_decref(sources);
}

static void test_finding__keeps_its_sources_in_its_stored_form(void **state)
{
	struct finding finding = sample_finding(), again;
	struct error err;
	char *text;

	(void)state;
	enter_empty_folder();
	assert_int_equal(mkdir("src", 0700), 0);
	write_file("src/bank.c", "first\n");
	free(finding.waits[0].at.frames[1].file);
	finding.waits[0].at.frames[1].file = strdup("src/bank.c");
	finding.waits[0].at.frames[1].line = 1;
	finding_keep_sources(&finding);
	assert_non_null(strstr(finding.sources, "first"));
	write_file("src/bank.c", "second\n");
	finding_keep_sources(&finding);
	assert_null(strstr(finding.sources, "second"));
	text = finding_to_json(&finding);
	assert_int_equal(finding_from_json(text, strlen(text), &again, &err), 0);
	assert_non_null(strstr(again.sources, "first"));
	free(text);
	finding_release(&again);
	finding_release(&finding);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_collect__keeps_lines_around_each_location),
		cmocka_unit_test(test_collect__cuts_long_lines_between_characters),
		cmocka_unit_test(test_collect__reads_regular_files_only),
		cmocka_unit_test(test_changed__names_files_with_other_content),
		cmocka_unit_test(test_collect__reads_below_the_roots_only),
		cmocka_unit_test(test_get__prefers_the_kept_line),
		cmocka_unit_test(test_finding__keeps_its_sources_in_its_stored_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
