#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "process/launch.h"
#include "commands/predict/predict.h"
#include "store/store.h"
#include "plan/strategy_option.h"
#include "cli/command.h"
#include "commands/predict/predict_result.h"
#include "commands/predict/predict_work.h"
#include "platform/platform.h"

/* Default numbers of runs: lock orders hardly vary between runs, written values do. */
/* Naming locations starts the program once more; at most this part of a short budget. */
#define NAMING_NS UINT64_C(150000000)
#define NAMING_PART 10

#define RUNS 5
#define RUNS_WITH_MEMORY 20
/* Fractions of the time budget for recording, and for each candidate. */
#define RECORDING_PART 2
#define CANDIDATE_PART 5

struct predict_arguments {
	struct predict_options options;
	const char *strategy;
	uint64_t candidates; /* limit on the driven candidates */
	enum predict_method method;
	const char *atomic_sets;
	bool has_library_sets;
	bool wants_deadlocks, wants_atomicity, wants_races;
	bool is_everything; /* predict everything that the program allows */
	bool shows_sets;
	bool is_json;
	bool is_quiet;
};

static const struct command_option predict_options[] = {
	OPTION_HEADING("What to predict:"),
	{"deadlocks", 0, NULL, "Deadlocks: threads acquire locks in orders that form a cycle",
		OPTION_OF(FLAG, predict_arguments, wants_deadlocks)},
	{"atomicity", 0, NULL,
		"Atomicity violations: values that must agree are read, or left, while they do not (programs built by raddle-cc)",
		OPTION_OF(FLAG, predict_arguments, wants_atomicity)},
	{"races", 0, NULL,
		"Accesses to the same memory that neither locks nor waits order (programs built by raddle-cc)",
		OPTION_OF(FLAG, predict_arguments, wants_races)},
	{"method", 0, "predict|monitor|race|atomicity",
		"How --atomicity searches; for comparison: monitor (watch random runs), race (drive the accesses of races together), atomicity (acquire a lock between two acquisitions in one critical section)",
		OPTION_OF(CHOICE, predict_arguments, method)},
	{"show-sets", 0, NULL,
		"Only print the inferred atomic sets and the functions that work on them",
		OPTION_OF(FLAG, predict_arguments, shows_sets)},
	{"atomic-sets", 0, "FILE",
		"Annotations that correct the inferred atomic sets, in the words of raddle.h, one a line",
		OPTION_OF(TEXT, predict_arguments, atomic_sets)},
	{"library-sets", 0, NULL,
		"Also infer atomic sets of the C++ library's own types, such as std::_Stop_state_t",
		OPTION_OF(FLAG, predict_arguments, has_library_sets)},
	OPTION_HEADING("How much is done:"),
	{"runs", 0, "N", "Record N runs that pass, at most 100 (20; 5 with --deadlocks alone)",
		OPTION_NUMBER(predict_arguments, options.runs, 1, PREDICT_RUNS_MAX)},
	{"attempts", 0, "N", "Drive each candidate in up to N runs (50)",
		OPTION_NUMBER(predict_arguments, options.attempts, 1, 1000000)},
	{"candidates", 0, "N", "Drive at most N candidates (100)",
		OPTION_NUMBER(predict_arguments, candidates, 0, 1000000)},
	{"all-attempts", 0, NULL,
		"Make all attempts, even if the result of a candidate is already clear",
		OPTION_OF(FLAG, predict_arguments, options.makes_all_attempts)},
	{"time", 0, "TIME",
		"End after this time, such as 30s, 2m (5m); recording takes at most half of it, each candidate a fifth",
		OPTION_OF(TIME, predict_arguments, options.campaign.time_ns)},
	{"strategy", 's', "NAME[,OPTION=N...]",
		"Strategy that chooses the next thread in recorded runs (pct and random; random with --deadlocks alone)",
		OPTION_OF(TEXT, predict_arguments, strategy)},
	{"seed", 0, "N", "Seed of the random numbers; the same seed gives the same runs (1)",
		OPTION_NUMBER(predict_arguments, options.campaign.seed, 0, UINT64_MAX)},
	{"jobs", 'j', "N",
		"Number of recorded runs, and of driven candidates, in parallel; the result does not depend on it (all cores)",
		OPTION_NUMBER(predict_arguments, options.campaign.workers, 1, 128)},
	OPTION_HEADING("Environment of the program, and what counts as a failure:"),
	{"memory-model", 0, "sc|tso|c11",
		"Drive candidates in runs with this memory model; recorded runs are sequentially consistent (sc)",
		OPTION_OF(CHOICE, predict_arguments, options.memory_model)},
	{"stdin", 0, "FILE", "Every run reads FILE as its standard input",
		OPTION_OF(COPY, predict_arguments, options.campaign.settings.input)},
	{"tolerate", 0, "KINDS",
		"Kinds that are no failure, separated by commas: exit, abort, crash, ... as printed with a finding",
		OPTION_READ(predict_arguments, options.campaign.settings, option_read_tolerated)},
	{"max-steps", 0, "N", "End a run after N operations (10000000)",
		OPTION_NUMBER(predict_arguments, options.campaign.settings.step_limit, 1,
			UINT64_MAX / 2)},
	OPTION_HEADING("Output and store:"),
	{"json", 0, NULL, "Everything, as JSON on standard output",
		OPTION_OF(FLAG, predict_arguments, is_json)},
	{"quiet", 'q', NULL, "Only findings and candidates",
		OPTION_OF(FLAG, predict_arguments, is_quiet)},
	{"no-minimise", 0, NULL, "Keep schedules as found",
		OPTION_OF(FLAG, predict_arguments, options.campaign.without_minimising)},
	{"store", 0, "DIR", "Keep findings in DIR/.raddle (.)",
		OPTION_OF(TEXT, predict_arguments, options.campaign.directory)},
	{0},
};

