#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "process/launch.h"
#include "store/store.h"
#include "plan/strategy_option.h"
#include "cli/command.h"
#include "commands/explain/explain_result.h"
#include "commands/findings/recorded_environment.h"
#include "commands/explain/explain_work.h"
#include "cli/next_command.h"
#include "cli/terminal.h"

/* Maximum number of listed patterns; of more, only the count is reported. */
#define PATTERNS_LISTED 2000u
#define PATTERNS_KEPT 100u

struct explain_arguments {
	const char *finding;
	const char *directory;
	const char *strategy;
	struct explain_options options;
	struct explain_work work;
	bool is_json;
	bool is_trusted;
	bool is_measuring;
	bool is_quiet;
};

static const struct command_option explain_options[] = {
	OPTION_HEADING("Which runs are compared:"),
	{"runs", 0, "N", "Number of runs; more until enough of them failed and enough passed (100)",
		OPTION_NUMBER(explain_arguments, work.runs, 1, 1000000)},
	{"exactly", 0, NULL, "No more runs than --runs",
		OPTION_OF(FLAG, explain_arguments, work.is_exact)},
	{"time", 0, "TIME",
		"End after this time, such as 30s, 2m (60s); the comparison takes at most half of it",
		OPTION_OF(TIME, explain_arguments, work.time_ns)},
	{"strategy", 's', "NAME[,OPTION=N...]",
		"Strategy that chooses the next thread (portfolio,even=1)",
		OPTION_OF(TEXT, explain_arguments, strategy)},
	{"seed", 0, "N", "Seed of the random numbers; the same seed gives the same runs (1)",
		OPTION_NUMBER(explain_arguments, options.seed, 0, UINT64_MAX)},
	{"jobs", 'j', "N",
		"Number of runs in parallel; the result does not depend on it (all cores)",
		OPTION_NUMBER(explain_arguments, options.workers, 1, 128)},
	OPTION_HEADING("How patterns are found and ranked:"),
	{"window", 0, "N",
		"Search for patterns among the last N accesses to a variable, 2 to 64 (10)",
		OPTION_NUMBER(explain_arguments, options.window, 2, 64)},
	{"suspicion", 0, "jaccard|tarantula|ochiai|avio|plain",
		"Formula of the ranking; avio and plain are for comparison (jaccard)",
		OPTION_OF(CHOICE, explain_arguments, work.suspicion)},
	{"patterns", 0, "N", "Keep at most N different patterns (100000)",
		OPTION_NUMBER(explain_arguments, work.limit, 1, 10000000)},
	OPTION_HEADING("What is done with the first patterns:"),
	{"answers", 0, "N", "Print N explanations in full, at most 8 (3)",
		OPTION_NUMBER(explain_arguments, work.answers, 1, EXPLAIN_ANSWERS_MAX)},
	{"no-cause", 0, NULL,
		"Do not force and forbid the first patterns in new runs to find the cause",
		OPTION_OF(FLAG, explain_arguments, work.without_cause)},
	OPTION_HEADING("Output and store:"),
	{"json", 0, NULL, "Everything, as JSON on standard output",
		OPTION_OF(FLAG, explain_arguments, is_json)},
	{"quiet", 'q', NULL, "Only the explanations",
		OPTION_OF(QUIET, explain_arguments, is_quiet)},
	{"store", 0, "DIR", "The store is DIR/.raddle (.)",
		OPTION_OF(TEXT, explain_arguments, directory)},
	{"trust", 0, NULL, "Run somebody else's finding without asking",
		OPTION_OF(FLAG, explain_arguments, is_trusted)},
	{"measure", 0, NULL,
		"Instead: how much longer --runs N take for recording patterns (bench/explain)",
		OPTION_OF(HIDDEN_FLAG, explain_arguments, is_measuring)},
	{0},
};

static void cmd_explain_say_next(
	const struct finding *finding, const struct explain_arguments *arguments)
{
	STRBUF_SCOPED words = STRBUF_EMPTY, program = STRBUF_EMPTY;

	next_add_store(&words, arguments->directory);
	if (*finding->shown_by) {
		terminal_hint("next: raddle explain %s%s, to see which memory orders suffice\n",
			finding->shown_by, words.text);
		return;
	}
	if (finding->kind == OUTCOME_WEAK) {
		next_add_program(&program, finding->argv);
		terminal_hint(
			"next: raddle run --memory-model %s%s%s; then explain the failure that it finds, to see which memory orders suffice\n",
			memory_model_words[finding->code], words.text, program.text);
		return;
	}
	terminal_hint("next: raddle replay %s%s --trace\n"
		      "  or: raddle report %s%s --html > %s.html\n",
		finding->id, words.text, finding->id, words.text, finding->id);
}

