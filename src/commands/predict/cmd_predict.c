#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "process/launch.h"
#include "commands/predict/predict.h"
#include "store/store.h"
#include "plan/strategy_option.h"
#include "cli/command.h"
#include "cli/option_value.h"
#include "commands/predict/predict_result.h"
#include "commands/predict/predict_work.h"
#include "platform/platform.h"

/* Default numbers of runs: lock orders hardly vary between runs, written values do. */
/* Naming places starts the program once more; at most this part of a short budget. */
#define NAMING_NS UINT64_C(150000000)
#define NAMING_PART 10

#define RUNS 5
#define RUNS_WITH_MEMORY 20
/* Fractions of the time budget for recording, and for each candidate. */
#define RECORDING_PART 2
#define CANDIDATE_PART 5

enum {
	OPTION_DEADLOCKS = 256,
	OPTION_ATOMICITY,
	OPTION_RACES,
	OPTION_METHOD,
	OPTION_SHOW_SETS,
	OPTION_ATOMIC_SETS,
	OPTION_LIBRARY_SETS,
	OPTION_ALL_ATTEMPTS,
	OPTION_RUNS,
	OPTION_ATTEMPTS,
	OPTION_CANDIDATES,
	OPTION_TIME,
	OPTION_SEED,
	OPTION_TOLERATE,
	OPTION_STDIN,
	OPTION_MAX_STEPS,
	OPTION_MEMORY_MODEL,
	OPTION_JSON,
	OPTION_STORE,
	OPTION_NO_MINIMISE
};

static const struct argp_option predict_options[] = {
	{.doc = "What to predict:", .group = 1},
	{"deadlocks", OPTION_DEADLOCKS, NULL, 0,
		"Deadlocks: threads acquire locks in orders that form a cycle", 1},
	{"atomicity", OPTION_ATOMICITY, NULL, 0,
		"Atomicity violations: values that must agree are read, or left, while they do not (programs built by raddle-cc)",
		1},
	{"races", OPTION_RACES, NULL, 0,
		"Accesses to the same memory that neither locks nor waits order (programs built by raddle-cc)",
		1},
	{"method", OPTION_METHOD, "NAME", 0,
		"How --atomicity searches: predict; for comparison: monitor (watch random runs), race (drive the accesses of races together), atomicity (acquire a lock between two acquisitions in one critical section)",
		1},
	{"show-sets", OPTION_SHOW_SETS, NULL, 0,
		"Only print the inferred atomic sets and the functions that work on them", 1},
	{"atomic-sets", OPTION_ATOMIC_SETS, "FILE", 0,
		"Annotations that correct the inferred atomic sets, in the words of raddle.h, one a line",
		1},
	{"library-sets", OPTION_LIBRARY_SETS, NULL, 0,
		"Also infer atomic sets of the C++ library's own types, such as std::_Stop_state_t",
		1},
	{.doc = "How much is done:", .group = 2},
	{"runs", OPTION_RUNS, "N", 0,
		"Record N runs that pass, at most 100 (20; 5 with --deadlocks alone)", 2},
	{"attempts", OPTION_ATTEMPTS, "N", 0, "Drive each candidate in up to N runs (50)", 2},
	{"candidates", OPTION_CANDIDATES, "N", 0, "Drive at most N candidates (100)", 2},
	{"all-attempts", OPTION_ALL_ATTEMPTS, NULL, 0,
		"Make all attempts, even if the result of a candidate is already clear", 2},
	{"time", OPTION_TIME, "TIME", 0,
		"End after this time, such as 30s, 2m (5m); recording takes at most half of it, each candidate a fifth",
		2},
	{"strategy", 's', "NAME[,OPTION=N...]", 0,
		"Strategy that chooses the next thread in recorded runs (pct and random; random with --deadlocks alone)",
		2},
	{"seed", OPTION_SEED, "N", 0,
		"Seed of the random numbers; the same seed gives the same runs (1)", 2},
	{"jobs", 'j', "N", 0,
		"Number of recorded runs, and of driven candidates, in parallel; the result does not depend on it (all cores)",
		2},
	{.doc = "Environment of the program, and what counts as a failure:", .group = 3},
	{"memory-model", OPTION_MEMORY_MODEL, "sc|tso|c11", 0,
		"Drive candidates in runs with this memory model; recorded runs are sequentially consistent (sc)",
		3},
	{"stdin", OPTION_STDIN, "FILE", 0, "Every run reads FILE as its standard input", 3},
	{"tolerate", OPTION_TOLERATE, "KINDS", 0,
		"Kinds that are no failure, separated by commas: exit, abort, crash, ... as printed with a finding",
		3},
	{"max-steps", OPTION_MAX_STEPS, "N", 0, "End a run after N operations (10000000)", 3},
	{.doc = "Output and store:", .group = 4},
	{"json", OPTION_JSON, NULL, 0, "Everything, as JSON on standard output", 4},
	{"quiet", 'q', NULL, 0, "Only findings and candidates", 4},
	{"no-minimise", OPTION_NO_MINIMISE, NULL, 0, "Keep schedules as found", 4},
	{"store", OPTION_STORE, "DIR", 0, "Keep findings in DIR/.raddle (.)", 4},
	{0},
};

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

