#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/command.h"
#include "cli/next_command.h"
#include "cli/terminal.h"
#include "cli/verdict.h"
#include "commands/run/run_arguments.h"
#include "commands/run/run_options.h"
#include "commands/test/test_explore.h"
#include "commands/test/test_junit.h"
#include "commands/test/test_listing.h"
#include "commands/test/test_print.h"
#include "process/launch.h"

/* Default time: this for each case, but as much as a campaign at least. */
#define CASE_NS UINT64_C(1000000000)
#define SUITE_LEAST_NS UINT64_C(60000000000)

enum {
	OPTION_LIST = 1024, /* above the options of raddle run */
	OPTION_LIST_COMMAND,
	OPTION_CASE_ARGS,
	OPTION_FRAMEWORK,
	OPTION_SINCE,
	OPTION_JUNIT
};

static const struct argp_option test_options[] = {
	{.doc = "What to explore:", .group = 1},
	{"list", OPTION_LIST, "FILE", 0, "The test cases are the lines of FILE", 1},
	{"list-command", OPTION_LIST_COMMAND, "CMD", 0,
		"The test cases are the lines that sh prints for CMD", 1},
	{"case-args", OPTION_CASE_ARGS, "TEMPLATE", 0,
		"Arguments that select a case, separated by blanks; {} is its name (those of the framework, or {})",
		1},
	{"framework", OPTION_FRAMEWORK, "NAME", 0,
		"googletest, catch2_v2, catch2, doctest, boost, check, criterion, cmocka or glib (that of the program)",
		1},
	{"time", OPTION_TIME, "TIME", 0,
		"End after this time, such as 30s, 10m; 0: no limit (1s for each case, at least 60s)",
		1},
	{"schedules", OPTION_SCHEDULES, "N", 0, "Execute N schedules of each case (no limit)", 1},
	{"jobs", 'j', "N", 0,
		"Number of workers that run schedules of a case in parallel (all cores)", 1},
	{"shard", OPTION_SHARD, "I/N", 0,
		"Explore only every N-th case, from case I on; other machines or jobs explore the others",
		1},
	{"resume", OPTION_RESUME, NULL, 0,
		"Continue after the results that the store has of this command", 1},
	{"since", OPTION_SINCE, "DIR", 0,
		"Skip the cases of which DIR/.raddle has a result with the same program and libraries",
		1},
#include "commands/run/strategy_options.def"
#include "commands/run/settings_options.def"
	{.doc = "Output and store:", .group = 5},
	{"json", OPTION_JSON, NULL, 0, "Results as JSON on standard output", 5},
	{"junit", OPTION_JUNIT, "FILE", 0, "Also write all cases to FILE as JUnit XML", 5},
	{"quiet", 'q', NULL, 0, "Only findings", 5},
	{"no-minimise", OPTION_NO_MINIMISE, NULL, 0, "Keep schedules as found", 5},
	{"store", OPTION_STORE, "DIR", 0, "Keep findings in DIR/.raddle (.)", 5},
	{0},
};

/* The first member is that of run_arguments_parse(). */
struct test_arguments {
	struct run_arguments run;
	struct test_listing listing;
	const char *since, *junit;
	bool has_time;
	uint32_t shard, shards;
};

struct test_command {
	const struct test_arguments *arguments;
	struct test_listing listing;
	struct test_suite suite;
	struct test_record record;
	struct test_explore explore;
	struct store *store;
	FILE *junit;
};

static error_t cmd_test_parse_test(int key, char *text, struct argp_state *state)
{
	struct test_arguments *arguments = state->input;

	switch (key) {
	case OPTION_LIST:
		arguments->listing.file = text;
		return 0;
	case OPTION_LIST_COMMAND:
		arguments->listing.command = text;
		return 0;
	case OPTION_CASE_ARGS:
		arguments->listing.arguments = text;
		return 0;
	case OPTION_FRAMEWORK:
		arguments->listing.framework = text;
		return 0;
	case OPTION_SINCE:
		arguments->since = text;
		return 0;
	case OPTION_JUNIT:
		arguments->junit = text;
		return 0;
	case OPTION_SHARD:
		run_arguments_parse_shard(state, text, &arguments->shard, &arguments->shards);
		return 0;
	case ARGP_KEY_ARG:
		/* The program's name and everything after it belong to the program. */
		arguments->listing.argv = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program given; raddle test -- PROGRAM [ARG...]");
		return 0;
	default:
		arguments->has_time |= key == OPTION_TIME;
		return run_arguments_parse(key, text, state, test_options);
	}
}