/* If the user selects nothing, everything is predicted. */
static void cmd_predict_settle(struct predict_arguments *arguments)
{
	struct campaign_options *campaign = &arguments->options.campaign;

	campaign->settings.random_seed = campaign->seed;
	arguments->wants_atomicity |= arguments->shows_sets || arguments->method != METHODS;
	if (arguments->method == METHODS)
		arguments->method = METHOD_PREDICT;
	arguments->is_everything = !arguments->wants_deadlocks && !arguments->wants_atomicity &&
				   !arguments->wants_races;
	arguments->wants_deadlocks |= arguments->is_everything;
	arguments->wants_races |= arguments->is_everything;
	arguments->wants_atomicity |= arguments->is_everything;
}

/* Saves the result for `raddle report`; an unwritable store is no failure. */
static void cmd_predict_keep(const struct predict_result *result)
{
	const struct predict_options *options = result->options;
	struct store_document document = {
		.kind = "predict", .campaign = result->recording.campaign};
	struct store *store;
	struct error err;
	int status;

	if (!result->candidates.count || !document.campaign)
		return;
	status = store_open(&store, options->campaign.directory, STORE_WRITE, &err);
	if (status == 0) {
		document.text = predict_to_document(result);
		status = store_keep_document(store, &document, &err);
		free(document.text);
		store_close(store);
	}
	if (status < 0)
		(void)fprintf(stderr, "note: the predictions were not stored: %s\n", err.text);
}

static int cmd_predict_say_end(const struct predict_result *result)
{
	const char *program = result->options->campaign.argv[0];

	cmd_predict_keep(result);
	predict_report_candidates(result);
	if (result->is_json)
		predict_print_json(result);
	if (result->recording.has_no_threads && !result->finding_count)
		return command_fail(
			"%s made no thread, so no threads can block each other; if it starts the program with the threads, give raddle that program",
			program);
	if (!predict_run_count(result->predict) && !result->finding_count) {
		if (command_stop_reason() == STOP_USER)
			return command_fail(
				"interrupted before a run of %s passed, so there is no prediction",
				program);
		return command_fail(
			"no run of %s ended before the time was up; give it more time (--time), or its input (--stdin FILE)",
			program);
	}
	predict_report_end(result);
	return result->finding_count || result->harmless_count ? EXIT_FAILURE_FOUND
							       : EXIT_NOTHING_FOUND;
}

/* Fails for programs that raddle-cc has not built: they have no instrumented memory accesses. */
static int cmd_predict_need_memory(
	const struct predict_arguments *arguments, struct predict_work *work, struct error *err)
{
	const struct predict_result *result = work->result;

	if ((!work->wants_atomicity && !work->wants_races) || result->has_memory_sites ||
		!result->has_started)
		return 0;
	if (!arguments->is_everything)
		return error_set(err, ERROR_TARGET,
			"raddle sees no memory accesses of %s, so it cannot infer atomic sets; compile it with raddle-cc",
			arguments->options.campaign.argv[0]);
	work->wants_atomicity = work->wants_races = false;
	if (!arguments->is_quiet)
		(void)fprintf(stderr,
			"note: raddle sees no memory accesses, so it predicts only deadlocks; compile the program with raddle-cc to predict more\n");
	return 0;
}

