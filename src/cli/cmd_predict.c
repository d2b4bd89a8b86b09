#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/analysis.h"
#include "base/bug.h"
#include "campaign/launch.h"
#include "campaign/predict.h"
#include "campaign/strategy_option.h"
#include "cli/command.h"
#include "cli/number.h"
#include "cli/predict_result.h"

enum {
	OPTION_DEADLOCKS = 256,
	OPTION_RUNS,
	OPTION_ATTEMPTS,
	OPTION_CANDIDATES,
	OPTION_TIME,
	OPTION_SEED,
	OPTION_TOLERATE,
	OPTION_STDIN,
	OPTION_MAX_STEPS,
	OPTION_JSON,
	OPTION_STORE,
	OPTION_NO_MINIMISE
};

static const struct argp_option predict_options[] = {
	{.doc = "What to predict:", .group = 1},
	{"deadlocks", OPTION_DEADLOCKS, NULL, 0,
		"Locks that threads take in orders that close a circle (the only kind so far)", 1},
	{.doc = "How much is done:", .group = 2},
	{"runs", OPTION_RUNS, "N", 0, "Record N runs that pass, at most 100 (5)", 2},
	{"attempts", OPTION_ATTEMPTS, "N", 0, "Drive each candidate for up to N runs (50)", 2},
	{"candidates", OPTION_CANDIDATES, "N", 0, "Drive at most N candidates (100)", 2},
	{"time", OPTION_TIME, "TIME", 0,
		"End recording, and each candidate, after this time, such as 30s, 2m (60s)", 2},
	{"strategy", 's', "NAME[,OPTION=N...]", 0,
		"Who chooses the next thread in recorded runs (random)", 2},
	{"seed", OPTION_SEED, "N", 0, "Same seed, same runs (1)", 2},
	{.doc = "What the program meets, and what counts as a failure:", .group = 3},
	{"stdin", OPTION_STDIN, "FILE", 0, "Every run reads FILE as its standard input", 3},
	{"tolerate", OPTION_TOLERATE, "KIND[,KIND...]", 0,
		"Not these: exit, abort, crash, ... as printed with a finding", 3},
	{"max-steps", OPTION_MAX_STEPS, "N", 0, "A run of more operations is a livelock (10000000)",
		3},
	{.doc = "What is said and kept:", .group = 4},
	{"json", OPTION_JSON, NULL, 0, "Everything, as JSON on standard output", 4},
	{"quiet", 'q', NULL, 0, "Only findings and candidates", 4},
	{"no-minimise", OPTION_NO_MINIMISE, NULL, 0, "Keep schedules as they were found", 4},
	{"store", OPTION_STORE, "DIR", 0, "Keep findings in DIR/.raddle (.)", 4},
	{0},
};

struct predict_arguments {
	struct predict_options options;
	const char *strategy;
	uint64_t candidates; /* that are driven at most */
	bool wants_deadlocks;
	bool is_json;
	bool is_quiet;
};

static uint64_t parse_number(struct argp_state *state, const char *option, const char *text,
	uint64_t least, uint64_t most)
{
	uint64_t number = 0;

	if (!number_parse(text, least, most, &number))
		argp_error(state, "%s wants a whole number from %llu to %llu, not %s", option,
			(unsigned long long)least, (unsigned long long)most, text);
	return number;
}