static const struct option_value predict_values[] = {
	OPTION_NUMBER(OPTION_RUNS, predict_arguments, options.runs, 1, PREDICT_RUNS_MAX),
	OPTION_NUMBER(OPTION_ATTEMPTS, predict_arguments, options.attempts, 1, 1000000),
	OPTION_NUMBER(OPTION_CANDIDATES, predict_arguments, candidates, 0, 1000000),
	OPTION_NUMBER('j', predict_arguments, options.campaign.workers, 1, 128),
	OPTION_NUMBER(OPTION_MAX_STEPS, predict_arguments, options.campaign.settings.step_limit, 1,
		UINT64_MAX / 2),
	OPTION_TIME_SPAN(OPTION_TIME, predict_arguments, options.campaign.time_ns),
	OPTION_TEXT('s', predict_arguments, strategy),
	OPTION_TEXT(OPTION_ATOMIC_SETS, predict_arguments, atomic_sets),
	OPTION_TEXT(OPTION_STORE, predict_arguments, options.campaign.directory),
	OPTION_FLAG(OPTION_DEADLOCKS, predict_arguments, wants_deadlocks),
	OPTION_FLAG(OPTION_ATOMICITY, predict_arguments, wants_atomicity),
	OPTION_FLAG(OPTION_RACES, predict_arguments, wants_races),
	OPTION_FLAG(OPTION_LIBRARY_SETS, predict_arguments, has_library_sets),
	OPTION_FLAG(OPTION_JSON, predict_arguments, is_json),
	OPTION_FLAG('q', predict_arguments, is_quiet),
	OPTION_FLAG(OPTION_ALL_ATTEMPTS, predict_arguments, options.makes_all_attempts),
	OPTION_FLAG(OPTION_NO_MINIMISE, predict_arguments, options.campaign.without_minimising),
	{0},
};

static enum predict_method cmd_predict_parse_method(struct argp_state *state, const char *text)
{
	const enum predict_method method =
		(enum predict_method)strings_find(predict_method_words, METHODS, text);

	if (method == METHODS)
		argp_error(state, "--method is predict, monitor, race or atomicity, not %s", text);
	return method;
}

static error_t cmd_predict_parse_predict(int key, char *text, struct argp_state *state)
{
	struct predict_arguments *arguments = state->input;
	struct campaign_options *campaign = &arguments->options.campaign;
	struct error err;

	switch (key) {
	case OPTION_SEED:
		campaign->seed = option_number(state, "--seed", text, 0, UINT64_MAX);
		campaign->settings.random_seed = campaign->seed;
		return 0;
	case OPTION_STDIN:
		campaign->settings.input = string_copy(text);
		return 0;
	case OPTION_TOLERATE:
		if (settings_parse_tolerated(text, &campaign->settings.tolerated, &err) < 0)
			argp_error(state, "%s", err.text);
		return 0;
	case OPTION_MEMORY_MODEL:
		if (!memory_model_parse(text, &arguments->options.memory_model))
			argp_error(state, "--memory-model is sc, tso or c11, not %s", text);
		return 0;
	case OPTION_SHOW_SETS:
		arguments->shows_sets = arguments->wants_atomicity = true;
		return 0;
	case OPTION_METHOD:
		arguments->method = cmd_predict_parse_method(state, text);
		arguments->wants_atomicity = true;
		return 0;
	case ARGP_KEY_ARG:
		arguments->options.campaign.argv = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program given; raddle predict -- PROGRAM [ARG...]");
		return 0;
	case ARGP_KEY_END:
		/* If the user selects nothing, everything is predicted. */
		arguments->is_everything = !arguments->wants_deadlocks &&
					   !arguments->wants_atomicity && !arguments->wants_races;
		arguments->wants_deadlocks |= arguments->is_everything;
		arguments->wants_races |= arguments->is_everything;
		arguments->wants_atomicity |= arguments->is_everything;
		return 0;
	default:
		return option_store(predict_values, predict_options, key, text, state);
	}
}

static const struct argp predict_argp = {
	.options = predict_options,
	.parser = cmd_predict_parse_predict,
	.args_doc = "-- PROGRAM [ARG...]",
	.doc = "Runs PROGRAM a few times, predicts failures of other runs from runs that pass, and drives "
	       "the program to them. A prediction that happens is a finding. Any other prediction "
	       "stays a candidate, printed with the reason why it was not reached.\v"
	       "Exit status: 0 nothing was confirmed, 1 a prediction was confirmed or a run failed, 2 "
	       "raddle could not work.",
};

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
	struct predict_arguments arguments = {.options = {.attempts = 50}, .candidates = 100};
	struct campaign_options *campaign = &arguments.options.campaign;
	struct error err;
	char *runtime = NULL;
	uint64_t naming_ns;
	bool sees_memory;
	int status;

	campaign_options_init(campaign);
	campaign->settings.stall_ns = 0;
	campaign->is_interrupted = command_interruption();
	campaign->workers = 0; /* all cores */
	campaign->time_ns = PREDICT_TIME_NS;
	argp_parse(&predict_argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
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
	free(runtime);
	settings_release(&campaign->settings);
	return status;
}

const struct command command_predict = {
	.name = "predict",
	.summary = "predict failures from passing runs, and make them happen",
	.argp = &predict_argp,
	.run = cmd_predict_run_command,
};
