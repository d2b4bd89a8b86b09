#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "commands/branches/branches.h"
#include "process/cores.h"
#include "process/launch.h"
#include "commands/branches/branches_result.h"
#include "cli/command.h"
#include "cli/next_command.h"
#include "cli/option_value.h"
#include "cli/terminal.h"

enum {
	OPTION_QUERY_TIME = 256,
	OPTION_STDIN,
	OPTION_TOLERATE,
	OPTION_ASSERTIONS,
	OPTION_SAVE_RECORD,
	OPTION_FROM_RECORD,
	OPTION_CONTINUATIONS,
	OPTION_JSON,
	OPTION_WINDOW,
	OPTION_PART,
	OPTION_GLOBAL,
	OPTION_QUERIES,
	OPTION_TIME,
	OPTION_ROUNDS,
	OPTION_EXCLUDE,
	OPTION_STORE_BUFFERS,
	OPTION_SAMPLE,
	OPTION_POINTS,
	OPTION_STORE
};

/* Maximum number of analysed runs: enough for a handful of branches, each behind another one. */
#define ROUNDS_OF_ASSERTIONS 20
/* Part of the time that the analysis leaves to solvers that react late to an interrupt. */
#define LATE_SOLVERS_PART 20

static const struct argp_option branches_options[] = {
	{.doc = "What to search for:", .group = 1},
	{"assertions", OPTION_ASSERTIONS, NULL, 0,
		"Only failures: assertions, null pointers, divisions by zero, indices out of bounds; --rounds 20 unless given",
		1},
	{"rounds", OPTION_ROUNDS, "N", 0,
		"Analyse up to N runs: the recorded one, then runs with a flipped branch (1)", 1},
	{"exclude", OPTION_EXCLUDE, "PATTERN", 0,
		"Leave out functions, files and libraries that match, such as log_*: their results keep the recorded values; may be repeated",
		1},
	{"points", OPTION_POINTS, "FROM..TO", 0,
		"Record and search only the scheduling points FROM to TO of the run, as the last line counts them; either may be omitted",
		1},
	{"store-buffers", OPTION_STORE_BUFFERS, NULL, 0,
		"Also make up to 100 runs with store buffers, as on x86 (TSO), and report branches that only these flip",
		1},
	{.doc = "How much is done:", .group = 2},
	{"query-time", OPTION_QUERY_TIME, "TIME", 0,
		"Time limit of one query to the solver, such as 500ms, 10s (10s)", 2},
	{"jobs", 'j', "N", 0, "Number of threads that query the solver (all usable processors)", 2},
	{"sample", OPTION_SAMPLE, "N", 0,
		"Also make N random runs, and report whether they show a branch that the solver missed",
		2},
	{"queries", OPTION_QUERIES, "N", 0,
		"Ask the solver about one place at most N times without an answer (200); 0: only walk the record",
		2},
	{"time", OPTION_TIME, "TIME", 0, "End after this time, such as 30s, 2m (5m)", 2},
	{"window", OPTION_WINDOW, "N", 0, "Examine N events of each thread together (400)", 2},
	{"part", OPTION_PART, "N", 0,
		"Keep about N events of the run in memory, and examine longer runs part by part (what 1 GB holds)",
		2},
	{"global-window", OPTION_GLOBAL, NULL, 0,
		"Examine events that were near each other in the run, instead of N events of each thread",
		2},
	{"save-record", OPTION_SAVE_RECORD, "FILE", 0, "Save the record of the first run in FILE",
		2},
	{"from-record", OPTION_FROM_RECORD, "FILE", 0,
		"Analyse the run that --save-record saved, instead of a new one", 2},
	{"continuations", OPTION_CONTINUATIONS, "N", 0,
		"Number of random runs from each flipped branch on, to see its consequences (20)",
		2},
	{.doc = "Environment of the program, and what counts as a failure:", .group = 3},
	{"stdin", OPTION_STDIN, "FILE", 0, "Every run reads FILE as its standard input", 3},
	{"tolerate", OPTION_TOLERATE, "KINDS", 0,
		"Kinds that are no failure, separated by commas: exit, abort, crash, ... as printed with a finding",
		3},
	{.doc = "Output and store:", .group = 4},
	{"quiet", 'q', NULL, 0, "Only branches", 4},
	{"store", OPTION_STORE, "DIR", 0, "Keep branches and failures in DIR/.raddle (.)", 4},
	{"json", OPTION_JSON, NULL, 0, "Everything, as JSON on standard output", 4},
	{0},
};

struct branches_arguments {
	struct branches_options options;
	const char **excludes; /* the texts belong to the command line */
	bool is_json;
	bool is_quiet;
};

static void cmd_branches_add_exclude(struct branches_arguments *arguments, const char *pattern)
{
	struct sensitivity_options *options = &arguments->options.sensitivity;

	ARRAY_APPEND(arguments->excludes, options->exclude_count, pattern);
	options->excludes = arguments->excludes;
}