static int cmd_explain_say(
	const struct explain_result *result, const struct explain_arguments *arguments)
{
	const bool is_json = arguments->is_json;
	FREE_SCOPED char *text = NULL;

	terminal_hint("%s", result->notes.text);
	if (explain_is_disturbed(result->explain))
		terminal_hint(
			"note: a run beside other processes of the program did not repeat alone; from then on raddle made one run at a time, as with -j 1\n");
	if (!is_json) {
		explain_print(result, stdout);
		(void)fflush(stdout); /* main checks the stream */
		cmd_explain_say_next(result->finding, arguments);
		return EXIT_NOTHING_FOUND;
	}
	text = explain_to_json(result, PATTERNS_LISTED);
	(void)puts(text); /* main checks the stream */
	return EXIT_NOTHING_FOUND;
}

/* Saves the explanation for `raddle report`; an unwritable store is no failure. */
static void cmd_explain_keep(
	const struct explain_result *result, const struct explain_arguments *arguments)
{
	char id[sizeof result->finding->id];
	struct store_document document = {.kind = "explain", .finding = id};
	struct store *store;
	struct error err;
	int status = store_open(&store, arguments->directory, STORE_WRITE, &err);

	memcpy(id, result->finding->id, sizeof id);
	if (status == 0) {
		document.text = explain_to_json(result, PATTERNS_KEPT);
		status = store_keep_document(store, &document, &err);
		free(document.text);
		store_close(store);
	}
	if (status < 0)
		terminal_hint("note: the explanation was not stored: %s\n", err.text);
}

static int cmd_explain_measure(
	const struct finding *finding, const struct explain_arguments *arguments)
{
	struct explain_cost cost;
	struct error err;

	if (explain_measure_cost(&cost, finding, &arguments->options, arguments->work.runs, &err) <
		0)
		return command_fail("%s", err.text);
	(void)printf("{\"runs\": %llu, \"with_ns\": %llu, \"without_ns\": %llu}\n",
		(unsigned long long)arguments->work.runs, (unsigned long long)cost.with_ns,
		(unsigned long long)cost.without_ns); /* main checks the stream */
	return EXIT_NOTHING_FOUND;
}

static int cmd_explain_finding(
	const struct finding *finding, const struct explain_arguments *arguments)
{
	struct explain_result result;
	struct error err;
	int status;

	if (explain_work(&result, finding, &arguments->options, &arguments->work, &err) < 0)
		return command_fail("%s", err.text);
	cmd_explain_keep(&result, arguments);
	status = cmd_explain_say(&result, arguments);
	explain_result_release(&result);
	return status;
}

static int cmd_explain_run_command(int argc, char **argv)
{
	struct explain_arguments arguments = {.directory = ".",
		.strategy = STRATEGY_STANDARD ",even=1",
		.work = {.runs = 100,
			.time_ns = UINT64_C(60000000000),
			.limit = 100000,
			.answers = 3},
		.options = {.seed = 1, .is_interrupted = command_interruption()}};
	struct recorded_source source;
	struct finding finding;
	struct error err;
	FREE_SCOPED char *runtime = NULL;
	int status;

	options_parse(&command_explain, argc, argv, &arguments);
	arguments.work.time_ns = command_limit_time(arguments.work.time_ns);
	if (strategy_parse(arguments.strategy, &arguments.options.strategy,
		    &arguments.options.strategy_config, &err) < 0 ||
		launch_find_runtime(&runtime, &err) < 0)
		return command_fail("%s", err.text);
	arguments.options.runtime = runtime;
	source = (struct recorded_source){.id = arguments.finding,
		.directory = arguments.directory,
		.is_trusted = arguments.is_trusted};
	if (recorded_finding_load(&finding, &source, &err) < 0)
		return command_fail("%s", err.text);
	status = arguments.is_measuring ? cmd_explain_measure(&finding, &arguments)
					: cmd_explain_finding(&finding, &arguments);
	finding_release(&finding);
	return status;
}

const struct command command_explain = {
	.name = "explain",
	.summary = "find the order of accesses that causes a failure",
	.doc = "Runs the finding's program many times, ranks the orders of accesses to shared "
	       "variables by how well they separate failing runs from passing ones, and forces and "
	       "forbids the first of them in new runs to find the cause.\v"
	       "Exit status: 0 the failure was explained, as far as possible, 2 raddle could not "
	       "work.",
	.usage = "FINDING",
	.options = explain_options,
	.operands = {OPERANDS_WORD, offsetof(struct explain_arguments, finding),
		"no finding given; `raddle list findings` shows them"},
	.run = cmd_explain_run_command,
};