static const struct argp test_argp = {
	.options = test_options,
	.parser = cmd_test_parse_test,
	.args_doc = "-- PROGRAM [ARG...]",
	.doc = "Finds the test cases of PROGRAM, and explores schedules of each case until the time ends. A case "
	       "that creates no thread is run once. Failures are replayed, minimised and stored.\v"
	       "Exit status: 0 all cases ran and none failed, 1 a case failed, 2 raddle could not work, or could "
	       "not run all cases.",
};

/* Drops the cases of other shards. */
static void cmd_test_select_shard(struct test_suite *suite, uint32_t shard, uint32_t shards)
{
	struct test_suite part = {0}, rest = {0};

	if (!shards)
		return;
	for (uint32_t i = 0; i < suite->count; i++) {
		struct test_suite *to = i % shards + 1 == shard ? &part : &rest;

		ARRAY_APPEND(to->cases, to->count, suite->cases[i]);
	}
	free(suite->cases);
	free(suite->slots); /* no case is added later */
	test_suite_release(&rest);
	*suite = part;
}

static void cmd_test_save(void *context, int64_t campaign)
{
	struct test_command *command = context;
	struct error err;

	command->record.elapsed_ns = command->explore.elapsed_ns;
	command->record.is_interrupted = command->explore.is_interrupted;
	if (campaign && test_record_keep(&command->record, command->store, campaign, &err) < 0)
		(void)fprintf(stderr, "note: the result of the suite could not be stored (%s)\n",
			err.text);
}

/* Adds the results of earlier commands. */
static int cmd_test_load(struct test_command *command, struct error *err)
{
	const struct test_arguments *arguments = command->arguments;
	struct store *since;
	uint32_t count;
	int status = 0;

	if (arguments->since) {
		status = store_open(&since, arguments->since, STORE_READ, err);
		if (status == 0) {
			status = test_record_load(
				&command->record, since, arguments->since, &count, err);
			store_close(since);
		}
	}
	if (status < 0 || !arguments->run.options.resumes)
		return status;
	status = test_record_load(&command->record, command->store, NULL, &count, err);
	if (status == 0 && !count)
		return error_set(err, ERROR_NOTFOUND,
			"the store has no result of this command with the same program and libraries; leave --resume out");
	return status;
}

static void cmd_test_print_summary(const struct test_command *command)
{
	const struct test_suite *suite = &command->suite;
	uint32_t failed = 0, depends = 0, single = 0, unchanged = 0, broken = 0, unrun = 0;
	uint64_t runs = 0;
	const struct settings *settings = &command->explore.options->settings;
	char number[32];

	for (uint32_t i = 0; i < suite->count; i++) {
		const struct test_case *test = &suite->cases[i];

		failed += test->failures != 0;
		depends += test_case_depends_on_schedule(test);
		single += test->state == CASE_SINGLE;
		unchanged += test->state == CASE_UNCHANGED;
		broken += test->state == CASE_BROKEN;
		unrun += test->state == CASE_WAITING;
		runs += test->state == CASE_UNCHANGED ? 0 : test->runs;
	}
	(void)fprintf(stderr, "%u case%s, %s schedule%s%s in %.1f s; %u without threads",
		suite->count, suite->count == 1 ? "" : "s", terminal_number(runs, number),
		runs == 1 ? "" : "s",
		memory_model_phrase(command->explore.has_memory_sites ? settings->memory_model
								      : MEMORY_MODEL_SC),
		(double)command->explore.elapsed_ns / 1e9, single);
	if (unchanged)
		(void)fprintf(stderr, ", %u unchanged", unchanged);
	if (broken)
		(void)fprintf(stderr, ", %u could not be run", broken);
	if (unrun)
		(void)fprintf(stderr, ", %u not run before the time was up", unrun);
	(void)fprintf(stderr, "; %u failed, %u depending on the schedule; %u distinct finding%s\n",
		failed, depends, suite->finding_count, suite->finding_count == 1 ? "" : "s");
	if (command->explore.has_started)
		verdict_say_model_without_sites(settings->memory_model, settings->races.weak,
			command->explore.has_memory_sites);
}