/* Parses "100..2000", "100..", "..2000". */
static void cmd_branches_parse_points(
	const char *text, struct sensitivity_options *search, struct argp_state *state)
{
	const char *dots = strstr(text, "..");
	char *from = dots ? strndup(text, (size_t)(dots - text)) : NULL;

	if (!dots || (!*from && !dots[2]))
		argp_error(state,
			"--points takes two scheduling points, such as 100..2000, 100.. or ..2000");
	if (*from)
		search->points_from = option_number(state, "--points", from, 0, UINT64_C(1) << 40);
	if (dots[2])
		search->points_to =
			option_number(state, "--points", dots + 2, 1, UINT64_C(1) << 40);
	if (search->points_to && search->points_to < search->points_from)
		argp_error(state, "--points %s: the part ends before it begins", text);
	free(from);
}

static const struct option_value branches_values[] = {
	OPTION_FLAG(OPTION_ASSERTIONS, branches_arguments, options.sensitivity.only_failures),
	OPTION_NUMBER(OPTION_ROUNDS, branches_arguments, options.rounds, 1, 100000),
	OPTION_FLAG(OPTION_STORE_BUFFERS, branches_arguments, options.has_store_buffers),
	OPTION_TIME_SPAN(OPTION_QUERY_TIME, branches_arguments, options.sensitivity.query_ns),
	OPTION_NUMBER('j', branches_arguments, options.sensitivity.workers, 1, 256),
	OPTION_NUMBER(OPTION_SAMPLE, branches_arguments, options.samples, 1, 1000000),
	OPTION_NUMBER(OPTION_QUERIES, branches_arguments, options.sensitivity.queries_most, 0,
		1000000000),
	OPTION_TIME_SPAN(OPTION_TIME, branches_arguments, options.sensitivity.time_ns),
	OPTION_NUMBER(OPTION_WINDOW, branches_arguments, options.sensitivity.window, 10, 1000000),
	OPTION_NUMBER(
		OPTION_PART, branches_arguments, options.sensitivity.part, 100, UINT64_C(1) << 40),
	OPTION_FLAG(OPTION_GLOBAL, branches_arguments, options.sensitivity.is_global),
	OPTION_TEXT(OPTION_SAVE_RECORD, branches_arguments, options.save_record),
	OPTION_TEXT(OPTION_FROM_RECORD, branches_arguments, options.from_record),
	OPTION_NUMBER(OPTION_CONTINUATIONS, branches_arguments, options.continuations, 0, 1000000),
	OPTION_TEXT(OPTION_STORE, branches_arguments, options.campaign.directory),
	OPTION_FLAG(OPTION_JSON, branches_arguments, is_json),
	{0},
};

static error_t cmd_branches_parse_branches(int key, char *text, struct argp_state *state)
{
	struct branches_arguments *arguments = state->input;
	struct branches_options *options = &arguments->options;
	struct settings *settings = &options->campaign.settings;
	struct error err;

	switch (key) {
	case OPTION_EXCLUDE:
		cmd_branches_add_exclude(arguments, text);
		return 0;
	case OPTION_POINTS:
		cmd_branches_parse_points(text, &options->sensitivity, state);
		return 0;
	case 'q':
		arguments->is_quiet = true;
		terminal_hide_live();
		return 0;
	case OPTION_STDIN:
		settings->input = string_copy(text);
		return 0;
	case OPTION_TOLERATE:
		if (settings_parse_tolerated(text, &settings->tolerated, &err) < 0)
			argp_error(state, "%s", err.text);
		return 0;
	case ARGP_KEY_ARG:
		/* The program's name and everything after it belong to the program. */
		options->campaign.argv = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (!options->rounds)
			options->rounds =
				options->sensitivity.only_failures ? ROUNDS_OF_ASSERTIONS : 1;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program given; raddle branches -- PROGRAM [ARG...]");
		return 0;
	default:
		return option_store(branches_values, branches_options, key, text, state);
	}
}

static const struct argp branches_argp = {
	.options = branches_options,
	.parser = cmd_branches_parse_branches,
	.args_doc = "-- PROGRAM [ARG...]",
	.doc = "Records a run of PROGRAM, which raddle-cc has built, searches it for branches whose "
	       "outcome depends on the schedule, and runs the schedule that gives the other outcome. "
	       "Only branches that such a run has flipped are printed.\v"
	       "Exit status: 0 nothing was found, 1 a run flipped a branch, or failed before that, 2 "
	       "raddle could not work.",
};

static void cmd_branches_show_progress(void *context, const struct branches_progress *progress)
{
	(void)context;
	terminal_live("%u found; run %u of %u, part %llu of %llu, %llu queries", progress->found,
		progress->round, progress->rounds, (unsigned long long)progress->chunks,
		(unsigned long long)progress->chunk_count, (unsigned long long)progress->queries);
}