static error_t parse_amounts(int key, char *text, struct argp_state *state)
{
	struct predict_arguments *arguments = state->input;
	struct predict_options *options = &arguments->options;

	switch (key) {
	case OPTION_RUNS:
		options->runs = (uint32_t)parse_number(state, "--runs", text, 1, PREDICT_RUNS_MAX);
		return 0;
	case OPTION_ATTEMPTS:
		options->attempts = (uint32_t)parse_number(state, "--attempts", text, 1, 1000000);
		return 0;
	case OPTION_CANDIDATES:
		arguments->candidates = parse_number(state, "--candidates", text, 0, 1000000);
		return 0;
	case OPTION_SEED:
		options->campaign.seed = parse_number(state, "--seed", text, 0, UINT64_MAX);
		return 0;
	case OPTION_MAX_STEPS:
		options->campaign.settings.step_limit =
			parse_number(state, "--max-steps", text, 1, UINT64_MAX / 2);
		return 0;
	case OPTION_TIME:
		if (!duration_parse(text, &options->campaign.time_ns))
			argp_error(state, "--time wants a time such as 500ms, 30s or 2m, not %s",
				text);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_settings(int key, char *text, struct argp_state *state)
{
	struct predict_arguments *arguments = state->input;
	struct campaign_options *campaign = &arguments->options.campaign;
	struct error err;

	switch (key) {
	case OPTION_STDIN:
		campaign->settings.input = strdup(text);
		BUG_ON(!campaign->settings.input);
		return 0;
	case OPTION_TOLERATE:
		if (settings_parse_tolerated(text, &campaign->settings.tolerated, &err) < 0)
			argp_error(state, "%s", err.text);
		return 0;
	case OPTION_JSON:
		arguments->is_json = true;
		return 0;
	case 'q':
		arguments->is_quiet = true;
		return 0;
	case OPTION_NO_MINIMISE:
		campaign->without_minimising = true;
		return 0;
	case OPTION_STORE:
		campaign->directory = text;
		return 0;
	default:
		return parse_amounts(key, text, state);
	}
}

static error_t parse_predict(int key, char *text, struct argp_state *state)
{
	struct predict_arguments *arguments = state->input;

	switch (key) {
	case 's':
		arguments->strategy = text;
		return 0;
	case OPTION_DEADLOCKS:
		arguments->wants_deadlocks = true;
		return 0;
	case ARGP_KEY_ARG:
		/* Everything from the program's name on is the program's. */
		arguments->options.campaign.argv = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(
			state, "no program given; raddle predict --deadlocks -- PROGRAM [ARG...]");
		return 0;
	case ARGP_KEY_END:
		if (!arguments->wants_deadlocks)
			argp_error(state, "what is to be predicted? give --deadlocks");
		return 0;
	default:
		return parse_settings(key, text, state);
	}
}

static const struct argp predict_argp = {
	.options = predict_options,
	.parser = parse_predict,
	.args_doc = "--deadlocks -- PROGRAM [ARG...]",
	.doc = "Runs PROGRAM a few times, infers from runs that pass what could go wrong in others, "
	       "and drives the program to make it happen. What has happened is a finding; what has "
	       "not is a candidate, told with the reason why it was not reached.\v"
	       "Exit status: 0 nothing was confirmed, 1 a prediction was confirmed or a run failed, 2 "
	       "raddle could not work.",
};

/* ---- the work ---- */

static int analyse_run(const struct analysis *analysis, void *state, struct predict *predict,
	uint32_t run, struct error *err)
{
	struct trace_reader *reader;
	char *bytes;
	size_t size;
	int result = predict_trace(predict, run, &bytes, &size, err);

	if (result < 0 || !bytes)
		return result;
	result = trace_reader_open_memory(&reader, bytes, size, "the trace of a run", err);
	if (result == 0) {
		result = analysis->add_run(state, reader, run, err);
		trace_reader_close(reader);
	}
	free(bytes);
	return result;
}

static int analyse(struct predict *predict, struct predict_result *out, struct error *err)
{
	const struct analysis *analysis = &analysis_lock_order;
	void *state = analysis->begin();
	int result = 0;

	for (uint32_t run = 0; run < predict_run_count(predict) && result == 0; run++)
		result = analyse_run(analysis, state, predict, run, err);
	if (result == 0)
		analysis->find(state, &out->candidates);
	analysis->end(state);
	for (uint32_t i = 0; i < out->candidates.count && result == 0; i++)
		result = predict_describe(predict, &out->candidates.items[i], err);
	out->predictions = calloc(out->candidates.count + 1u, sizeof *out->predictions);
	BUG_ON(!out->predictions);
	for (uint32_t i = 0; i < out->candidates.count; i++)
		out->predictions[i].state = PREDICTION_UNTRIED;
	return result;
}

static int drive(struct predict *predict, const struct predict_arguments *arguments,
	struct predict_result *out, struct error *err)
{
	int result = 0;

	for (uint32_t i = 0; i < out->candidates.count; i++) {
		struct prediction *prediction = &out->predictions[i];

		if (i < arguments->candidates && !*arguments->options.campaign.is_interrupted) {
			out->candidate_now = i;
			result = predict_confirm(
				predict, &out->candidates.items[i], &prediction->attempt, err);
			if (result < 0)
				return result;
			prediction->state = prediction->attempt.is_confirmed ? PREDICTION_CONFIRMED
									     : PREDICTION_CANDIDATE;
			if (prediction->attempt.is_confirmed)
				memcpy(prediction->finding, prediction->attempt.finding,
					sizeof prediction->finding);
		}
		predict_report_candidate(out, i);
	}
	return 0;
}

static int say_end(const struct predict_result *result)
{
	const char *program = result->options->campaign.argv[0];

	if (result->is_json)
		predict_print_json(result);
	if (result->recording.has_no_threads && !result->finding_count)
		return command_fail(
			"%s made no thread, so no threads can wait for each other; if it "
			"starts the threaded program, give raddle that one",
			program);
	if (!predict_run_count(result->predict) && !result->finding_count &&
		!result->recording.is_interrupted)
		return command_fail("no run of %s ended before the time was up; give it longer "
				    "(--time), or its input (--stdin FILE)",
			program);
	predict_report_end(result);
	return result->finding_count ? EXIT_FAILURE_FOUND : EXIT_NOTHING_FOUND;
}

static int work(const struct predict_arguments *arguments)
{
	struct predict_result result = {.options = &arguments->options,
		.is_json = arguments->is_json,
		.is_quiet = arguments->is_quiet,
		.candidate_now = UINT32_MAX};
	struct campaign_listener listener;
	struct predict *predict;
	struct error err;
	int status;

	strbuf_init(&result.findings);
	predict_report_listen(&result, &listener);
	result.predict = predict = predict_open(&arguments->options, &listener);
	status = predict_record(predict, &result.recording, &err);
	if (status == 0)
		status = analyse(predict, &result, &err);
	if (status == 0) {
		predict_report_recorded(&result);
		status = drive(predict, arguments, &result, &err);
	}
	status = status < 0 ? command_fail("%s", err.text) : say_end(&result);
	predict_close(predict);
	candidates_release(&result.candidates);
	free(result.predictions);
	free(result.told);
	strbuf_release(&result.findings);
	return status;
}

static int predict_run_command(int argc, char **argv)
{
	struct predict_arguments arguments = {
		.options = {.runs = 5, .attempts = 50}, .strategy = "random", .candidates = 100};
	struct campaign_options *campaign = &arguments.options.campaign;
	struct error err;
	char *runtime = NULL;
	int status;

	campaign_options_init(campaign);
	/* Threads wait for each other at operations; accesses to memory would only be in the way. */
	campaign->settings.memory_mode = MEMORY_NONE;
	campaign->is_interrupted = command_interruption();
	argp_parse(&predict_argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	if (strategy_parse(arguments.strategy, &campaign->strategy, &campaign->strategy_config,
		    &err) < 0 ||
		launch_find_runtime(&runtime, &err) < 0) {
		status = command_fail("%s", err.text);
	} else {
		campaign->runtime = runtime;
		status = work(&arguments);
	}
	free(runtime);
	settings_release(&campaign->settings);
	return status;
}

const struct command command_predict = {
	.name = "predict",
	.summary = "infer from passing runs what could go wrong, and make it happen",
	.argp = &predict_argp,
	.run = predict_run_command,
};
