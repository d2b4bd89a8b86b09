#include "commands/run/run_arguments.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "cli/option_value.h"
#include "cli/suppressions_option.h"
#include "commands/run/run_options.h"
#include "model/layout.h"
#include "plan/bounds_option.h"
#include "plan/memory_view.h"
#include "plan/restart.h"
#include "plan/strategy_option.h"

#define CHECKPOINT_MEGABYTES_MOST 65536

static const struct option_value run_values[] = {
	OPTION_TEXT('s', run_arguments, strategy),
	OPTION_NUMBER(OPTION_SCHEDULES, run_arguments, options.schedules, 1, UINT64_MAX / 2),
	OPTION_LIMIT(OPTION_TIME, run_arguments, options.time_ns),
	OPTION_NUMBER('j', run_arguments, options.workers, 1, 128),
	OPTION_FLAG('k', run_arguments, options.keep_going),
	OPTION_TEXT(OPTION_VARIABLES, run_arguments, options.variables),
	OPTION_TEXT(OPTION_BOUNDS, run_arguments, bounds),
	OPTION_LIMIT(OPTION_SILENCE, run_arguments, silent_ns),
	OPTION_FLAG(OPTION_RESUME, run_arguments, options.resumes),
	OPTION_FLAG(OPTION_SPURIOUS, run_arguments, options.settings.has_spurious_wakeups),
	OPTION_FLAG(OPTION_FORKED_CHILDREN, run_arguments, options.settings.has_forked_children),
	OPTION_FLAG(OPTION_NO_FORKED_CHILDREN, run_arguments, options.without_forked_children),
	OPTION_FLAG(OPTION_NO_VIRTUAL_TIME, run_arguments, options.settings.without_virtual_time),
	OPTION_TEXT(OPTION_DIRECTORY, run_arguments, place.directory),
	OPTION_TEXT(OPTION_SUPPRESSIONS, run_arguments, suppressions),
	OPTION_NUMBER(
		OPTION_MAX_STEPS, run_arguments, options.settings.step_limit, 1, UINT64_MAX / 2),
	OPTION_LIMIT(OPTION_HANG_TIME, run_arguments, options.settings.hang_ns),
	OPTION_FLAG(OPTION_NO_DISPATCH, run_arguments, options.settings.without_dispatch),
	OPTION_FLAG('q', run_arguments, is_quiet),
	OPTION_FLAG(OPTION_NO_MINIMISE, run_arguments, options.without_minimising),
	{0},
};

static void run_arguments_parse_restart(struct argp_state *state, const char *word)
{
	struct run_arguments *arguments = state->input;

	if (!restart_parse(word, &arguments->options.restart))
		argp_error(state, "no restart %s; there are rewind, fork_create, fork_main, exec",
			word);
	arguments->options.is_restart_forced = true;
}

