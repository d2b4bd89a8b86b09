#include "commands/test/suite/test_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"

/* Longest accepted line: a case is an argument of a program. */
#define LINE_BYTES 65536
/* Boost.Test indents each level by this number of blanks. */
#define BOOST_INDENT 4
#define BOOST_LEVELS 64

/* The lines of a list. `line` is a copy without the line end. */
struct test_lines {
	const char *at;
	unsigned number;
	char line[LINE_BYTES];
};

static struct test_lines *test_list_begin(const char *text)
{
	struct test_lines *lines = array_new(1, sizeof *lines);

	lines->at = text;
	return lines;
}

/* Returns 1 if there is a next line, 0 at the end, or a negative error. */
static int test_list_next(struct test_lines *lines, struct error *err)
{
	size_t length = strcspn(lines->at, "\n");

	if (!*lines->at)
		return 0;
	lines->number++;
	if (length >= LINE_BYTES)
		return error_set(err, ERROR_FORMAT,
			"line %u of the list of test cases is longer than %u bytes; give the names by --list FILE",
			lines->number, LINE_BYTES - 1);
	memcpy(lines->line, lines->at, length);
	lines->line[length] = '\0';
	if (length && lines->line[length - 1] == '\r')
		lines->line[length - 1] = '\0';
	lines->at += length + (lines->at[length] == '\n');
	return 1;
}

static int test_list_damaged(const struct test_lines *lines, const char *why, struct error *err)
{
	return error_set(err, ERROR_FORMAT,
		"line %u of the list of test cases %s (\"%.80s\"); give the names by --list FILE",
		lines->number, why, lines->line);
}

/* Cuts the line at the first occurrence of `text`. */
static void test_list_cut(char *line, const char *text)
{
	char *end = strstr(line, text);

	if (end)
		*end = '\0';
}

TEST_LIST_PARSER(names)
{
	FREE_SCOPED struct test_lines *lines = test_list_begin(text);
	int status;

	while ((status = test_list_next(lines, err)) > 0) {
		char *name = lines->line + strspn(lines->line, " \t");
		size_t length = strlen(name);

		while (length && strchr(" \t", name[length - 1]))
			name[--length] = '\0';
		/* Catch2 quotes a name that begins with a number sign. */
		if (length > 2 && !strncmp(name, "\"#", 2) && name[length - 1] == '"') {
			name[length - 1] = '\0';
			name++;
		}
		(void)test_suite_add(suite, "", "", name);
	}
	return status;
}

/* "Suite/0.  # TypeParam = int", and below it "  case/1  # GetParam() = 2" */
TEST_LIST_PARSER(googletest)
{
	FREE_SCOPED struct test_lines *lines = test_list_begin(text);
	STRBUF_SCOPED group = STRBUF_EMPTY;
	int status;

	while ((status = test_list_next(lines, err)) > 0) {
		const bool is_case = !strncmp(lines->line, "  ", 2);
		char *name = lines->line + (is_case ? 2 : 0);

		test_list_cut(name, "  #");
		if (strchr(name, ' '))
			continue; /* the program's own output: no name of GoogleTest has a blank */
		if (is_case && !group.length) {
			status = test_list_damaged(lines, "has no suite above it", err);
			break;
		}
		if (is_case) {
			if (strncmp(name, "DISABLED_", 9) != 0 && !strstr(group.text, "DISABLED_"))
				(void)test_suite_add(suite, group.text, ".", name);
		} else if (*name && name[strlen(name) - 1] == '.') {
			strbuf_clear(&group);
			strbuf_add(&group, name, strlen(name) - 1);
		}
	}
	return status;
}

/* Replaces the entities that Catch2 writes. */
static void test_list_decode_xml(char *text)
{
	static const struct {
		const char *entity;
		char character;
	} entities[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}};
	char *to = text;

	while (*text) {
		size_t length = 1;
		char character = *text;

		for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
			if (!strncmp(text, entities[i].entity, strlen(entities[i].entity))) {
				character = entities[i].character;
				length = strlen(entities[i].entity);
			}
		*to++ = character;
		text += length;
	}
	*to = '\0';
}

/* <TestCase> with <Name> in a document of Catch2's XML reporter */
TEST_LIST_PARSER(catch2)
{
	FREE_SCOPED struct test_lines *lines = test_list_begin(text);
	bool is_in_case = false, has_document = false;
	int status;

	while ((status = test_list_next(lines, err)) > 0) {
		char *name = strstr(lines->line, "<Name>");

		has_document |= strstr(lines->line, "<MatchingTests") != NULL;
		is_in_case |= strstr(lines->line, "<TestCase>") != NULL;
		if (!name || !is_in_case)
			continue;
		if (!strstr(name, "</Name>")) {
			status = test_list_damaged(lines, "has no end of the name", err);
			break;
		}
		name += strlen("<Name>");
		test_list_cut(name, "</Name>");
		test_list_decode_xml(name);
		is_in_case = false;
		(void)test_suite_add(suite, "", "", name);
	}
	if (status == 0 && !has_document)
		return error_set(err, ERROR_FORMAT,
			"the list of test cases is no XML document of Catch2; give the names by --list FILE");
	return status;
}

/* Names between two rules of equals signs */
TEST_LIST_PARSER(doctest)
{
	FREE_SCOPED struct test_lines *lines = test_list_begin(text);
	unsigned rules = 0;
	int status;

	while ((status = test_list_next(lines, err)) > 0) {
		if (!strncmp(lines->line, "========", 8))
			rules++;
		else if (rules == 1)
			(void)test_suite_add(suite, "", "", lines->line);
	}
	if (status == 0 && rules < 2)
		return error_set(err, ERROR_FORMAT,
			"the list of test cases has no end, as doctest prints it; give the names by --list FILE");
	return status;
}

