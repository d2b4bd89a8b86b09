#include <stdbool.h>
#include <stdio.h>

#include "base/array.h"
#include "process/launch.h"
#include "investigate/replay.h"
#include "cli/command.h"
#include "commands/findings/recorded_environment.h"
#include "cli/next_command.h"
#include "commands/findings/show_finding.h"
#include "cli/terminal.h"

struct replay_arguments {
	const char *finding;
	const char *directory;
	const char *schedule;
	bool is_gdb;
	bool is_trace;
	bool has_callers;
	bool is_trusted;
	bool is_quiet;
};

static const struct command_option replay_options[] = {
	{"gdb", 0, NULL, "Run under gdb, with real threads; gdb stops at the failure",
		OPTION_OF(FLAG, replay_arguments, is_gdb)},
	{"trace", 0, NULL, "Print the interleaving step by step",
		OPTION_OF(FLAG, replay_arguments, is_trace)},
	{"callers", 0, NULL,
		"As --trace, with the calls around each step, and with each access inside libraries",
		OPTION_OF(FLAG, replay_arguments, has_callers)},
	{"schedule", 0, "FILE",
		"Follow this schedule instead of the finding's (its schedule.txt, edited)",
		OPTION_OF(TEXT, replay_arguments, schedule)},
	{"quiet", 'q', NULL, "Only the output of the program, and errors",
		OPTION_OF(QUIET, replay_arguments, is_quiet)},
	{"store", 0, "DIR", "The store is DIR/.raddle (.)",
		OPTION_OF(TEXT, replay_arguments, directory)},
	{"trust", 0, NULL, "Run somebody else's finding without asking",
		OPTION_OF(FLAG, replay_arguments, is_trusted)},
	{0},
};

/* `run`, `store`: what follows "raddle run" and the finding in suggested commands. */
static int cmd_replay_conclude(const struct finding *finding, const struct replay_result *result,
	const char *run, const char *store)
{
	const char *word = outcome_descriptions[result->outcome.kind].word;
	const char *model = memory_model_phrase(result->memory_model);

	(void)fflush(stdout); /* main checks the stream */
	if (!result->is_same && finding->kind != OUTCOME_VIOLATION)
		recorded_environment_compare(finding);
	if (result->has_diverged && !result->is_same) {
		return command_fail(
			"the schedule no longer fits the program (from step %llu on), which then ended: %s; has it been rebuilt? find it again: raddle run%s",
			(unsigned long long)result->diverged_step, word, run);
	}
	if (!result->is_failure && finding->kind == OUTCOME_VIOLATION) {
		terminal_hint(
			"%s: the same interleaving again; the run passed, as before; to see it: raddle replay %s%s --trace\n",
			finding->id, finding->id, store);
		return EXIT_NOTHING_FOUND;
	}
	if (!result->is_failure) {
		terminal_hint(
			"%s: the run passed%s; next: raddle run%s\n", finding->id, model, run);
		return EXIT_NOTHING_FOUND;
	}
	if (result->has_diverged)
		terminal_hint("note: the schedule fits the program only up to step %llu\n",
			(unsigned long long)result->diverged_step);
	if (result->is_same)
		terminal_hint("%s: failed again%s: %s; next: raddle replay %s%s --gdb\n",
			finding->id, model, finding->title ? finding->title : word, finding->id,
			store);
	else
		terminal_hint("%s: failed, but differently: %s (%d) instead of %s (%d)\n",
			finding->id, word, result->outcome.code,
			outcome_descriptions[finding->kind].word, finding->code);
	return EXIT_FAILURE_FOUND;
}

static int cmd_replay_once(const struct finding *finding, const struct replay_arguments *arguments,
	const struct replay_options *options)
{
	struct replay_result result;
	STRBUF_SCOPED run = STRBUF_EMPTY, store = STRBUF_EMPTY;
	struct error err;
	int status;

	if (arguments->is_gdb) {
		status = replay_under_gdb(finding, options, &err);
		return status < 0 ? command_fail("%s", err.text) : status;
	}
	/* Before the replay, which changes to the finding's folder. */
	next_add_finding(&run, finding, arguments->directory);
	next_add_store(&store, arguments->directory);
	if (replay_finding(finding, options, &result, &err) < 0)
		return command_fail("%s", err.text);
	if (options->is_traced) {
		show_interleaving(&result.traced, arguments->has_callers, stdout);
		finding_release(&result.traced);
	}
	return cmd_replay_conclude(finding, &result, run.text, store.text);
}

static int cmd_replay_run(int argc, char **argv)
{
	struct replay_arguments arguments = {.directory = "."};
	struct replay_options options = {0};
	struct recorded_source source;
	struct finding finding;
	struct error err;
	FREE_SCOPED char *runtime = NULL;
	int status;

	options_parse(&command_replay, argc, argv, &arguments);
	if (launch_find_runtime(&runtime, &err) < 0)
		return command_fail("%s", err.text);
	source = (struct recorded_source){.id = arguments.finding,
		.directory = arguments.directory,
		.schedule = arguments.schedule,
		.is_trusted = arguments.is_trusted};
	if (recorded_finding_load(&finding, &source, &err) < 0)
		return command_fail("%s", err.text);
	options.runtime = runtime;
	options.is_traced = arguments.is_trace || arguments.has_callers;
	options.is_interrupted = command_interruption();
	status = cmd_replay_once(&finding, &arguments, &options);
	finding_release(&finding);
	return status;
}

const struct command command_replay = {
	.name = "replay",
	.summary = "run the failing schedule of a finding again",
	.doc = "Runs the schedule of a finding again, the same every time, and prints the output of the program.\v"
	       "Exit status: 1 the failure happened again, 0 the run passed, 2 raddle could not "
	       "replay it.",
	.usage = "FINDING",
	.options = replay_options,
	.operands = {OPERANDS_WORD, offsetof(struct replay_arguments, finding),
		"no finding given; `raddle list findings` shows them"},
	.run = cmd_replay_run,
};
