#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/patterns.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "campaign/explain.h"
#include "campaign/launch.h"
#include "campaign/store.h"
#include "campaign/strategy_option.h"
#include "cli/command.h"
#include "cli/number.h"
#include "cli/terminal.h"

enum { OPTION_STORE = 256, OPTION_RUNS, OPTION_SEED, OPTION_WINDOW, OPTION_SUSPICION };

static const struct argp_option explain_options[] = {
	{"runs", OPTION_RUNS, "N", 0, "Compare at least N runs (100)", 0},
	{"strategy", 's', "NAME[,OPTION=N...]", 0,
		"Who chooses the next thread in them (portfolio)", 0},
	{"seed", OPTION_SEED, "N", 0, "Same seed, same runs (1)", 0},
	{"window", OPTION_WINDOW, "N", 0,
		"Look for patterns among the last N accesses to a variable (10)", 0},
	{"suspicion", OPTION_SUSPICION, "NAME", 0,
		"jaccard, tarantula, ochiai; to compare with: avio, plain (jaccard)", 0},
	{"store", OPTION_STORE, "DIR", 0, "The store is DIR/.raddle (.)", 0},
	{0},
};

struct explain_arguments {
	const char *finding;
	const char *directory;
	const char *strategy;
	uint64_t runs;
	enum suspicion suspicion;
	struct explain_options options;
};

static void parse_number(struct argp_state *state, const char *option, const char *text,
	uint64_t least, uint64_t most, uint64_t *out)
{
	if (!number_parse(text, least, most, out))
		argp_error(state, "%s wants a whole number from %llu to %llu, not %s", option,
			(unsigned long long)least, (unsigned long long)most, text);
}

static error_t parse_explain(int key, char *text, struct argp_state *state)
{
	struct explain_arguments *arguments = state->input;
	uint64_t number = 0;

	switch (key) {
	case 's':
		arguments->strategy = text;
		return 0;
	case OPTION_RUNS:
		parse_number(state, "--runs", text, 1, 1000000, &arguments->runs);
		return 0;
	case OPTION_SEED:
		parse_number(state, "--seed", text, 0, UINT64_MAX, &arguments->options.seed);
		return 0;
	case OPTION_WINDOW:
		parse_number(state, "--window", text, 2, 64, &number);
		arguments->options.window = (uint32_t)number;
		return 0;
	case OPTION_SUSPICION:
		if (!suspicion_parse(text, &arguments->suspicion))
			argp_error(state,
				"no suspicion %s; there are jaccard, tarantula, ochiai, avio, plain",
				text);
		return 0;
	case OPTION_STORE:
		arguments->directory = text;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->finding)
			argp_error(state, "one finding at a time");
		arguments->finding = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which finding? `raddle list findings` shows them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp explain_argp = {
	.options = explain_options,
	.parser = parse_explain,
	.args_doc = "FINDING",
	.doc = "Runs the finding's program many times and ranks the orders of accesses to shared "
	       "variables by how well they tell failing runs from passing ones.\v"
	       "Exit status: 0 there is an explanation or none was found, 2 raddle could not work.",
};

static int make_runs(struct explain *explain, const struct explain_arguments *arguments,
	struct pattern_ranking *ranking, struct error *err)
{
	int result = explain_learn(explain, err);

	for (uint64_t i = 0; result == 0 && i < arguments->runs; i++) {
		struct explain_run run;

		terminal_live("%llu of %llu runs, %u failed", (unsigned long long)i,
			(unsigned long long)arguments->runs, ranking->failed);
		result = explain_run(explain, &run, err);
		if (result == 0 && run.verdict != EXPLAIN_OTHER)
			pattern_ranking_add(ranking, run.patterns, run.pattern_count,
				run.verdict == EXPLAIN_FAILED);
	}
	terminal_clear_live();
	return result;
}

static uint64_t same_place(void *context, uint64_t site)
{
	(void)context;
	return site;
}

static void print_ranking(const struct explain *explain, const struct pattern_ranking *ranking)
{
	struct symbols *symbols = explain_symbols(explain);

	printf("%u runs: %u failed, %u passed; %u patterns\n", ranking->failed + ranking->passed,
		ranking->failed, ranking->passed, ranking->count);
	for (uint32_t i = 0; i < ranking->count && i < 20; i++) {
		const struct pattern_record *record = &ranking->records[i];
		struct strbuf text;

		strbuf_init(&text);
		for (unsigned a = 0; a < pattern_access_count(&record->pattern); a++) {
			uint64_t site = record->pattern.sites[a];

			strbuf_addf(&text, a ? ", " : "");
			if (symbols)
				symbols_describe_code(
					symbols, site, !symbols_is_point(symbols, site), &text);
		}
		printf("%5.1f %5u  %.3f  %u/%u  #%u %-10s %s\n", record->rank_mean,
			record->rank_worst, record->score, record->failed, record->passed,
			record->explanation, pattern_descriptions[record->pattern.kind].text,
			text.text);
		strbuf_release(&text);
	}
}

static int explain_finding(const struct finding *finding, struct explain_arguments *arguments)
{
	struct pattern_ranking ranking = {0};
	struct explain *explain;
	struct error err;
	int result = explain_open(&explain, finding, &arguments->options, &err);

	if (result < 0)
		return command_fail("%s", err.text);
	result = make_runs(explain, arguments, &ranking, &err);
	if (result == 0) {
		pattern_ranking_sort(&ranking, arguments->suspicion);
		pattern_ranking_explain(&ranking, same_place, NULL);
		print_ranking(explain, &ranking);
	}
	pattern_ranking_release(&ranking);
	explain_close(explain);
	return result < 0 ? command_fail("%s", err.text) : EXIT_NOTHING_FOUND;
}

static int load(
	const struct explain_arguments *arguments, struct finding *finding, struct error *err)
{
	struct store *store;
	int result = store_open(&store, arguments->directory, false, err);

	if (result < 0)
		return result;
	result = store_load_finding(store, arguments->finding, finding, err);
	store_close(store);
	return result;
}

static int explain_run_command(int argc, char **argv)
{
	struct explain_arguments arguments = {.directory = ".",
		.strategy = STRATEGY_STANDARD,
		.runs = 100,
		.options = {.seed = 1, .is_interrupted = command_interruption()}};
	struct finding finding;
	struct error err;
	char *runtime;
	int status;

	argp_parse(&explain_argp, argc, argv, 0, NULL, &arguments);
	if (strategy_parse(arguments.strategy, &arguments.options.strategy,
		    &arguments.options.strategy_config, &err) < 0 ||
		launch_find_runtime(&runtime, &err) < 0)
		return command_fail("%s", err.text);
	arguments.options.runtime = runtime;
	if (load(&arguments, &finding, &err) < 0) {
		free(runtime);
		return command_fail("%s", err.text);
	}
	status = explain_finding(&finding, &arguments);
	finding_release(&finding);
	free(runtime);
	return status;
}

const struct command command_explain = {
	.name = "explain",
	.summary = "rank the access patterns that separate failing from passing runs",
	.argp = &explain_argp,
	.run = explain_run_command,
};