static void cmd_branches_say_next(
	const struct branches_arguments *arguments, const struct branches_result *result)
{
	const char *directory = arguments->options.campaign.directory;
	struct strbuf store = STRBUF_EMPTY;

	next_add_store(&store, *result->fallback ? result->fallback : directory);
	terminal_hint("both interleavings of each: raddle report C%lld%s --html > report.html\n",
		(long long)result->campaign, store.text);
	strbuf_release(&store);
}

/* Returns whether a branch changed its direction, or a run failed on the path to one. */
static bool cmd_branches_has_shown(const struct branches_result *result)
{
	return result->count || result->early_count;
}

/* Returns whether no query was made: such a result says nothing about the program. */
static bool cmd_branches_has_asked_nothing(const struct branches_result *result)
{
	return result->figures.unasked && result->figures.unasked >= result->figures.branches &&
	       !cmd_branches_has_shown(result) && !result->is_interrupted;
}

/* Fails because the command was stopped before it had analysed a run. */
static int cmd_branches_fail_stopped(const struct branches_arguments *arguments)
{
	const bool is_late = command_stop_reason() == STOP_TIME;

	return command_fail(
		"%s before a run of %s was analysed, so none of its branches were examined%s",
		is_late ? "the time was up" : "interrupted", arguments->options.campaign.argv[0],
		is_late ? "; give it more time (--time)" : "");
}

static int cmd_branches_work(const struct branches_arguments *arguments)
{
	struct branches_result result;
	struct error err;
	char *text;
	int status, stored = 0;

	status = branches_search(&arguments->options, &result, &err);
	terminal_clear_live();
	if (command_stop_reason() && status == 0 && !result.traces) {
		branches_result_release(&result);
		status = ERROR_INTERRUPTED;
	}
	if (command_stop_reason() && status == ERROR_INTERRUPTED)
		return cmd_branches_fail_stopped(arguments);
	if (status < 0)
		return command_fail("%s", err.text);
	text = branches_to_json(&result);
	if (result.count || result.early_count)
		stored = branches_store(&arguments->options, &result, text, &err);
	if (arguments->is_json)
		(void)printf("%s\n", text); /* main checks the stream */
	else
		branches_print(&result, arguments->options.campaign.directory, arguments->is_quiet);
	if (stored == 0 && cmd_branches_has_shown(&result))
		cmd_branches_say_next(arguments, &result);
	if (*result.fallback)
		(void)fprintf(stderr,
			"note: the store in %s refuses results; they are in %s/.raddle: free some space, and merge them from there with raddle merge\n",
			arguments->options.campaign.directory, result.fallback);
	free(text);
	status = cmd_branches_has_shown(&result) ? EXIT_FAILURE_FOUND : EXIT_NOTHING_FOUND;
	if (stored < 0) {
		const int failed = command_fail("%s", err.text);

		/* the results are already printed */
		status = cmd_branches_has_shown(&result) ? status : failed;
	} else if (cmd_branches_has_asked_nothing(&result))
		status = command_fail(
			"none of %llu branch events was examined, so there is no result; give it more time (--time), or more --queries",
			(unsigned long long)result.figures.branches);
	/* a solver thread still runs: freeing its data would be unsafe */
	if (result.has_left_thread && fflush(stdout) == 0 && !ferror(stdout))
		_exit(status);
	branches_result_release(&result);
	return status;
}

static int cmd_branches_run_command(int argc, char **argv)
{
	struct branches_arguments arguments = {
		.options = {.sensitivity = {.query_ns = UINT64_C(10000000000),
				    .window = 400,
				    .queries_most = 200,
				    .time_ns = UINT64_C(300000000000)},
			.continuations = 20}};
	struct branches_options *options = &arguments.options;
	char *runtime = NULL;
	struct error err;
	int status;

	campaign_options_init(&options->campaign);
	options->campaign.settings.stall_ns = 0;
	options->campaign.is_interrupted = command_interruption();
	options->sensitivity.workers = cores_available();
	options->progress = cmd_branches_show_progress;
	argp_parse(&branches_argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	/* Random runs for comparison have a time limit of their own. */
	if (!options->samples && options->sensitivity.time_ns) {
		const uint64_t until_ns = command_limit_time(options->sensitivity.time_ns);

		options->sensitivity.time_ns = until_ns - until_ns / LATE_SOLVERS_PART;
	}
	if (launch_find_runtime(&runtime, &err) < 0) {
		status = command_fail("%s", err.text);
	} else {
		options->campaign.runtime = runtime;
		status = cmd_branches_work(&arguments);
	}
	free(runtime);
	free(arguments.excludes);
	settings_release(&options->campaign.settings);
	return status;
}

const struct command command_branches = {
	.name = "branches",
	.summary = "find branches whose outcome depends on the schedule, and show both outcomes",
	.argp = &branches_argp,
	.run = cmd_branches_run_command,
};
