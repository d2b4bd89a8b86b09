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
#include "cli/terminal.h"

/* Maximum number of analysed runs: enough for a handful of branches, each behind another one. */
#define ROUNDS_OF_ASSERTIONS 20
/* Part of the time that the analysis leaves to solvers that react late to an interrupt. */
#define LATE_SOLVERS_PART 20
#define POINTS_MOST (UINT64_C(1) << 40)

struct branches_arguments {
	struct branches_options options;
	bool is_json;
	bool is_quiet;
};

static int cmd_branches_read_exclude(const char *pattern, void *search, struct error *err)
{
	struct sensitivity_options *to = search;

	(void)err; /* every pattern is valid */
	ARRAY_APPEND(to->excludes, to->exclude_count, pattern);
	return 0;
}

/* Reads "100..2000", "100..", "..2000". */
static int cmd_branches_read_points(const char *text, void *search, struct error *err)
{
	struct sensitivity_options *to = search;
	const char *dots = strstr(text, "..");
	FREE_SCOPED char *from = dots ? string_copy_part(text, (size_t)(dots - text)) : NULL;
	bool is_valid = dots && (*from || dots[2]);

	if (is_valid && *from)
		is_valid = number_parse(from, 0, POINTS_MOST, &to->points_from);
	if (is_valid && dots[2])
		is_valid = number_parse(dots + 2, 1, POINTS_MOST, &to->points_to);
	if (!is_valid)
		return error_set(err, ERROR_USAGE,
			"--points takes two scheduling points, such as 100..2000, 100.. or ..2000, not %s",
			text);
	if (to->points_to && to->points_to < to->points_from)
		return error_set(
			err, ERROR_USAGE, "--points %s: the part ends before it begins", text);
	return 0;
}

