#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "campaign/branches.h"
#include "campaign/launch.h"
#include "cli/branches_result.h"
#include "cli/command.h"
#include "cli/number.h"
#include "cli/terminal.h"

enum {
	OPTION_QUERY_TIME = 256,
	OPTION_STDIN,
	OPTION_TOLERATE,
	OPTION_ASSERTIONS,
	OPTION_RECORD_SIZE,
	OPTION_CONTINUATIONS,
	OPTION_JSON,
	OPTION_WINDOW,
	OPTION_GLOBAL,
	OPTION_QUERIES,
	OPTION_TIME
};

static const struct argp_option branches_options[] = {
	{.doc = "What is searched for:", .group = 1},
	{"assertions", OPTION_ASSERTIONS, NULL, 0,
		"Only what fails: assertions, null pointers, divisions by zero", 1},
	{.doc = "How much is done:", .group = 2},
	{"query-time", OPTION_QUERY_TIME, "TIME", 0,
		"Time for one question to the solver, such as 500ms, 10s (10s)", 2},
	{"queries", OPTION_QUERIES, "N", 0,
		"Ask about one place at most N times without an answer (200)", 2},
	{"time", OPTION_TIME, "TIME", 0, "Ask no more after this time, such as 30s, 2m (5m)", 2},
	{"window", OPTION_WINDOW, "N", 0, "Look at N events of each thread together (400)", 2},
	{"global-window", OPTION_GLOBAL, NULL, 0,
		"Look at events that were near each other in the run, instead", 2},
	{"record-size", OPTION_RECORD_SIZE, "MB", 0, "The record of a run may be so long (4096)",
		2},
	{"continuations", OPTION_CONTINUATIONS, "N", 0,
		"Random runs from each branch on, to see what comes of its going the other way (20)",
		2},
	{.doc = "What the program meets, and what counts as a failure:", .group = 3},
	{"stdin", OPTION_STDIN, "FILE", 0, "Every run reads FILE as its standard input", 3},
	{"tolerate", OPTION_TOLERATE, "KIND[,KIND...]", 0,
		"Not these: exit, abort, crash, ... as printed with a finding", 3},
	{.doc = "What is said:", .group = 4},
	{"quiet", 'q', NULL, 0, "Only branches", 4},
	{"json", OPTION_JSON, NULL, 0, "Everything, as JSON on standard output", 4},
	{0},
};

struct branches_arguments {
	struct branches_options options;
	bool is_json;
	bool is_quiet;
};

