#include "commands/follow/follow_children.h"

#include <errno.h>
#include <fnmatch.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "commands/follow/follow.h"
#include "commands/follow/follow_program.h"
#include "commands/follow/follow_script.h"
#include "cli/command.h"
#include "cli/next_command.h"
#include "cli/terminal.h"
#include "report/json_value.h"

#define TAIL_LINES 15

/* Progress over all programs. */
struct following {
	const struct follow_children *follow;
	const volatile int *is_interrupted;
	char **known; /* keys of programs that were seen with threads, with the tolerated failure */
	size_t known_count;
	unsigned explored, found, failed; /* failed: raddle could not explore them */
	bool has_given;			  /* the given program was explored as well */
	json_t *children;
};

static bool follow_children_is_wanted(
	const struct following *following, const struct follow_program *program)
{
	const char *pattern = following->follow->pattern;
	const char *base = strrchr(program->path, '/');

	if (!pattern)
		return !follow_program_is_of_system(program->path);
	return fnmatch(pattern, program->path, 0) == 0 || fnmatch(pattern, base + 1, 0) == 0;
}

/* Returns NULL also if nobody but the user judges the end of the process. */
static const char *follow_children_expected(const struct follow_process *process)
{
	return process->is_given || process->is_first || process->is_blocked
		       ? NULL
		       : follow_program_expected(process->wait_status);
}

static bool follow_children_has_key(const struct following *following, const char *key)
{
	for (size_t i = 0; i < following->known_count; i++)
		if (!strcmp(following->known[i], key))
			return true;
	return false;
}

/*
 * Returns whether the same command line was explored in the same folder, which is done once. A runner may start a test
 * that failed once more. If it passes then, it is explored again, because the first campaign tolerated its failure.
 */
static bool follow_children_is_known(
	struct following *following, const struct follow_process *process)
{
	const char *expected = follow_children_expected(process);
	FREE_SCOPED char *strict = follow_program_key(process->program);
	char *key;

	BUG_ON(asprintf(&key, "%s%s%s", strict, expected ? "\n" : "", expected ? expected : "") <
		0);
	if (follow_children_has_key(following, strict) || follow_children_has_key(following, key)) {
		free(key);
		return true;
	}
	ARRAY_APPEND(following->known, following->known_count, key);
	return false;
}

static bool follow_children_is_current_directory(const char *directory)
{
	char here[PATH_MAX];

	return getcwd(here, sizeof here) && strcmp(here, directory) == 0;
}

/* raddle run OPTIONS [--tolerate KIND] [--output hide] [--directory FOLDER] [--stdin FILE]
 * -- PROGRAM ARG... */
static char **follow_children_command_for(
	const struct following *following, const struct follow_process *process)
{
	const struct follow_program *program = process->program;
	const char *expected = follow_children_expected(process);
	const struct follow_children *follow = following->follow;
	size_t count = 0, options = 0, words = 0;
	char **argv;

	while (follow->options[options])
		options++;
	while (program->argv[words])
		words++;
	argv = array_new(options + words + 12, sizeof *argv);
	argv[count++] = (char *)"raddle"; /* execve() writes to none of the words */
	argv[count++] = (char *)"run";
	for (size_t i = 0; i < options; i++)
		argv[count++] = follow->options[i];
	if (expected) {
		argv[count++] = (char *)"--tolerate";
		argv[count++] = (char *)expected;
	}
	if (follow->show_output) {
		/* the native run prints the program's output already */
		argv[count++] = (char *)"--output";
		argv[count++] = (char *)"hide";
	}
	if (follow->origin || !follow_children_is_current_directory(program->directory)) {
		argv[count++] = (char *)"--directory";
		argv[count++] = program->directory;
	}
	if (program->input) {
		argv[count++] = (char *)"--stdin";
		argv[count++] = program->input;
	}
	argv[count++] = (char *)"--";
	memcpy(argv + count, program->argv, words * sizeof *argv);
	return argv;
}

