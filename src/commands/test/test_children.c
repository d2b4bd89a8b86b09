#include "commands/test/test_children.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/shell_words.h"
#include "commands/follow/follow_program.h"
#include "commands/follow/follow_script.h"
#include "commands/test/test_environment.h"
#include "plan/settings.h"

struct test_child {
	char *key;
	struct test_case test;
	int wait_status;
};

struct test_children {
	struct test_explore *explore;
	struct test_child *list;
	size_t count;
};

static bool test_children_is_listed(const struct test_children *children, const char *key)
{
	for (size_t i = 0; i < children->count; i++)
		if (!strcmp(children->list[i].key, key))
			return true;
	return false;
}

/* Lists a program that the case has executed. The case's own program is left out, also where a forked
 * child runs it: the campaigns of the case explore it. */
static void test_children_on_ended(void *context, const struct follow_process *process)
{
	struct test_children *children = context;
	const struct follow_program *program = process->program;
	char *key = follow_program_key(program);
	FREE_SCOPED char **variables = NULL;

	if (process->is_given || process->is_first || follow_program_is_of_system(program->path) ||
		test_children_is_listed(children, key)) {
		free(key);
		return;
	}
	variables = follow_new_variables(program);
	ARRAY_APPEND(children->list, children->count,
		(struct test_child){.key = key,
			.test = {.argv = strings_copy(program->argv),
				.environment = strings_copy(variables),
				.directory = string_copy(program->directory),
				.input = string_copy(program->input)},
			/* of a forked process the status says nothing of the program's */
			.wait_status = process->is_fork ? 0 : process->wait_status});
}

/* Runs the program natively, and calls the listener for its children. */
static int test_children_follow(const struct test_explore *explore, const struct test_case *test,
	const char *input, struct follow_request *request, struct follow_result *result,
	struct error *err)
{
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const int file = input ? open(input, O_RDONLY | O_CLOEXEC) : null;
	struct test_environment environment;
	int status;

	request->argv = test->argv;
	request->input = file;
	request->output = null;
	request->is_interrupted = explore->options->is_interrupted;
	if (null < 0 || file < 0)
		status = error_set(err, ERROR_IO, "%s cannot be opened (%s)",
			null < 0 ? "/dev/null" : input, strerror(errno));
	else {
		if (test_environment_enter(&environment, test))
			status = follow_run(request, result, err);
		else
			status = error_set(err, ERROR_IO, "its folder cannot be entered (%s)",
				strerror(errno));
		test_environment_leave(&environment);
	}
	if (file >= 0 && file != null)
		(void)close(file); /* nothing was written */
	if (null >= 0)
		(void)close(null);
	return status;
}

static bool test_children_is_same_end(int one, int other)
{
	return WIFSIGNALED(one) ? WIFSIGNALED(other) && WTERMSIG(one) == WTERMSIG(other)
				: WIFEXITED(other) && WEXITSTATUS(one) == WEXITSTATUS(other);
}

/* A program with a race may fail by chance. */
#define RUNS_ALONE_MOST 3

/* Returns why the program cannot be explored; NULL: it can be. A program that fails by itself, but not in the
 * same way as a child, needs something that only its parent gives. One that passes by itself can be explored,
 * whatever it did as a child; its status as a child is then forgotten. */
static const char *test_children_obstacle(const struct test_explore *explore,
	struct test_child *child, uint64_t limit_ns, struct error *err)
{
	struct follow_request request = {.limit_ns = limit_ns};
	struct follow_result result;

	for (unsigned i = 0; i < RUNS_ALONE_MOST; i++) {
		if (test_children_follow(
			    explore, &child->test, child->test.input, &request, &result, err) < 0)
			return err->text;
		if (result.is_late)
			return "by itself it does not end in time";
		if (!result.wait_status)
			child->wait_status = 0;
		if (test_children_is_same_end(child->wait_status, result.wait_status))
			return NULL;
	}
	return "by itself it fails in another way than as a child";
}

/* Returns the failures that do not count. If the program fails without raddle, too, as a death test
 * does, then its parent expects that kind of failure. */
static uint32_t test_children_tolerated(const struct test_child *child)
{
	const char *word = follow_program_expected(child->wait_status);
	uint32_t tolerated = 0;
	struct error err;

	if (word)
		BUG_ON(settings_parse_tolerated(word, &tolerated, &err) < 0);
	return tolerated;
}

static void test_children_add_one(
	struct test_explore *explore, uint32_t number, struct test_child *child, uint64_t limit_ns)
{
	const struct test_case *owner = &explore->suite->cases[number];
	STRBUF_SCOPED words = STRBUF_EMPTY;
	struct error err;
	const char *obstacle;

	shell_words_add(&words, child->test.argv);
	obstacle = test_children_obstacle(explore, child, limit_ns, &err);
	if (obstacle) {
		test_explore_note(explore, owner,
			"its child is not explored, because %s: %s; raddle run --follow-children with the command of the case explores it while its parent lives",
			obstacle, words.text);
		return;
	}
	child->test.tolerated = test_children_tolerated(child);
	child->test.name = strbuf_detach(&words);
	child->test.owner = number;
	test_suite_add_child(explore->suite, &child->test);
	child->test = (struct test_case){0};
}

void test_children_add(struct test_explore *explore, uint32_t number, uint64_t limit_ns)
{
	struct test_children children = {.explore = explore};
	struct follow_request request = {.limit_ns = limit_ns,
		.listener = {.context = &children, .ended = test_children_on_ended}};
	const struct test_case *test = &explore->suite->cases[number];
	struct follow_result result;
	struct error err;

	if (test_children_follow(
		    explore, test, explore->options->settings.input, &request, &result, &err) < 0)
		test_explore_note(
			explore, test, "its children are not explored, because %s", err.text);
	else if (result.is_late && !children.count)
		test_explore_note(explore, test,
			"a child executes a program, which is not explored, because the case does not end in time without raddle");
	for (size_t i = 0; i < children.count; i++) {
		if (!*explore->options->is_interrupted)
			test_children_add_one(explore, number, &children.list[i], limit_ns);
		test_case_release(&children.list[i].test);
		free(children.list[i].key);
	}
	free(children.list);
}
