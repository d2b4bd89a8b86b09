#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/bounds_option.h"
#include "explore/campaign.h"
#include "process/launch.h"
#include "plan/memory_view.h"
#include "plan/restart.h"
#include "plan/strategy_option.h"
#include "cli/command.h"
#include "commands/follow/follow_children.h"
#include "cli/option_value.h"
#include "commands/run/run_options.h"
#include "commands/run/run_place.h"
#include "commands/run/run_report.h"
#include "cli/suppressions_option.h"
#include "parallel/remote/cluster.h"
#include "model/layout.h"

#define CHECKPOINT_MEGABYTES_MOST 65536

struct run_arguments {
	struct campaign_options options;
	const char *strategy;	  /* NULL if not given */
	const char *bounds;	  /* NULL if not given */
	const char *suppressions; /* file; NULL if not given */
	bool has_memory_mode;	  /* the user chose a mode */
	struct run_place place;
	bool follows_children;
	const char *followed; /* pattern of the children; NULL if not given */
	bool is_mpi;
	uint64_t silent_ns;
	bool is_json;
	bool is_quiet;
	const char *store;    /* the option's text; NULL if not given */
	char *const *given;   /* arguments of the command up to the program */
	char *const *program; /* points into the same array */
};

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

static void parse_restart(struct argp_state *state, const char *word)
{
	struct run_arguments *arguments = state->input;

	if (!restart_parse(word, &arguments->options.restart))
		argp_error(state, "no restart %s; there are rewind, fork_create, fork_main, exec",
			word);
	arguments->options.is_restart_forced = true;
}

/* Parses an enum contract_checkpoints or campaign_focus, which have the same values. */
static int parse_when(struct argp_state *state, const char *option, const char *word)
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

static uint64_t parse_stalls(struct argp_state *state, const char *text)
{
	uint64_t limit_ns = 0;

	if (strcmp(text, "any") == 0)
		return STALL_ANY;
	if (strcmp(text, "never") != 0 && (!duration_parse(text, &limit_ns) || !limit_ns))
		argp_error(state, "--stalls is never, any or a time such as 2s, not %s", text);
	return limit_ns;
}