static int follow_children_wait_for(pid_t child, const volatile int *is_interrupted)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return EXIT_CANNOT_WORK;
		if (*is_interrupted)
			(void)kill(child, SIGTERM); /* the child ends its campaign */
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_CANNOT_WORK;
}

/* Runs raddle in the user's folder, where relative paths of the options lead to their files.
 * `output`: its standard output; negative: inherited. Returns its exit status. */
static int follow_children_run_raddle(
	const struct following *following, const struct follow_process *process, int output)
{
	const struct follow_program *program = process->program;
	FREE_SCOPED char **argv = follow_children_command_for(following, process);
	pid_t child;

	(void)fflush(stdout); /* main checks the stream */
	child = fork();
	if (child == 0) {
		const char *origin = following->follow->origin;

		if ((!origin || chdir(origin) == 0) && (output < 0 || dup2(output, 1) >= 0))
			(void)execve("/proc/self/exe", argv, program->environment);
		_exit(EXIT_CANNOT_WORK);
	}
	return child < 0 ? EXIT_CANNOT_WORK
			 : follow_children_wait_for(child, following->is_interrupted);
}

static int follow_children_hidden_file(void)
{
	return memfd_create("raddle-output", MFD_CLOEXEC);
}

static char *follow_children_read_hidden(int file)
{
	const off_t size = lseek(file, 0, SEEK_END);
	char *text = array_new(1, (size_t)(size > 0 ? size : 0) + 1);
	if (size > 0 && pread(file, text, (size_t)size, 0) != size)
		text[0] = '\0';
	return text;
}

