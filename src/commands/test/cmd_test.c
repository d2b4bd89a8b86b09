#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/next_command.h"
#include "cli/verdict.h"
#include "commands/run/run_arguments.h"
#include "commands/run/run_options.h"
#include "commands/test/test_explore.h"
#include "commands/test/test_junit.h"
#include "commands/test/suite/test_listing.h"
#include "commands/test/test_print.h"
#include "process/launch.h"

/* Default time: this for each case, but as much as a campaign at least. */
#define CASE_NS UINT64_C(1000000000)
#define SUITE_LEAST_NS UINT64_C(60000000000)
#define TIME_NOT_GIVEN UINT64_MAX
/* The meaning of this status to automake and Meson; CTest's SKIP_RETURN_CODE is often the same. */
#define SKIP_STATUS 77

/* The first member is that of run_options.h. */
struct test_arguments {
	struct run_arguments run;
	struct test_listing listing;
	const char *since, *junit;
};

static const struct command_option test_options[] = {
	OPTION_HEADING("What to explore:"),
	{"list", 0, "FILE", "The test cases are the lines of FILE",
		OPTION_OF(TEXT, test_arguments, listing.file)},
	{"list-command", 0, "CMD", "The test cases are the lines that sh prints for CMD",
		OPTION_OF(TEXT, test_arguments, listing.command)},
	{"case-args", 0, "TEMPLATE",
		"Arguments that select a case, separated by blanks; {} is its name (those of the framework, or {})",
		OPTION_OF(TEXT, test_arguments, listing.arguments)},
	{"framework", 0, "NAME",
		"googletest, catch2_v2, catch2, doctest, boost, check, criterion, cmocka, glib or acutest (that of the program)",
		OPTION_OF(TEXT, test_arguments, listing.framework)},
	{"time", 0, "TIME",
		"End after this time, such as 30s, 10m; 0: no limit (1s for each case, at least 60s)",
		OPTION_OF(LIMIT, run_arguments, options.time_ns)},
	{"schedules", 0, "N", "Execute N schedules of each case (no limit)",
		OPTION_NUMBER(run_arguments, options.schedules, 1, UINT64_MAX / 2)},
	{"jobs", 'j', "N", "Number of workers that run schedules of a case in parallel (all cores)",
		OPTION_NUMBER(run_arguments, options.workers, 1, 128)},
	{"shard", 0, "I/N",
		"Explore only every N-th case, from case I on; other machines or jobs explore the others",
		OPTION_READ(run_arguments, shard, run_options_read_shard)},
	{"resume", 0, NULL, "Continue after the results that the store has of this command",
		OPTION_OF(FLAG, run_arguments, options.resumes)},
	{"since", 0, "DIR",
		"Skip the cases of which DIR/.raddle has a result with the same program and libraries",
		OPTION_OF(TEXT, test_arguments, since)},
#include "commands/run/strategy_options.def"
#include "commands/run/settings_options.def"
	OPTION_HEADING("Output and store:"),
	{"json", 0, NULL, "Results as JSON on standard output",
		OPTION_OF(FLAG, run_arguments, is_json)},
	{"junit", 0, "FILE", "Also write all cases to FILE as JUnit XML",
		OPTION_OF(TEXT, test_arguments, junit)},
	{"quiet", 'q', NULL, "Only findings", OPTION_OF(FLAG, run_arguments, is_quiet)},
	{"no-minimise", 0, NULL, "Keep schedules as found",
		OPTION_OF(FLAG, run_arguments, options.without_minimising)},
	{"store", 0, "DIR", "Keep findings in DIR/.raddle (.)",
		OPTION_OF(TEXT, run_arguments, store)},
	{0},
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

/* Drops the cases of other shards. */
static void cmd_test_select_shard(struct test_suite *suite, struct run_shard shard)
{
	struct test_suite part = {0}, rest = {0};

	if (!shard.count)
		return;
	for (uint32_t i = 0; i < suite->count; i++) {
		struct test_suite *to = i % shard.count + 1 == shard.index ? &part : &rest;

		ARRAY_APPEND(to->cases, to->count, suite->cases[i]);
	}
	part.total = part.count;
	rest.total = rest.count;
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
	uint32_t failed = 0, depends = 0, single = 0, unchanged = 0, broken = 0, unrun = 0,
		 skipped = 0;
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
		skipped += test->state == CASE_SKIPPED;
		unrun += test->state == CASE_WAITING;
		runs += test->state == CASE_UNCHANGED ? 0 : test->runs;
	}
	(void)fprintf(stderr, "%u case%s, %s schedule%s%s in %.1f s; %u without threads",
		suite->count, suite->count == 1 ? "" : "s", text_grouped(runs, number),
		runs == 1 ? "" : "s",
		memory_model_phrase(command->explore.has_memory_sites ? settings->memory_model
								      : MEMORY_MODEL_SC),
		(double)command->explore.elapsed_ns / 1e9, single);
	if (unchanged)
		(void)fprintf(stderr, ", %u unchanged", unchanged);
	if (skipped)
		(void)fprintf(stderr, ", %u skipped", skipped);
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
	static const char *const dropped[] = {"resume", "since", NULL};
	STRBUF_SCOPED text = STRBUF_EMPTY;

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
	cmd_test_select_shard(suite, arguments->run.shard);
	if (options->time_ns == TIME_NOT_GIVEN)
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
	FREE_SCOPED char *runtime = NULL;
	FREE_SCOPED char *list = NULL;
	int status;

	campaign_options_init(options);
	arguments.run.given = argv + 1;
	options->workers = 0; /* all cores */
	options->time_ns = TIME_NOT_GIVEN;
	options->settings.skip_status = SKIP_STATUS;
	options->tries_real_clocks = true;
	options_parse(&command_test, argc, argv, &arguments);
	arguments.listing.argv = arguments.run.program;
	status = cmd_test_open_files(&arguments, &command, &list);
	if (status == 0 && (run_arguments_settle(&arguments.run, &suppressions, &err) < 0 ||
				   run_folder_enter(&arguments.run.folder, options, &err) < 0 ||
				   launch_find_runtime(&runtime, &err) < 0))
		status = command_fail("%s", err.text);
	options->runtime = runtime;
	if (status == 0)
		status = cmd_test_explore(&command, options);
	store_close(command.store);
	if (command.junit)
		(void)fclose(command.junit); /* flushed above */
	test_suite_release(&command.suite);
	follow_script_release(&command.listing.program);
	suppressions_release(&suppressions);
	settings_release(&options->settings);
	run_folder_release(&arguments.run.folder);
	return status;
}

const struct command command_test = {
	.name = "test",
	.summary = "explore the test cases of a program one by one",
	.doc = "Finds the test cases of PROGRAM, and explores schedules of each case until the time ends. A case "
	       "that creates no thread is run once. Failures are replayed, minimised and stored.\v"
	       "Exit status: 0 all cases ran and none failed, 1 a case failed, 2 raddle could not work, or could "
	       "not run all cases.",
	.usage = "-- PROGRAM [ARG...]",
	.options = test_options,
	.operands = {OPERANDS_PROGRAM, offsetof(struct test_arguments, run.program),
		"no program given; raddle test -- PROGRAM [ARG...]"},
	.run = cmd_test_run_test,
};