static int cmd_predict_do_work(const struct predict_arguments *arguments)
{
	struct predict_result result = {.options = &arguments->options,
		.is_json = arguments->is_json,
		.is_quiet = arguments->is_quiet,
		.nothing = arguments->wants_atomicity || arguments->wants_races
				   ? "no possible failure found in them"
				   : "no cycle of locks that could deadlock"};
	struct predict_work work = {.result = &result,
		.candidates = arguments->candidates,
		.method = arguments->method,
		.wants_deadlocks = arguments->wants_deadlocks,
		.wants_atomicity = arguments->wants_atomicity,
		.wants_races = arguments->wants_races,
		.rules = {.has_library = arguments->has_library_sets},
		.atomic_sets = arguments->atomic_sets};
	struct campaign_listener listener;
	struct predict *predict;
	struct error err;
	int status;

	strbuf_init(&result.findings);
	predict_report_listen(&result, &listener);
	result.predict = predict = predict_open(&arguments->options, &listener);
	result.begun_ns = platform_monotonic_ns();
	status = predict_work_check_file(arguments->atomic_sets, &err);
	if (status == 0)
		status = predict_record(predict, &result.recording, &err);
	result.recorded_ns = platform_monotonic_ns();
	if (status == 0)
		status = cmd_predict_need_memory(arguments, &work, &err);
	if (status == 0)
		status = predict_work_begin(&work, predict, &err);
	if (status == 0 && !arguments->shows_sets)
		status = predict_work_do(&work, predict, &err);
	if (status < 0) {
		status = command_fail("%s", err.text);
		if (result.finding_count && !result.is_json)
			status = EXIT_FAILURE_FOUND; /* it is printed already */
	} else if (arguments->shows_sets)
		predict_work_show_sets(&work);
	else
		status = cmd_predict_say_end(&result);
	predict_work_end(&work);
	predict_close(predict);
	candidates_release(&result.candidates);
	free(result.predictions);
	free(result.reported);
	strbuf_release(&result.findings);
	return status;
}

static int cmd_predict_run_command(int argc, char **argv)
{
	struct predict_arguments arguments = {
		.options = {.attempts = 50}, .candidates = 100, .method = METHODS};
	struct campaign_options *campaign = &arguments.options.campaign;
	struct error err;
	FREE_SCOPED char *runtime = NULL;
	uint64_t naming_ns;
	bool sees_memory;
	int status;

	campaign_options_init(campaign);
	campaign->settings.stall_ns = 0;
	campaign->is_interrupted = command_interruption();
	campaign->workers = 0; /* all cores */
	campaign->time_ns = PREDICT_TIME_NS;
	options_parse(&command_predict, argc, argv, &arguments);
	cmd_predict_settle(&arguments);
	arguments.options.recording_ns = campaign->time_ns / RECORDING_PART;
	arguments.options.candidate_ns = campaign->time_ns / CANDIDATE_PART;
	naming_ns = campaign->time_ns / NAMING_PART;
	/* Each phase has a time limit of its own. */
	(void)command_limit_time(
		campaign->time_ns - (naming_ns < NAMING_NS ? naming_ns : NAMING_NS));
	sees_memory = arguments.wants_atomicity || arguments.wants_races;
	/* Threads block at operations only; points at memory accesses would only add steps. */
	if (!sees_memory)
		campaign->settings.memory_mode = MEMORY_NONE;
	arguments.options.has_contexts = sees_memory;
	if (!arguments.options.runs)
		arguments.options.runs = sees_memory ? RUNS_WITH_MEMORY : RUNS;
	/* Each thread in turn gets the highest priority: records distant threads in every order. */
	arguments.options.takes_turns = sees_memory && !arguments.strategy;
	if (!arguments.strategy)
		arguments.strategy = sees_memory ? "pct,depth=2" : "random";
	if (strategy_parse(arguments.strategy, &campaign->strategy, &campaign->strategy_config,
		    &err) < 0 ||
		launch_find_runtime(&runtime, &err) < 0) {
		status = command_fail("%s", err.text);
	} else {
		campaign->runtime = runtime;
		status = cmd_predict_do_work(&arguments);
	}
	settings_release(&campaign->settings);
	return status;
}

const struct command command_predict = {
	.name = "predict",
	.summary = "predict failures from passing runs, and make them happen",
	.doc = "Runs PROGRAM a few times, predicts failures of other runs from runs that pass, and drives "
	       "the program to them. A prediction that happens is a finding. Any other prediction "
	       "stays a candidate, printed with the reason why it was not reached.\v"
	       "Exit status: 0 nothing was confirmed, 1 a prediction was confirmed or a run failed, 2 "
	       "raddle could not work.",
	.usage = "-- PROGRAM [ARG...]",
	.options = predict_options,
	.operands = {OPERANDS_PROGRAM, offsetof(struct predict_arguments, options.campaign.argv),
		"no program given; raddle predict -- PROGRAM [ARG...]"},
	.run = cmd_predict_run_command,
};