static void cmd_test_print_next(const struct test_command *command)
{
	const struct test_arguments *arguments = command->arguments;
	const struct test_finding *first = command->suite.findings;
	static const int dropped[] = {OPTION_RESUME, OPTION_SINCE, 0};
	struct strbuf text = STRBUF_EMPTY;

	if (command->explore.is_interrupted) {
		next_add_given(&text, arguments->run.given, arguments->listing.argv, test_options,
			dropped);
		next_add_program(&text, arguments->listing.argv);
		(void)fprintf(
			stderr, "interrupted; to continue: raddle test --resume%s\n", text.text);
	} else if (command->suite.finding_count) {
		next_add_store(&text, first->fallback ? first->fallback : arguments->run.store);
		(void)fprintf(stderr, "next: raddle explain %s%s\n", first->id, text.text);
	}
	strbuf_release(&text);
}

/* A suite of which a case was not run has not passed. */
static int cmd_test_check_all_ran(const struct test_command *command)
{
	const struct test_suite *suite = &command->suite;
	const char *error = NULL;
	uint32_t missing = 0;

	for (uint32_t i = 0; i < suite->count; i++) {
		missing += !suite->cases[i].runs;
		if (suite->cases[i].error && !error)
			error = suite->cases[i].error;
	}
	if (!missing)
		return EXIT_NOTHING_FOUND;
	return command_fail("%u of %u cases of %s did not run: %s", missing, suite->count,
		command->arguments->listing.argv[0],
		error				  ? error
		: command->explore.is_interrupted ? "the command was interrupted"
						  : "the time was up; give it more time (--time)");
}

static int cmd_test_conclude(struct test_command *command)
{
	const struct test_arguments *arguments = command->arguments;
	const struct test_suite *suite = &command->suite;
	bool is_failed = suite->finding_count > 0;
	char *text;

	for (uint32_t i = 0; i < suite->count; i++)
		is_failed |= suite->cases[i].failures != 0;
	if (command->junit) {
		text = test_junit_make(&command->record, arguments->run.store);
		(void)fputs(text, command->junit); /* checked below */
		free(text);
		if (fflush(command->junit) != 0 || ferror(command->junit))
			return command_fail(
				"%s cannot be written; is the disk full?", arguments->junit);
	}
	if (arguments->run.is_json) {
		text = test_record_to_json(&command->record);
		(void)fputs(text, stdout); /* main checks the stream */
		free(text);
	} else {
		if (!arguments->run.is_quiet)
			test_print_table(suite);
		test_print_findings(suite, arguments->run.store);
	}
	(void)fflush(stdout); /* main checks the stream */
	if (!arguments->run.is_quiet) {
		(void)fputs(command->explore.notes.text, stderr);
		cmd_test_print_summary(command);
		cmd_test_print_next(command);
	}
	return is_failed ? EXIT_FAILURE_FOUND : cmd_test_check_all_ran(command);
}

