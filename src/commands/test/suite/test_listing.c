#include "commands/test/suite/test_listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/files/text_file.h"
#include "base/visible.h"
#include "cli/command.h"
#include "commands/test/suite/test_list.h"
#include "commands/test/suite/test_output.h"
#include "process/target.h"

/* Appends what the program prints when its framework lists the cases. */
static int test_listing_ask(
	const struct test_listing *listing, struct strbuf *out, struct error *err)
{
	const struct test_case none = {.name = (char *)"", .group = (char *)"", .own = (char *)""};
	char **argv = test_framework_expand(
		strings_copy(listing->argv), listing->found->list, &none, NULL);
	char **environment =
		test_framework_expand(NULL, listing->found->list_environment, &none, NULL);
	const int status = test_output_of_program(argv, environment, out, err);

	strings_free(argv);
	strings_free(environment);
	return status;
}

static int test_listing_find_framework(struct test_listing *listing, struct error *err)
{
	const bool has_list = listing->file || listing->command;
	STRBUF_SCOPED known = STRBUF_EMPTY;
	struct target target;
	int status;

	if (listing->framework) {
		listing->found = test_framework_find(listing->framework);
		if (listing->found)
			return 0;
		for (unsigned i = 0; i < test_framework_count; i++)
			strbuf_addf(&known, "%s%s", i ? ", " : "", test_frameworks[i].name);
		return error_set(err, ERROR_USAGE, "no framework %s; there are %s",
			listing->framework, known.text);
	}
	status = target_find(&target, listing->argv[0], err);
	if (status < 0)
		return status;
	listing->found = test_framework_detect(target.path);
	target_release(&target);
	listing->is_one_case = !has_list && (!listing->found || !listing->found->parse);
	if (listing->is_one_case && listing->arguments)
		return error_set(err, ERROR_USAGE,
			"--case-args needs the names of the test cases; give them by --list FILE or --list-command CMD");
	return 0;
}

/* Reports an empty list with the last line of `text`, which may hold the reason. */
static int test_listing_refuse_empty(
	const struct test_framework *framework, char *text, struct error *err)
{
	size_t length = strlen(text);
	char *begin, *line;

	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	begin = strrchr(text, '\n');
	line = visible_text(begin ? begin + 1 : text, false);
	(void)error_set(err, ERROR_NOTFOUND,
		"the list of test cases is empty%s%s%s%s; is there a filter among the arguments?",
		framework ? ", framework " : "", framework ? framework->title : "",
		*line ? "; the program printed: " : "", line);
	free(line);
	return err->code;
}

static int test_listing_parse(
	const struct test_listing *listing, struct test_suite *suite, struct error *err)
{
	const struct test_framework *framework = listing->found;
	const char *base = strrchr(listing->argv[0], '/');
	char *const shell[] = {
		(char *)"sh", (char *)"-c", (char *)(uintptr_t)listing->command, NULL};
	STRBUF_SCOPED text = STRBUF_EMPTY;
	int status;

	if (listing->is_one_case) {
		(void)test_suite_add(suite, "", "", base ? base + 1 : listing->argv[0]);
		return 0;
	}
	if (listing->file)
		status = text_file_read(fopen(listing->file, "re"), "the list of test cases",
			listing->file, &text, err);
	else if (listing->command)
		status = test_output_of_program(shell, NULL, &text, err);
	else
		status = test_listing_ask(listing, &text, err);
	if (status == 0)
		status = listing->file || listing->command
				 ? test_list_names(text.text, suite, err)
				 : framework->parse(text.text, suite, err);
	if (status == 0 && !suite->count)
		status = test_listing_refuse_empty(framework, text.text, err);
	return status;
}

/* Every process that this command starts gets the environment that the script has made. */
static int test_listing_leave_script(struct test_listing *listing, struct error *err)
{
	struct follow_script *program = &listing->program;
	int status;

	if (!target_is_script(listing->argv[0]))
		return 0;
	status = follow_script_find(program, listing->argv, command_interruption(), err);
	if (status < 0)
		return status;
	listing->argv = program->argv;
	for (char **entry = program->environment; *entry; entry++)
		(void)putenv(*entry); /* fails only without memory */
	return 0;
}

int test_listing_read(struct test_listing *listing, struct test_suite *suite, struct error *err)
{
	const struct test_framework *framework;
	const char *arguments, *escaped = NULL;
	int status = test_listing_leave_script(listing, err);

	if (status == 0)
		status = test_listing_find_framework(listing, err);
	if (status == 0)
		status = test_listing_parse(listing, suite, err);
	if (status < 0)
		return status;
	framework = listing->found;
	arguments = listing->is_one_case ? NULL : "{}";
	if (framework) {
		arguments = framework->arguments;
		escaped = framework->escaped;
	}
	if (listing->arguments) {
		arguments = listing->arguments;
		escaped = NULL;
	}
	for (uint32_t i = 0; i < suite->count; i++) {
		struct test_case *test = &suite->cases[i];

		test->argv = test_framework_expand(
			strings_copy(listing->argv), arguments, test, escaped);
		test->environment = test_framework_expand(
			NULL, framework ? framework->environment : NULL, test, NULL);
	}
	return 0;
}
