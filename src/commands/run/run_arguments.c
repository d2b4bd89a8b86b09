#include "commands/run/run_arguments.h"

#include <stdlib.h>

#include "cli/suppressions_option.h"
#include "plan/bounds_option.h"
#include "plan/memory/memory_view.h"
#include "plan/strategy_option.h"

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

	if (arguments->memory && (!memory_mode_parse(arguments->memory, &settings->memory_mode) ||
					 settings->memory_mode == MEMORY_CHOSEN ||
					 settings->memory_mode == MEMORY_RACY_SITES))
		return error_set(err, ERROR_USAGE, "--memory is shared, races, none or all, not %s",
			arguments->memory);
	if (settings->races.weak && settings->memory_model)
		return error_set(err, ERROR_USAGE,
			"--fail-on weak judges sequentially consistent runs; leave --memory-model out");
	if (settings->races.are_failures && !arguments->memory && !settings->memory_model)
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

	options->settings.random_seed = options->seed;
	options->has_digest = arguments->is_json;
	if (arguments->store)
		options->directory = arguments->store;
	if (arguments->is_mpi) /* mpirun's pipe has the properties of a terminal */
		(void)setenv("NO_COLOR", "1", 0);
	if (run_arguments_read_suppressions(arguments, suppressions, err) < 0 ||
		run_arguments_settle_memory(arguments, err) < 0 ||
		run_arguments_settle_strategy(arguments, err) < 0)
		return err->code;
	options->suppressions = suppressions;
	options->watches_races = options->settings.memory_mode == MEMORY_LEARN;
	options->may_omit_points = !arguments->memory && !options->variables;
	return 0;
}