static int cmd_test_explore(struct test_command *command, struct campaign_options *options)
{
	const struct test_arguments *arguments = command->arguments;
	const struct test_listing *listing = &command->listing;
	struct test_suite *suite = &command->suite;
	struct error err;
	int status;

	command->listing = arguments->listing;
	status = test_listing_read(&command->listing, suite, &err);
	if (status < 0)
		return command_fail("%s", err.text);
	cmd_test_select_shard(suite, arguments->shard, arguments->shards);
	if (!arguments->has_time)
		options->time_ns = suite->count * CASE_NS > SUITE_LEAST_NS ? suite->count * CASE_NS
									   : SUITE_LEAST_NS;
	command->record = (struct test_record){.suite = suite,
		.argv = listing->argv,
		.settings = &options->settings,
		.framework = listing->found ? listing->found->name : NULL};
	status = test_record_hash_program(listing->argv, &command->record.bytes, &err);
	if (status == 0)
		status = store_open(&command->store, options->directory, STORE_WRITE, &err);
	if (status == 0)
		status = cmd_test_load(command, &err);
	if (status < 0)
		return command_fail("%s", err.text);
	options->store = command->store;
	options->is_interrupted = command_interruption();
	command->explore = (struct test_explore){.suite = suite,
		.options = options,
		.none = listing->found ? listing->found->none : NULL,
		.is_quiet = arguments->run.is_quiet,
		.save = cmd_test_save,
		.context = command};
	strbuf_init(&command->explore.notes);
	if (listing->program.argv)
		strbuf_addf(&command->explore.notes,
			"note: %s is a script; the cases are those of %s\n",
			arguments->listing.argv[0], listing->argv[0]);
	if (listing->is_one_case && !listing->found)
		strbuf_addf(&command->explore.notes,
			"note: %s contains no test framework that raddle knows, and is explored as one case; to name its cases: --list FILE or --list-command CMD, and --case-args 'TEMPLATE {}'\n",
			listing->argv[0]);
	if (!suite->count)
		strbuf_adds(&command->explore.notes,
			"note: no case is left for this shard; the other shards have them all\n");
	if (listing->found && listing->found->limit)
		strbuf_addf(&command->explore.notes, "note: %s\n", listing->found->limit);
	test_explore_run(&command->explore);
	test_suite_rank(suite);
	status = cmd_test_conclude(command);
	strbuf_release(&command->explore.notes);
	return status;
}

/* Opens the files that are named relative to the folder of the command. */
static int cmd_test_open_files(
	struct test_arguments *arguments, struct test_command *command, char **list)
{
	*list = arguments->listing.file ? realpath(arguments->listing.file, NULL) : NULL;
	if (*list)
		arguments->listing.file = *list;
	command->junit = arguments->junit ? fopen(arguments->junit, "we") : NULL;
	if (arguments->junit && !command->junit)
		return command_fail("%s cannot be written (%s); give another file to --junit",
			arguments->junit, strerror(errno));
	return 0;
}

static int cmd_test_run_test(int argc, char **argv)
{
	struct test_arguments arguments = {0};
	struct test_command command = {.arguments = &arguments};
	struct campaign_options *options = &arguments.run.options;
	struct suppressions suppressions = {0};
	struct error err = {0};
	char *runtime = NULL, *list = NULL;
	int status;

	campaign_options_init(options);
	arguments.run.given = argv + 1;
	options->workers = 0; /* all cores */
	argp_parse(&test_argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	status = cmd_test_open_files(&arguments, &command, &list);
	if (status == 0 && (run_arguments_settle(&arguments.run, &suppressions, &err) < 0 ||
				   run_place_enter(&arguments.run.place, options, &err) < 0 ||
				   launch_find_runtime(&runtime, &err) < 0))
		status = command_fail("%s", err.text);
	options->runtime = runtime;
	if (status == 0)
		status = cmd_test_explore(&command, options);
	store_close(command.store);
	if (command.junit)
		(void)fclose(command.junit); /* flushed above */
	test_suite_release(&command.suite);
	test_listing_release(&command.listing);
	suppressions_release(&suppressions);
	settings_release(&options->settings);
	run_place_release(&arguments.run.place);
	free(runtime);
	free(list);
	return status;
}

const struct command command_test = {
	.name = "test",
	.summary = "explore the test cases of a program one by one",
	.argp = &test_argp,
	.run = cmd_test_run_test,
};