static const struct command_option branches_options[] = {
	OPTION_HEADING("What to search for:"),
	{"assertions", 0, NULL,
		"Only failures: assertions, null pointers, divisions by zero, indices out of bounds; --rounds 20 unless given",
		OPTION_OF(FLAG, branches_arguments, options.sensitivity.only_failures)},
	{"rounds", 0, "N",
		"Analyse up to N runs: the recorded one, then runs with a flipped branch (1)",
		OPTION_NUMBER(branches_arguments, options.rounds, 1, 100000)},
	{"exclude", 0, "PATTERN",
		"Leave out functions, files and libraries that match, such as log_*: their results keep the recorded values; may be repeated",
		OPTION_READ(branches_arguments, options.sensitivity, cmd_branches_read_exclude)},
	{"points", 0, "FROM..TO",
		"Record and search only the scheduling points FROM to TO of the run, as the last line counts them; either may be omitted",
		OPTION_READ(branches_arguments, options.sensitivity, cmd_branches_read_points)},
	{"store-buffers", 0, NULL,
		"Also make up to 100 runs with store buffers, as on x86 (TSO), and report branches that only these flip",
		OPTION_OF(FLAG, branches_arguments, options.has_store_buffers)},
	OPTION_HEADING("How much is done:"),
	{"query-time", 0, "TIME", "Time limit of one query to the solver, such as 500ms, 10s (10s)",
		OPTION_OF(TIME, branches_arguments, options.sensitivity.query_ns)},
	{"jobs", 'j', "N", "Number of threads that query the solver (all usable processors)",
		OPTION_NUMBER(branches_arguments, options.sensitivity.workers, 1, 256)},
	{"sample", 0, "N",
		"Also make N random runs, and report whether they show a branch that the solver missed",
		OPTION_NUMBER(branches_arguments, options.samples, 1, 1000000)},
	{"queries", 0, "N",
		"Ask the solver about one location at most N times without an answer (200); 0: only walk the record",
		OPTION_NUMBER(branches_arguments, options.sensitivity.queries_most, 0, 1000000000)},
	{"time", 0, "TIME", "End after this time, such as 30s, 2m (5m)",
		OPTION_OF(TIME, branches_arguments, options.sensitivity.time_ns)},
	{"window", 0, "N", "Examine N events of each thread together (400)",
		OPTION_NUMBER(branches_arguments, options.sensitivity.window, 10, 1000000)},
	{"part", 0, "N",
		"Keep about N events of the run in memory, and examine longer runs part by part (what 1 GB holds)",
		OPTION_NUMBER(
			branches_arguments, options.sensitivity.part, 100, UINT64_C(1) << 40)},
	{"global-window", 0, NULL,
		"Examine events that were near each other in the run, instead of N events of each thread",
		OPTION_OF(FLAG, branches_arguments, options.sensitivity.is_global)},
	{"save-record", 0, "FILE", "Save the record of the first run in FILE",
		OPTION_OF(TEXT, branches_arguments, options.save_record)},
	{"from-record", 0, "FILE", "Analyse the run that --save-record saved, instead of a new one",
		OPTION_OF(TEXT, branches_arguments, options.from_record)},
	{"continuations", 0, "N",
		"Number of random runs from each flipped branch on, to see its consequences (20)",
		OPTION_NUMBER(branches_arguments, options.continuations, 0, 1000000)},
	OPTION_HEADING("Environment of the program, and what counts as a failure:"),
	{"stdin", 0, "FILE", "Every run reads FILE as its standard input",
		OPTION_OF(COPY, branches_arguments, options.campaign.settings.input)},
	{"tolerate", 0, "KINDS",
		"Kinds that are no failure, separated by commas: exit, abort, crash, ... as printed with a finding",
		OPTION_READ(branches_arguments, options.campaign.settings, option_read_tolerated)},
	OPTION_HEADING("Output and store:"),
	{"quiet", 'q', NULL, "Only branches", OPTION_OF(QUIET, branches_arguments, is_quiet)},
	{"store", 0, "DIR", "Keep branches and failures in DIR/.raddle (.)",
		OPTION_OF(TEXT, branches_arguments, options.campaign.directory)},
	{"json", 0, NULL, "Everything, as JSON on standard output",
		OPTION_OF(FLAG, branches_arguments, is_json)},
	{0},
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
	STRBUF_SCOPED store = STRBUF_EMPTY;

	next_add_store(&store, *result->fallback ? result->fallback : directory);
	terminal_hint("both interleavings of each: raddle report C%lld%s --html > report.html\n",
		(long long)result->campaign, store.text);
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
		stored = branches_store(&arguments->options.campaign, &result, NULL, text, &err);
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
	FREE_SCOPED char *runtime = NULL;
	struct error err;
	int status;

	campaign_options_init(&options->campaign);
	options->campaign.settings.stall_ns = 0;
	options->campaign.settings.repeats_waits = true; /* a loop's condition is a branch, too */
	options->campaign.is_interrupted = command_interruption();
	options->sensitivity.workers = cores_available();
	options->progress = cmd_branches_show_progress;
	options_parse(&command_branches, argc, argv, &arguments);
	if (!options->rounds)
		options->rounds = options->sensitivity.only_failures ? ROUNDS_OF_ASSERTIONS : 1;
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
	free(options->sensitivity.excludes);
	settings_release(&options->campaign.settings);
	return status;
}

const struct command command_branches = {
	.name = "branches",
	.summary = "find branches whose outcome depends on the schedule, and show both outcomes",
	.doc = "Records a run of PROGRAM, which raddle-cc has built, searches it for branches whose "
	       "outcome depends on the schedule, and runs the schedule that gives the other outcome. "
	       "Only branches that such a run has flipped are printed.\v"
	       "Exit status: 0 nothing was found, 1 a run flipped a branch, or failed before that, 2 "
	       "raddle could not work.",
	.usage = "-- PROGRAM [ARG...]",
	.options = branches_options,
	.operands = {OPERANDS_PROGRAM, offsetof(struct branches_arguments, options.campaign.argv),
		"no program given; raddle branches -- PROGRAM [ARG...]"},
	.run = cmd_branches_run_command,
};