static void follow_children_add_status(struct strbuf *out, int status, bool is_blocked)
{
	if (is_blocked)
		strbuf_adds(out, "hung natively: its threads wait for each other");
	else if (WIFSIGNALED(status))
		strbuf_addf(out, "was ended natively by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else
		strbuf_addf(out, "ended natively with status %d", WEXITSTATUS(status));
}

/* Describes a program: "./queue_test 3, started by ./run-tests.sh in /home/me/project, ended with
 * status 0". */
static char *follow_children_describe(
	const struct following *following, const struct follow_process *process)
{
	const struct follow_program *program = process->program;
	struct strbuf text = STRBUF_EMPTY;

	shell_words_add(&text, program->argv);
	if (!process->is_given)
		strbuf_addf(&text, ", started by %s", following->follow->argv[0]);
	if (process->is_fork)
		strbuf_adds(&text, ", which makes threads in a forked child");
	if (!follow_children_is_current_directory(program->directory))
		strbuf_addf(&text, " in %s", program->directory);
	strbuf_adds(&text, ", ");
	follow_children_add_status(&text, process->wait_status, process->is_blocked);
	return strbuf_detach(&text);
}

/* Names variables set by the runner: a finding does not keep them. */
static void follow_children_say_environment(const struct follow_program *program)
{
	char **variables = follow_new_variables(program);
	STRBUF_SCOPED words = STRBUF_EMPTY;

	if (*variables) {
		strbuf_adds(&words, " ");
		shell_words_add(&words, variables);
	}
	free(variables);
	if (words.length)
		(void)fprintf(stderr,
			"note: it was started with other environment variables than yours; to replay: env%s raddle replay ...\n",
			words.text);
}

static void follow_children_note_json(struct following *following,
	const struct follow_process *process, int status, const char *text)
{
	const struct follow_program *program = process->program;
	json_t *command = json_array();
	json_t *result = json_loads(text, 0, NULL);

	for (size_t i = 0; program->argv[i]; i++)
		(void)json_array_append_new(command, json_text(program->argv[i]));
	(void)json_array_append_new(following->children,
		json_pack("{s:o, s:o, s:i, s:i, s:o}", "command", command, "directory",
			json_text(program->directory), "native_status", process->wait_status,
			"status", status, "result", result ? result : json_null()));
}

/* Reports, even with --quiet, that a part of the request was not explored. */
static void follow_children_say_not_explored(const struct follow_process *process, const char *why)
{
	(void)fprintf(stderr, "note: %s (process %d) %s\n", process->program->argv[0],
		(int)process->pid, why);
}

static void follow_children_explore(
	struct following *following, const struct follow_process *process)
{
	const struct follow_children *follow = following->follow;
	const int output = follow->is_json || follow->is_quiet ? follow_children_hidden_file() : -1;
	FREE_SCOPED char *what = follow_children_describe(following, process);
	FREE_SCOPED char *text = NULL;
	int status;

	if (!follow->is_quiet)
		(void)fprintf(stderr, "%s%s\n", following->explored ? "\n" : "", what);
	if (!follow->is_quiet && follow_children_expected(process))
		(void)fprintf(stderr,
			"note: it fails natively, and %s may expect that, as of a test that must abort; so %s is no failure here. If it should pass: raddle run without --follow-children\n",
			follow->argv[0], follow_children_expected(process));
	status = follow_children_run_raddle(following, process, output);
	following->explored += status != EXIT_CANNOT_WORK;
	following->has_given |= process->is_given;
	following->failed += status == EXIT_CANNOT_WORK;
	following->found += status == EXIT_FAILURE_FOUND;
	if (output >= 0) {
		text = follow_children_read_hidden(output);
		(void)close(output); /* the file lies in memory only */
	}
	if (follow->is_json)
		follow_children_note_json(following, process, status, text ? text : "");
	else if (text && *text)
		(void)printf("%s\n%s", what, text); /* main checks the stream */
	if (status == EXIT_FAILURE_FOUND && !follow->is_quiet)
		follow_children_say_environment(process->program);
}

/* Returns whether the process is the runner itself, which is not explored. */
static bool follow_children_is_runner(
	const struct following *following, const struct follow_process *process)
{
	const struct follow_children *follow = following->follow;

	return follow->is_script ? follow_script_is_interpreter(process, follow->argv[0])
				 : process->is_given && !process->is_fork;
}

static void follow_children_on_ended(void *context, const struct follow_process *process)
{
	struct following *following = context;
	const struct follow_children *follow = following->follow;
	/* the user has named this program, or a script that becomes it */
	const bool is_named = !follow->pattern && (process->is_given || process->is_first);

	terminal_clear_live();
	if (*following->is_interrupted || follow_children_is_runner(following, process) ||
		follow_children_is_known(following, process))
		return;
	if (is_named || follow_children_is_wanted(following, process->program))
		follow_children_explore(following, process);
	else if (!process->is_fork && !follow->pattern && !follow->is_quiet)
		follow_children_say_not_explored(process,
			"makes threads, but is the system's; to explore it as well: --follow-children=PATTERN");
}

/* The message is not shown if the runner's own output goes to the terminal. */
static void follow_children_on_started(void *context, uint32_t programs)
{
	const struct following *following = context;

	if (!following->follow->is_quiet && !following->follow->show_output)
		terminal_live("%s: %u programs started, %u explored, %u of them can fail",
			following->follow->argv[0], programs, following->explored,
			following->found);
}

static void follow_children_on_blocked(void *context, const struct follow_process *process)
{
	(void)context; /* printed in every case: the runner sees that the program was killed */
	terminal_clear_live();
	(void)fprintf(stderr,
		"note: %s (process %d) hangs natively: its threads wait for each other without a time limit; raddle ends it\n",
		process->program->argv[0], (int)process->pid);
}

static void follow_children_on_without_rights(void *context, const struct follow_program *program)
{
	(void)context; /* printed in every case: the runner may fail because of it */
	(void)fprintf(stderr,
		"note: %s is set-user-id or set-group-id and ran without these rights, as traced programs do; run raddle as root to keep them\n",
		program->path);
}

static void follow_children_print_tail(int output)
{
	FREE_SCOPED char *text = follow_children_read_hidden(output);
	const char *at = text + strlen(text);
	int lines = 0;

	while (at > text && lines <= TAIL_LINES)
		lines += *--at == '\n';
	if (lines > TAIL_LINES)
		at++;
	if (*at)
		(void)fprintf(stderr, "last output of the program:\n%s", at);
}

static void follow_children_print_json(
	const struct following *following, const struct follow_result *result)
{
	json_t *runner = json_array();
	json_auto_t *all = NULL;
	FREE_SCOPED char *text = NULL;

	for (size_t i = 0; following->follow->argv[i]; i++)
		(void)json_array_append_new(runner, json_text(following->follow->argv[i]));
	all = json_pack("{s:o, s:i, s:i, s:O}", "runner", runner, "runner_status",
		result->wait_status, "programs", (int)result->programs, "children",
		following->children);
	text = json_dumps(all, JSON_COMPACT);
	(void)puts(text ? text : "{}"); /* main checks the stream */
}

static int follow_children_conclude(
	const struct following *following, const struct follow_result *result, int output)
{
	const char *name = following->follow->argv[0];
	const uint32_t programs = result->programs + following->has_given;
	STRBUF_SCOPED text = STRBUF_EMPTY, store = STRBUF_EMPTY;

	terminal_clear_live();
	if (following->follow->is_json)
		follow_children_print_json(following, result);
	strbuf_addf(&text, "%s ", name);
	follow_children_add_status(&text, result->wait_status, result->is_blocked);
	strbuf_addf(&text,
		"; of %u program%s that %s %u made threads and %s explored, %u of them can fail",
		programs, programs == 1 ? "" : "s", following->has_given ? "ran" : "it started",
		following->explored, following->explored == 1 ? "was" : "were", following->found);
	if (following->failed)
		strbuf_addf(&text, ", %u could not be explored", following->failed);
	if (!following->follow->is_quiet)
		(void)fprintf(
			stderr, "\n%s%s\n", text.text, result->is_interrupted ? " so far" : "");
	if (result->wait_status != 0 && !result->is_interrupted) {
		if (following->follow->is_quiet)
			(void)fprintf(stderr, "%s failed\n", name);
		if (output >= 0)
			follow_children_print_tail(output);
	}
	if (following->found && !following->follow->is_quiet) {
		next_add_store(&store, following->follow->store);
		(void)fprintf(stderr, "next: raddle list findings%s\n", store.text);
	}
	if (following->found || (result->wait_status != 0 && !result->is_interrupted))
		return EXIT_FAILURE_FOUND;
	if (following->failed && !following->explored)
		return command_fail(
			"no program could be explored, for the reasons above; run them without raddle, or change them");
	if (!following->explored && result->is_interrupted)
		return command_fail(
			"no program of %s was explored: the command was interrupted", name);
	if (!following->explored && !following->known_count)
		(void)fprintf(stderr,
			"no program that it starts makes threads; next: raddle run -- %s\n", name);
	return EXIT_NOTHING_FOUND;
}

static void follow_children_release(struct following *following)
{
	for (size_t i = 0; i < following->known_count; i++)
		free(following->known[i]);
	free(following->known);
	json_decref(following->children);
}

static int follow_children_run_and_conclude(struct following *following)
{
	const struct follow_request request = {.argv = following->follow->argv,
		.output = following->follow->show_output ? -1 : follow_children_hidden_file(),
		.listener = {.context = following,
			.ended = follow_children_on_ended,
			.started = follow_children_on_started,
			.blocked = follow_children_on_blocked,
			.without_rights = follow_children_on_without_rights},
		.is_interrupted = following->is_interrupted};
	struct follow_result result;
	struct error err;
	int status;

	if (follow_run(&request, &result, &err) < 0)
		status = command_fail("%s", err.text);
	else
		status = follow_children_conclude(following, &result, request.output);
	if (request.output >= 0)
		(void)close(request.output); /* the file lies in memory only */
	return status;
}

int follow_children_run(const struct follow_children *follow)
{
	struct following following = {.follow = follow,
		.is_interrupted = command_interruption(),
		.children = json_array()};
	int status;

	if (follow->has_input)
		status = command_fail(
			"--stdin goes to one program, and --follow-children to many; give the runner its input as usual");
	else if (access(follow->folder, X_OK) != 0)
		status = command_fail(
			"the folder %s for the store cannot be entered (%s); create it, or give another one with --store",
			follow->folder, strerror(errno));
	else
		status = follow_children_run_and_conclude(&following);
	follow_children_release(&following);
	return status;
}