/* The entries on the path to the current line of Boost.Test's tree. */
struct boost_path {
	char *names[BOOST_LEVELS];
	unsigned depth;
	bool is_enabled; /* the last entry */
};

static void test_list_cut_boost_path(struct boost_path *path, unsigned depth)
{
	while (path->depth > depth)
		free(path->names[--path->depth]);
}

/* Adds the last entry of the path as a case. */
static void test_list_add_boost(const struct boost_path *path, struct test_suite *suite)
{
	STRBUF_SCOPED group = STRBUF_EMPTY;

	if (!path->depth || !path->is_enabled)
		return;
	for (unsigned i = 0; i + 1 < path->depth; i++)
		strbuf_addf(&group, "%s%s", i ? "/" : "", path->names[i]);
	(void)test_suite_add(suite, group.text, "/", path->names[path->depth - 1]);
}

/* Cuts what follows the name. Returns whether the entry is enabled. */
static bool test_list_end_boost_name(char *name)
{
	char *end = strstr(name, "*: ");
	bool is_enabled;

	if (!end)
		end = strstr(name, " : ");
	if (!end && *name && strchr("* ", name[strlen(name) - 1]))
		end = name + strlen(name) - 1;
	is_enabled = end && *end == '*';
	if (end)
		*end = '\0';
	return is_enabled;
}

/* A tree: four blanks per level, "*" behind enabled entries, ": description". Leaves are cases. */
TEST_LIST_PARSER(boost)
{
	FREE_SCOPED struct test_lines *lines = test_list_begin(text);
	struct boost_path path = {.depth = 0};
	int status;

	while ((status = test_list_next(lines, err)) > 0) {
		const size_t blanks = strspn(lines->line, " ");
		const unsigned level = (unsigned)(blanks / BOOST_INDENT);
		char *name = lines->line + blanks;

		if (!*name)
			continue;
		if (blanks % BOOST_INDENT || level > path.depth || level >= BOOST_LEVELS) {
			status =
				test_list_damaged(lines, "is not indented as Boost.Test does", err);
			break;
		}
		if (level < path.depth)
			test_list_add_boost(&path, suite);
		test_list_cut_boost_path(&path, level);
		path.is_enabled = test_list_end_boost_name(name);
		path.names[path.depth] = string_copy(name);
		path.depth++;
	}
	if (status == 0)
		test_list_add_boost(&path, suite);
	test_list_cut_boost_path(&path, 0);
	return status;
}

/* Returns the colon before the field that is `fields` fields before `end`; NULL: too few. */
static char *test_list_colon_before(char *line, char *end, unsigned fields)
{
	while (fields && end > line)
		fields -= *--end == ':';
	return fields ? NULL : end;
}

/* Reads "file.c:12:P:case:test:0: Passed". Returns the name of the TCase, or NULL. */
static char *test_list_read_check_line(char *line)
{
	char *message = strstr(line, ": "), *name;

	name = message ? test_list_colon_before(line, message, 3) : NULL;
	if (!name || name - line < 4 || name[-2] != ':' || !strchr("PFES", name[-1]))
		return NULL;
	*name++ = '\0';
	*strchr(name, ':') = '\0'; /* two more colons follow */
	return name;
}

/* Check's log of a run: "Running suite NAME", and a line for each test */
TEST_LIST_PARSER(check)
{
	static const char head[] = "Running suite ";
	FREE_SCOPED struct test_lines *lines = test_list_begin(text);
	STRBUF_SCOPED group = STRBUF_EMPTY;
	int status;

	while ((status = test_list_next(lines, err)) > 0) {
		const char *name = test_list_read_check_line(lines->line);

		if (!strncmp(lines->line, head, strlen(head))) {
			strbuf_clear(&group);
			strbuf_adds(&group, lines->line + strlen(head));
		} else if (name && !group.length) {
			status = test_list_damaged(lines, "has no suite above it", err);
			break;
		} else if (name) {
			(void)test_suite_add(suite, group.text, ":", name);
		}
	}
	return status;
}

/* "/group/case" among lines of TAP */
TEST_LIST_PARSER(glib)
{
	FREE_SCOPED struct test_lines *lines = test_list_begin(text);
	int status;

	while ((status = test_list_next(lines, err)) > 0)
		if (lines->line[0] == '/')
			(void)test_suite_add(suite, "", "", lines->line);
	return status;
}

/* "Unit tests:", and below it "  case" */
TEST_LIST_PARSER(acutest)
{
	FREE_SCOPED struct test_lines *lines = test_list_begin(text);
	int status;

	while ((status = test_list_next(lines, err)) > 0)
		if (!strncmp(lines->line, "  ", 2))
			(void)test_suite_add(suite, "", "", lines->line + 2);
	return status;
}

/* "suite: 2 tests", and below it "|-- case" */
TEST_LIST_PARSER(criterion)
{
	static const char *const branches[] = {"|-- ", "`-- ", "├── ", "└── "};
	FREE_SCOPED struct test_lines *lines = test_list_begin(text);
	STRBUF_SCOPED group = STRBUF_EMPTY;
	int status;

	while ((status = test_list_next(lines, err)) > 0) {
		char *name = NULL, *end = strstr(lines->line, ": ");

		for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
			if (!strncmp(lines->line, branches[i], strlen(branches[i])))
				name = lines->line + strlen(branches[i]);
		if (name && !group.length) {
			status = test_list_damaged(lines, "has no suite above it", err);
			break;
		}
		if (name) {
			(void)test_suite_add(suite, group.text, "/", name);
		} else if (end && isdigit((unsigned char)end[2]) && strstr(end, " test")) {
			strbuf_clear(&group);
			strbuf_add(&group, lines->line, (size_t)(end - lines->line));
		}
	}
	return status;
}