static error_t parse_branches(int key, char *text, struct argp_state *state)
{
	struct branches_arguments *arguments = state->input;
	struct branches_options *options = &arguments->options;
	struct settings *settings = &options->campaign.settings;
	struct error err;
	uint64_t number = 0;

	switch (key) {
	case OPTION_ASSERTIONS:
		options->sensitivity.only_failures = true;
		return 0;
	case OPTION_QUERY_TIME:
		if (!duration_parse(text, &options->sensitivity.query_ns))
			argp_error(state,
				"--query-time wants a time such as 500ms, 10s or 2m, not %s", text);
		return 0;
	case OPTION_WINDOW:
		if (!number_parse(text, 10, 1000000, &number))
			argp_error(state, "--window wants a whole number from 10 on, not %s", text);
		options->sensitivity.window = (uint32_t)number;
		return 0;
	case OPTION_QUERIES:
		if (!number_parse(text, 1, 1000000000, &number))
			argp_error(state, "--queries wants a whole number, not %s", text);
		options->sensitivity.queries_most = (uint32_t)number;
		return 0;
	case OPTION_TIME:
		if (!duration_parse(text, &options->sensitivity.time_ns))
			argp_error(state, "--time wants a time such as 500ms, 30s or 2m, not %s",
				text);
		return 0;
	case OPTION_GLOBAL:
		options->sensitivity.is_global = true;
		return 0;
	case OPTION_RECORD_SIZE:
		if (!number_parse(text, 1, UINT64_C(1) << 20, &number))
			argp_error(state, "--record-size wants megabytes, not %s", text);
		options->record_bytes = number << 20;
		return 0;
	case OPTION_CONTINUATIONS:
		if (!number_parse(text, 0, 1000000, &number))
			argp_error(state, "--continuations wants a whole number, not %s", text);
		options->continuations = (uint32_t)number;
		return 0;
	case OPTION_JSON:
		arguments->is_json = true;
		return 0;
	case 'q':
		arguments->is_quiet = true;
		terminal_be_quiet();
		return 0;
	case OPTION_STDIN:
		settings->input = strdup(text);
		BUG_ON(!settings->input);
		return 0;
	case OPTION_TOLERATE:
		if (settings_parse_tolerated(text, &settings->tolerated, &err) < 0)
			argp_error(state, "%s", err.text);
		return 0;
	case ARGP_KEY_ARG:
		/* Everything from the program's name on is the program's. */
		options->campaign.argv = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program given; raddle branches -- PROGRAM [ARG...]");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp branches_argp = {
	.options = branches_options,
	.parser = parse_branches,
	.args_doc = "-- PROGRAM [ARG...]",
	.doc = "Records a run of PROGRAM, which raddle-cc has built, searches it for branches whose "
	       "outcome depends on the schedule, and runs the schedule that gives the other outcome. "
	       "Only what such a run has shown is told.\v"
	       "Exit status: 0 nothing was found, 1 a branch was seen to go either way, 2 raddle could "
	       "not work.",
};

/* ---- what is told ---- */

const char *const sensitive_kind_words[SENSITIVE_KIND_COUNT] = {
	[SENSITIVE_BRANCH] = "branch",
	[SENSITIVE_SWITCH] = "switch",
	[SENSITIVE_CHOICE] = "choice",
	[SENSITIVE_ASSERTION] = "assertion",
	[SENSITIVE_NULL] = "null pointer",
	[SENSITIVE_DIVISOR] = "division by zero",
};

/* The line of the source, where the file is there. */
static void print_line(const struct sensitive_branch *branch)
{
	FILE *file = fopen(branch->path, "r");
	char text[512];

	for (uint32_t line = 1; file && fgets(text, sizeof text, file); line++) {
		if (line != branch->line)
			continue;
		printf("    %.*s\n", (int)strcspn(text + strspn(text, " \t"), "\n"),
			text + strspn(text, " \t"));
		break;
	}
	if (file)
		(void)fclose(file); /* only read */
}

static void print_outcomes(const struct sensitive_branch *branch)
{
	if (branch->kind == SENSITIVE_BRANCH || branch->kind == SENSITIVE_CHOICE ||
		branch->kind == SENSITIVE_ASSERTION)
		printf("    %s in the recorded run, %s under the schedule below\n",
			branch->was_taken ? "true" : "false", branch->was_taken ? "false" : "true");
	else
		printf("    another outcome under the schedule below\n");
}

static void print_class(const struct sensitive_branch *branch)
{
	printf("    %s", branch_class_words[branch->class]);
	if (branch->class == CLASS_BUG)
		printf(": the run that goes on %s ends as %s",
			branch->failing_seed ? "at random" : "without preemptions",
			outcome_descriptions[branch->outcome.kind].word);
	else
		printf(": %u random runs from there on passed", branch->continuations);
	fputc('\n', stdout);
}

static void print_branch(const struct sensitive_branch *branch)
{
	printf("%s: %s:%u in %s (%s)\n", sensitive_kind_words[branch->kind], branch->file,
		branch->line, branch->function, branch->thread);
	print_line(branch);
	if (*branch->variables)
		printf("    depends on %s\n", branch->variables);
	print_outcomes(branch);
	printf("    schedule: %s\n", branch->schedule);
	print_class(branch);
	fputc('\n', stdout);
}

static void print_end(const struct branches_result *result)
{
	const struct sensitivity_figures *figures = &result->figures;

	printf("%u sensitive %s; %llu branch events, %llu events of %u threads, %llu instructions\n",
		result->count, result->count == 1 ? "branch" : "branches",
		(unsigned long long)figures->branches, (unsigned long long)figures->critical_events,
		figures->threads, (unsigned long long)figures->instructions);
	if (!figures->shared_words)
		printf("no memory that one thread writes is accessed by another, so no branch can "
		       "depend on the schedule\n");
	if (result->unproven_count)
		printf("%u solutions were not shown by a run, by a defect of raddle's model:\n",
			result->unproven_count);
	for (uint32_t i = 0; i < result->unproven_count; i++)
		printf("    %s\n", result->unproven[i]);
	if (figures->is_model_wrong)
		printf("the recorded run contradicts raddle's own model: a defect of raddle\n");
	if (figures->timeouts)
		printf("%llu questions were too hard for the solver; give it longer (--query-time)\n",
			(unsigned long long)figures->timeouts);
	if (figures->unasked)
		printf("%llu branch events were not asked about, to keep to --queries and --time\n",
			(unsigned long long)figures->unasked);
	if (figures->unfinished_threads)
		printf("%u of %u threads were followed in part only: %s\n",
			figures->unfinished_threads, figures->threads, figures->unfinished);
	if (result->is_partial)
		printf("the record is full: only the beginning of the run was looked at; raise "
		       "--record-size\n");
}

static void on_progress(uint64_t answers, uint32_t found)
{
	terminal_live("searching: %llu answers of the solver tried, %u branches shown",
		(unsigned long long)answers, found);
}

static int work(const struct branches_arguments *arguments)
{
	struct branches_result result;
	struct error err;
	int status;

	status = branches_search(&arguments->options, &result, &err);
	terminal_clear_live();
	if (status < 0)
		return command_fail("%s", err.text);
	if (arguments->is_json) {
		branches_print_json(&result);
	} else {
		for (uint32_t i = 0; i < result.count; i++)
			print_branch(&result.items[i]);
		if (!arguments->is_quiet)
			print_end(&result);
	}
	status = result.count ? EXIT_FAILURE_FOUND : EXIT_NOTHING_FOUND;
	branches_result_release(&result);
	return status;
}

static int branches_run_command(int argc, char **argv)
{
	struct branches_arguments arguments = {
		.options = {.sensitivity = {.query_ns = UINT64_C(10000000000),
				    .window = 400,
				    .queries_most = 200,
				    .time_ns = UINT64_C(300000000000)},
			.continuations = 20,
			.progress = on_progress}};
	struct branches_options *options = &arguments.options;
	char *runtime = NULL;
	struct error err;
	int status;

	campaign_options_init(&options->campaign);
	options->campaign.is_interrupted = command_interruption();
	argp_parse(&branches_argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	if (launch_find_runtime(&runtime, &err) < 0) {
		status = command_fail("%s", err.text);
	} else {
		options->campaign.runtime = runtime;
		status = work(&arguments);
	}
	free(runtime);
	settings_release(&options->campaign.settings);
	return status;
}

const struct command command_branches = {
	.name = "branches",
	.summary = "find branches whose outcome depends on the schedule, and show both outcomes",
	.argp = &branches_argp,
	.run = branches_run_command,
};