/* Parses an enum contract_checkpoints or campaign_focus, which have the same values. */
static int run_arguments_parse_when(struct argp_state *state, const char *option, const char *word)
{
	static const char *const words[] = {
		[FOCUS_MEASURED] = "measured", [FOCUS_ALWAYS] = "always", [FOCUS_NEVER] = "never"};

	_Static_assert((int)FOCUS_MEASURED == CHECKPOINTS_MEASURED &&
			       (int)FOCUS_ALWAYS == CHECKPOINTS_ALWAYS &&
			       (int)FOCUS_NEVER == CHECKPOINTS_NEVER,
		"the same values");
	for (int i = 0; i < (int)(sizeof words / sizeof *words); i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	argp_error(state, "%s is measured, always or never, not %s", option, word);
	return 0;
}

static uint64_t run_arguments_parse_stalls(struct argp_state *state, const char *text)
{
	uint64_t limit_ns = 0;

	if (strcmp(text, "any") == 0)
		return STALL_ANY;
	if (strcmp(text, "never") != 0 && (!duration_parse(text, &limit_ns) || !limit_ns))
		argp_error(state, "--stalls is never, any or a time such as 2s, not %s", text);
	return limit_ns;
}

static error_t run_arguments_parse_making(int key, char *text, struct argp_state *state)
{
	struct run_arguments *arguments = state->input;
	struct campaign_options *options = &arguments->options;
	uint64_t number = 0;

	switch (key) {
	case OPTION_RESTART:
		run_arguments_parse_restart(state, text);
		return 0;
	case OPTION_EXECUTOR:
		if (!executor_parse(text, &options->settings.executor))
			argp_error(state, "no executor %s; there are fiber and kernel", text);
		return 0;
	case OPTION_LAYOUT:
		options->settings.has_fixed_layout = strcmp(text, "varied") != 0;
		if (options->settings.has_fixed_layout &&
			!number_parse(text, 0, LAYOUT_MAX, &number))
			argp_error(state, "--layout is varied or a number up to %u, not %s",
				LAYOUT_MAX, text);
		options->settings.layout = (uint32_t)number;
		return 0;
	case OPTION_STALLS:
		options->settings.stall_ns = run_arguments_parse_stalls(state, text);
		return 0;
	case OPTION_MEMORY_MODEL:
		if (!memory_model_parse(text, &options->settings.memory_model))
			argp_error(state, "--memory-model is sc, tso or c11, not %s", text);
		return 0;
	case OPTION_CHECKPOINTS:
		options->checkpoints = (enum contract_checkpoints)run_arguments_parse_when(
			state, "--checkpoints", text);
		return 0;
	case OPTION_FOCUS:
		options->focus =
			(enum campaign_focus)run_arguments_parse_when(state, "--focus", text);
		return 0;
	case OPTION_CHECKPOINT_MEMORY:
		if (!number_parse(text, 0, CHECKPOINT_MEGABYTES_MOST, &number))
			argp_error(state,
				"--checkpoint-memory wants megabytes, a whole number up to %d, not %s",
				CHECKPOINT_MEGABYTES_MOST, text);
		options->checkpoint_bytes = number << 20;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void run_arguments_parse_shard(
	struct argp_state *state, const char *text, uint32_t *shard, uint32_t *shards)
{
	const char *slash = strchr(text, '/');
	char first[24] = "";
	uint64_t number = 0, count = 0;

	if (slash && slash - text < (ptrdiff_t)sizeof first)
		memcpy(first, text, (size_t)(slash - text));
	if (!slash || !number_parse(first, 1, FINDING_SHARDS_MAX, &number) ||
		!number_parse(slash + 1, 1, FINDING_SHARDS_MAX, &count) || number > count)
		argp_error(state, "--shard is I/N, such as 2/8, the second of eight parts; not %s",
			text);
	*shard = (uint32_t)number;
	*shards = (uint32_t)count;
}

static error_t run_arguments_parse_exploration(int key, char *text, struct argp_state *state)
{
	struct run_arguments *arguments = state->input;
	struct campaign_options *options = &arguments->options;

	switch (key) {
	case OPTION_SEED:
		options->seed = option_number(state, "--seed", text, 0, UINT64_MAX);
		options->settings.random_seed = options->seed;
		return 0;
	case OPTION_MEMORY:
		if (!memory_mode_parse(text, &options->settings.memory_mode) ||
			options->settings.memory_mode == MEMORY_CHOSEN)
			argp_error(state, "--memory is shared, races, none or all, not %s", text);
		arguments->has_memory_mode = true;
		return 0;
	case OPTION_SHARD:
		run_arguments_parse_shard(state, text, &options->shard, &options->shards);
		return 0;
	case OPTION_MPI:
		arguments->is_mpi = true;
		/* mpirun's pipe has the properties of a terminal */
		(void)setenv("NO_COLOR", "1", 0);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t run_arguments_parse_judgement(int key, char *text, struct argp_state *state)
{
	struct run_arguments *arguments = state->input;
	struct settings *settings = &arguments->options.settings;
	struct error err;

	switch (key) {
	case OPTION_STDIN:
		settings->input = string_copy(text);
		return 0;
	case OPTION_FOLLOW:
		arguments->follows_children = true;
		arguments->followed = text;
		return 0;
	case OPTION_CHECK:
		settings->check = string_copy(text);
		return 0;
	case OPTION_TOLERATE:
		if (settings_parse_tolerated(text, &settings->tolerated, &err) < 0)
			argp_error(state, "%s", err.text);
		return 0;
	case OPTION_FAIL_ON:
		if (settings_parse_fail_on(text, settings, &err) < 0)
			argp_error(state, "%s", err.text);
		return 0;
	case OPTION_OUTPUT:
		if (strcmp(text, "show") != 0 && strcmp(text, "hide") != 0)
			argp_error(state, "--output is show or hide, not %s", text);
		arguments->options.show_output = strcmp(text, "show") == 0;
		return 0;
	case OPTION_JSON:
		arguments->is_json = arguments->options.has_digest = true;
		return 0;
	case OPTION_STORE_LIMIT:
		arguments->options.store_bytes =
			option_number(state, "--store-limit", text, 1, UINT64_MAX >> 20) << 20;
		return 0;
	case OPTION_STORE:
		arguments->options.directory = arguments->store = text;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

error_t run_arguments_parse(
	int key, char *text, struct argp_state *state, const struct argp_option *options)
{
	if (run_arguments_parse_exploration(key, text, state) == 0 ||
		run_arguments_parse_judgement(key, text, state) == 0 ||
		run_arguments_parse_making(key, text, state) == 0)
		return 0;
	return option_store(run_values, options, key, text, state);
}

static int run_arguments_read_suppressions(
	const struct run_arguments *arguments, struct suppressions *out, struct error *err)
{
	*out = (struct suppressions){0};
	if (!arguments->options.settings.races.are_failures) {
		if (!arguments->suppressions)
			return 0;
		return error_set(err, ERROR_USAGE,
			"--suppressions needs --fail-on race, because raddle otherwise does not search for races");
	}
	return suppressions_option_read(arguments->suppressions, out, err);
}

static int run_arguments_settle_strategy(struct run_arguments *arguments, struct error *err)
{
	struct campaign_options *options = &arguments->options;

	const uint32_t none = strategy_count;
	struct settings *settings = &options->settings;

	options->strategy = none;
	if (arguments->bounds && bounds_parse(arguments->bounds, &options->strategy,
					 &options->strategy_config, &settings->weak_limit, err) < 0)
		return err->code;
	if (settings->weak_limit && !settings->memory_model)
		return error_set(err, ERROR_USAGE,
			"--bounds w limits the weak choices of --memory-model tso or c11; give one of them");
	if (options->strategy != none && arguments->strategy)
		return error_set(err, ERROR_USAGE,
			"--bounds implies strategy bounded; leave --strategy out");
	if (options->strategy != none)
		return 0;
	return strategy_parse(arguments->strategy ? arguments->strategy : STRATEGY_STANDARD,
		&options->strategy, &options->strategy_config, err);
}

/* Sets which accesses are scheduling points, with and without the search for races. */
static int run_arguments_settle_memory(struct run_arguments *arguments, struct error *err)
{
	struct settings *settings = &arguments->options.settings;

	if (settings->races.weak && settings->memory_model)
		return error_set(err, ERROR_USAGE,
			"--fail-on weak judges sequentially consistent runs; leave --memory-model out");
	if (settings->races.are_failures && !arguments->has_memory_mode && !settings->memory_model)
		settings->memory_mode = MEMORY_RACES;
	if (settings->memory_mode == MEMORY_RACES && !settings->races.are_failures)
		return error_set(err, ERROR_USAGE,
			"--memory races needs --fail-on race, because it leaves out scheduling points that only races need");
	if ((settings->memory_model || settings->races.weak) &&
		settings->memory_mode != MEMORY_LEARN && settings->memory_mode != MEMORY_ALL)
		return error_set(err, ERROR_USAGE,
			"%s%s needs all accesses to shared variables; leave --memory and --variables out",
			settings->races.weak ? "--fail-on weak" : "--memory-model ",
			settings->races.weak ? "" : memory_model_words[settings->memory_model]);
	return 0;
}

int run_arguments_settle(
	struct run_arguments *arguments, struct suppressions *suppressions, struct error *err)
{
	struct campaign_options *options = &arguments->options;

	if (run_arguments_read_suppressions(arguments, suppressions, err) < 0 ||
		run_arguments_settle_memory(arguments, err) < 0 ||
		run_arguments_settle_strategy(arguments, err) < 0)
		return err->code;
	options->suppressions = suppressions;
	options->watches_races = options->settings.memory_mode == MEMORY_LEARN;
	return 0;
}