static error_t parse_making(int key, char *text, struct argp_state *state)
{
	struct run_arguments *arguments = state->input;
	struct campaign_options *options = &arguments->options;
	uint64_t number = 0;

	switch (key) {
	case OPTION_RESTART:
		parse_restart(state, text);
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
		options->settings.stall_ns = parse_stalls(state, text);
		return 0;
	case OPTION_CHECKPOINTS:
		options->checkpoints =
			(enum contract_checkpoints)parse_when(state, "--checkpoints", text);
		return 0;
	case OPTION_FOCUS:
		options->focus = (enum campaign_focus)parse_when(state, "--focus", text);
		return 0;
	case OPTION_CHECKPOINT_MEMORY:
		if (!number_parse(text, 0, CHECKPOINT_MEGABYTES_MOST, &number))
			argp_error(state,
				"--checkpoint-memory wants megabytes, a whole number up to %d, not "
				"%s",
				CHECKPOINT_MEGABYTES_MOST, text);
		options->checkpoint_bytes = number << 20;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void parse_shard(
	struct argp_state *state, const char *text, struct campaign_options *options)
{
	const char *slash = strchr(text, '/');
	char shard[24] = "";
	uint64_t number = 0, count = 0;

	if (slash && slash - text < (ptrdiff_t)sizeof shard)
		memcpy(shard, text, (size_t)(slash - text));
	if (!slash || !number_parse(shard, 1, FINDING_SHARDS_MAX, &number) ||
		!number_parse(slash + 1, 1, FINDING_SHARDS_MAX, &count) || number > count)
		argp_error(state, "--shard is I/N, such as 2/8, the second of eight parts; not %s",
			text);
	options->shard = (uint32_t)number;
	options->shards = (uint32_t)count;
}

static error_t parse_exploration(int key, char *text, struct argp_state *state)
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
		parse_shard(state, text, options);
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

static char *copy_argument(struct argp_state *state, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		argp_failure(state, EXIT_CANNOT_WORK, 0, "out of memory");
	return copy;
}

static error_t parse_judgement(int key, char *text, struct argp_state *state)
{
	struct run_arguments *arguments = state->input;
	struct settings *settings = &arguments->options.settings;
	struct error err;

	switch (key) {
	case OPTION_STDIN:
		settings->input = copy_argument(state, text);
		return 0;
	case OPTION_FOLLOW:
		arguments->follows_children = true;
		arguments->followed = text;
		return 0;
	case OPTION_CHECK:
		settings->check = copy_argument(state, text);
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

static error_t parse_run(int key, char *text, struct argp_state *state)
{
	struct run_arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		/* The program's name and everything after it belong to the program. */
		arguments->options.argv = arguments->program = state->argv + state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no program given; raddle run -- PROGRAM [ARG...]");
		return 0;
	default:
		break;
	}
	if (parse_exploration(key, text, state) == 0 || parse_judgement(key, text, state) == 0 ||
		parse_making(key, text, state) == 0)
		return 0;
	return option_store(run_values, run_options, key, text, state);
}

static const struct argp run_argp = {
	.options = run_options,
	.parser = parse_run,
	.args_doc = "-- PROGRAM [ARG...]",
	.doc = "Runs PROGRAM under many schedules until one of them fails or the budget ends. A "
	       "failure is replayed, minimised, stored and explained.\v"
	       "Signals: SIGINT, SIGTERM and SIGHUP end the campaign. With --schedules 1 raddle passes them on "
	       "to the program, together with SIGUSR1, SIGUSR2, SIGALRM, SIGQUIT, SIGCONT, SIGWINCH and "
	       "the real-time signals. A second SIGINT or SIGTERM then ends both.\n"
	       "Exit status: 0 no failure was found, 1 a failure was found, 2 raddle could not work.",
};

static int read_suppressions(
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

static int parse_strategy(struct run_arguments *arguments, struct error *err)
{
	struct campaign_options *options = &arguments->options;

	if (arguments->bounds && arguments->strategy)
		return error_set(err, ERROR_USAGE,
			"--bounds implies strategy bounded; leave --strategy out");
	if (arguments->bounds)
		return bounds_parse(
			arguments->bounds, &options->strategy, &options->strategy_config, err);
	return strategy_parse(arguments->strategy ? arguments->strategy : STRATEGY_STANDARD,
		&options->strategy, &options->strategy_config, err);
}

/* Sets which accesses are scheduling points, with and without the search for races. */
static int settle_memory(struct run_arguments *arguments, struct error *err)
{
	struct settings *settings = &arguments->options.settings;

	if (settings->races.are_failures && !arguments->has_memory_mode)
		settings->memory_mode = MEMORY_RACES;
	if (settings->memory_mode == MEMORY_RACES && !settings->races.are_failures)
		return error_set(err, ERROR_USAGE,
			"--memory races needs --fail-on race, because it leaves out scheduling points that only races need");
	return 0;
}

/* Runs the campaign. A process with --mpi is one of many, of which only rank 0 prints. */
static int run_campaign(const struct run_arguments *arguments, struct run_report *report,
	struct campaign_result *result, bool *is_member, struct error *err)
{
	const struct campaign_options *options = &arguments->options;
	struct campaign_listener listener;
	const struct link *link;

	*is_member = false;
	run_report_listen(report, &listener);
	if (!arguments->is_mpi)
		return campaign_run(options, &listener, result, err);
	if (options->shards || options->workers > 1 ||
		(options->resumes && !cluster_has_tasks(options)))
		return error_set(err, ERROR_USAGE,
			"--mpi distributes all schedules itself; leave --shard, --resume and --jobs out");
	if (link_open(&link, err) < 0)
		return err->code;
	*is_member = link->rank != 0;
	return *is_member
		       ? cluster_follow(link, options, arguments->silent_ns, err)
		       : cluster_lead(link, options, arguments->silent_ns, &listener, result, err);
}

static int cmd_run_explore(struct run_arguments *arguments, const struct suppressions *suppressions)
{
	struct campaign_options *options = &arguments->options;
	struct run_report report;
	struct campaign_result result;
	struct error err = {0};
	char *runtime = NULL;
	bool is_member;
	int status;

	options->suppressions = suppressions;
	options->watches_races = options->settings.memory_mode == MEMORY_LEARN;
	if (parse_strategy(arguments, &err) < 0)
		return command_fail("%s", err.text);
	if (launch_find_runtime(&runtime, &err) < 0)
		return command_fail("%s", err.text);
	options->runtime = runtime;
	options->is_interrupted = command_interruption();
	options->forwards_signals = options->schedules == 1 && !arguments->is_mpi;
	run_report_init(&report, options, arguments->is_json, arguments->is_quiet);
	report.given = arguments->given;
	report.program = arguments->program;
	report.store = arguments->store;
	if (run_campaign(arguments, &report, &result, &is_member, &err) < 0) {
		status = command_fail("%s", err.text);
		if (report.last_id[0] && !report.is_json)
			status = EXIT_FAILURE_FOUND; /* the result is already printed */
		run_report_release(&report);
	} else if (is_member) {
		run_report_release(&report);
		status = EXIT_NOTHING_FOUND;
	} else {
		status = run_report_finish(&report, &result);
	}
	free(runtime);
	return status;
}

static int cmd_run_follow(const struct run_arguments *arguments, char **argv)
{
	const struct campaign_options *options = &arguments->options;
	const struct follow_children follow = {.options = argv + 1,
		.argv = options->argv,
		.pattern = arguments->followed,
		.store = options->directory,
		.has_input = options->settings.input,
		.is_json = arguments->is_json,
		.is_quiet = arguments->is_quiet,
		.show_output = options->show_output};

	return follow_children_run(&follow);
}

static int run_run(int argc, char **argv)
{
	struct run_arguments arguments = {0};
	struct suppressions suppressions;
	struct error err = {0};
	int status;

	campaign_options_init(&arguments.options);
	arguments.given = argv + 1;
	arguments.options.workers = 0; /* all cores */
	arguments.silent_ns = CLUSTER_SILENT_STANDARD_NS;
	argp_parse(&run_argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	if (read_suppressions(&arguments, &suppressions, &err) < 0 ||
		settle_memory(&arguments, &err) < 0 ||
		run_place_enter(&arguments.place, &arguments.options, &err) < 0)
		status = command_fail("%s", err.text);
	else if (arguments.follows_children)
		status = cmd_run_follow(&arguments, argv);
	else
		status = cmd_run_explore(&arguments, &suppressions);
	suppressions_release(&suppressions);
	settings_release(&arguments.options.settings);
	run_place_release(&arguments.place);
	return status;
}

const struct command command_run = {
	.name = "run",
	.summary = "explore schedules of a program until one fails or the budget ends",
	.argp = &run_argp,
	.run = run_run,
};
