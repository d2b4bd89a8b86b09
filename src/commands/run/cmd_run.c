#include <stdio.h>

#include "explore/campaign.h"
#include "process/launch.h"
#include "process/target.h"
#include "cli/command.h"
#include "cli/next_command.h"
#include "commands/follow/follow_children.h"
#include "commands/run/run_arguments.h"
#include "commands/run/run_like.h"
#include "commands/run/run_options.h"
#include "commands/run/run_report.h"
#include "parallel/remote/cluster.h"
#include "plan/memory/memory_view.h"

#include "base/array.h"
#include "base/strbuf.h"

struct run_command {
	struct run_arguments arguments;
	struct run_like like;
};

/* --like chooses the strategy, and which race is a failure. */
static int cmd_run_read_like(struct run_command *command, struct error *err)
{
	struct run_arguments *arguments = &command->arguments;

	if (!arguments->like)
		return 0;
	if (arguments->strategy || arguments->bounds || arguments->is_mpi ||
		arguments->options.shards)
		return error_set(err, ERROR_USAGE,
			"--like chooses the schedules itself; leave --strategy, --bounds, --shard and --mpi out");
	arguments->options.settings.races.are_failures = true;
	arguments->memory = memory_mode_words[MEMORY_LEARN];
	return run_like_read(&command->like, arguments->like, arguments->options.argv[0], err);
}

/* Runs the campaign. A process with --mpi is one of many, of which only rank 0 prints. */
static int cmd_run_campaign(struct run_command *command, struct run_report *report,
	struct campaign_result *result, bool *is_member, struct error *err)
{
	const struct run_arguments *arguments = &command->arguments;
	struct campaign_options *options = &command->arguments.options;
	struct campaign_listener listener;
	const struct link *link;

	*is_member = false;
	run_report_listen(report, &listener);
	if (arguments->like && run_like_apply(&command->like, options, &listener, err) < 0)
		return err->code;
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

static int cmd_run_explore(struct run_command *command)
{
	const struct run_arguments *arguments = &command->arguments;
	struct campaign_options *options = &command->arguments.options;
	struct run_report report;
	struct campaign_result result;
	struct error err = {0};
	FREE_SCOPED char *runtime = NULL;
	bool is_member;
	int status;

	if (launch_find_runtime(&runtime, &err) < 0)
		return command_fail("%s", err.text);
	options->runtime = runtime;
	options->is_interrupted = command_interruption();
	options->forwards_signals = options->schedules == 1 && !arguments->is_mpi;
	/* MPI ranks would each make this decision, and could differ. With --like, the run fails because raddle
	 * drives it, whatever the clocks are. */
	options->tries_real_clocks = !arguments->is_mpi && !arguments->like;
	run_report_init(&report, options, arguments->is_json, arguments->is_quiet);
	report.given = arguments->given;
	report.program = arguments->program;
	report.store = arguments->store;
	/* As a launcher of tests: its caller reads the output of a program that only lists them. */
	if (arguments->is_quiet && !arguments->is_json && !options->show_output)
		options->output = &report.output;
	if (cmd_run_campaign(command, &report, &result, &is_member, &err) < 0) {
		status = command_fail("%s", err.text);
		if (report.last_id[0] && !report.is_json)
			status = EXIT_FAILURE_FOUND; /* the result is already printed */
		run_report_release(&report);
	} else if (is_member) {
		run_report_release(&report);
		status = EXIT_NOTHING_FOUND;
	} else {
		if (arguments->like && !arguments->is_quiet && !arguments->is_json)
			run_like_report(&command->like, &result);
		status = run_report_finish(&report, &result);
	}
	return status;
}

static int cmd_run_follow(const struct run_arguments *arguments, bool is_script)
{
	static const char *const dropped[] = {"follow-children", "directory", NULL};
	const struct campaign_options *options = &arguments->options;
	char **given =
		next_select_given(arguments->given, arguments->program, run_options, dropped);
	const struct follow_children follow = {.options = given,
		.argv = options->argv,
		.origin = arguments->folder.origin,
		.pattern = arguments->followed && *arguments->followed ? arguments->followed : NULL,
		.is_script = is_script,
		.store = arguments->store,
		.folder = options->directory,
		.has_input = options->settings.input,
		.is_json = arguments->is_json,
		.is_quiet = arguments->is_quiet,
		.show_output = options->show_output};
	int status;

	if (!arguments->followed && !arguments->is_quiet)
		(void)fprintf(stderr,
			"%s is a script: it runs once, natively, and each program that it starts and that makes threads is explored\n",
			options->argv[0]);
	status = follow_children_run(&follow);
	strings_free(given);
	return status;
}

static int cmd_run_start(struct run_command *command)
{
	const struct run_arguments *arguments = &command->arguments;
	const bool is_script = !arguments->is_mpi && target_is_script(arguments->options.argv[0]);

	return is_script || arguments->followed ? cmd_run_follow(arguments, is_script)
						: cmd_run_explore(command);
}

static int cmd_run_run(int argc, char **argv)
{
	struct run_command command = {0};
	struct run_arguments *arguments = &command.arguments;
	struct suppressions suppressions = {0};
	struct error err = {0};
	int status;

	campaign_options_init(&arguments->options);
	arguments->given = argv + 1;
	arguments->options.workers = 0; /* all cores */
	arguments->silent_ns = CLUSTER_SILENT_STANDARD_NS;
	options_parse(&command_run, argc, argv, &command);
	arguments->options.argv = arguments->program;
	arguments->options.shard = arguments->shard.index;
	arguments->options.shards = arguments->shard.count;
	if (cmd_run_read_like(&command, &err) < 0 ||
		run_arguments_settle(arguments, &suppressions, &err) < 0 ||
		run_folder_enter(&arguments->folder, &arguments->options, &err) < 0)
		status = command_fail("%s", err.text);
	else
		status = cmd_run_start(&command);
	suppressions_release(&suppressions);
	run_like_release(&command.like);
	settings_release(&arguments->options.settings);
	run_folder_release(&arguments->folder);
	return status;
}

const struct command command_run = {
	.name = "run",
	.summary = "explore schedules of a program until one fails or the budget ends",
	.doc = "Runs PROGRAM under many schedules until one of them fails or the budget ends. A "
	       "failure is replayed, minimised, stored and explained.\v"
	       "Signals: SIGINT, SIGTERM and SIGHUP end the campaign. With --schedules 1 raddle passes them on "
	       "to the program, together with SIGUSR1, SIGUSR2, SIGALRM, SIGQUIT, SIGCONT, SIGWINCH and "
	       "the real-time signals. A second SIGINT or SIGTERM then ends both.\n"
	       "Exit status: 0 no failure was found, 1 a failure was found, 2 raddle could not work; the status of --skip-status: all runs ended with this status.",
	.usage = "-- PROGRAM [ARG...]",
	.options = run_options,
	.operands = {OPERANDS_PROGRAM, offsetof(struct run_command, arguments.program),
		"no program given; raddle run -- PROGRAM [ARG...]"},
	.run = cmd_run_run,
};
