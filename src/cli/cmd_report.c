#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "campaign/store.h"
#include "cli/command.h"
#include "cli/number.h"
#include "cli/show_finding.h"
#include "cli/terminal.h"
#include "report/format.h"

enum { OPTION_STORE = 256, OPTION_FORMAT };

/* One for each format, filled by add_formats(). */
static struct argp_option report_options[FORMAT_COUNT + 3] = {
	[FORMAT_COUNT] = {"store", OPTION_STORE, "DIR", 0, "The store is DIR/.raddle (.)", 0},
	[FORMAT_COUNT + 1] = {"quiet", 'q', NULL, 0, "No hints where there is nothing", 0},
};

struct report_arguments {
	const char *what;
	const char *directory;
	const struct report_format *format; /* NULL: text for people */
};

__attribute__((constructor)) static void add_formats(void)
{
	for (int i = 0; i < FORMAT_COUNT; i++)
		report_options[i] = (struct argp_option){.name = report_formats[i]->name,
			.key = OPTION_FORMAT + i,
			.doc = report_formats[i]->summary};
}

static error_t parse_report(int key, char *text, struct argp_state *state)
{
	struct report_arguments *arguments = state->input;

	if (key >= OPTION_FORMAT && key < OPTION_FORMAT + FORMAT_COUNT) {
		if (arguments->format && arguments->format != report_formats[key - OPTION_FORMAT])
			argp_error(state, "one format at a time");
		arguments->format = report_formats[key - OPTION_FORMAT];
		return 0;
	}
	switch (key) {
	case 'q':
		terminal_be_quiet();
		return 0;
	case OPTION_STORE:
		arguments->directory = text;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->what)
			argp_error(state, "one report at a time");
		arguments->what = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "of what? a finding such as F1, or a campaign such as C1; "
				  "`raddle list findings` shows them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp report_argp = {
	.options = report_options,
	.parser = parse_report,
	.args_doc = "FINDING|CAMPAIGN|all",
	.doc = "Prints a finding, a campaign with its findings, or all findings of the store.",
};

static void describe(const struct store_campaign *from, struct report_campaign *to)
{
	*to = (struct report_campaign){
		.id = from->id,
		.command = from->command,
		.options = from->options,
		.course = from->course,
		.strategy = from->strategy,
		.state = from->state,
		.restart = from->restart,
		.seed = from->seed,
		.runs = from->runs,
		.failures = from->failures,
		.steps = from->steps,
		.seconds = from->seconds,
		.started = from->started,
	};
}

static void print(const struct report_arguments *arguments, const struct report_campaign *campaign,
	const struct finding *findings, uint32_t count)
{
	const struct report report = {campaign, findings, count, RADDLE_RELEASE};
	char *text;

	if (arguments->format) {
		text = arguments->format->make(&report);
		(void)fputs(text, stdout); /* main checks the stream */
		free(text);
		return;
	}
	if (campaign)
		(void)printf("C%lld %s: %s, strategy %s, seed %llu, %llu schedules in %.1f s, "
			     "%llu failed\n",
			(long long)campaign->id, campaign->command, campaign->state,
			campaign->strategy, (unsigned long long)campaign->seed,
			(unsigned long long)campaign->runs, campaign->seconds,
			(unsigned long long)campaign->failures);
	for (uint32_t i = 0; i < count; i++)
		show_finding(&findings[i], stdout);
	if (!count)
		terminal_hint("no findings; next: raddle list findings\n");
}

static int report_one(
	struct store *store, const struct report_arguments *arguments, struct error *err)
{
	struct finding finding;
	int result = store_load_finding(store, arguments->what, &finding, err);

	if (result < 0)
		return result;
	print(arguments, NULL, &finding, 1);
	finding_release(&finding);
	return 0;
}

#define ALL_CAMPAIGNS -1

/* The findings that were first seen in this campaign. */
static int load_findings(struct store *store, int64_t campaign, struct finding **findings,
	uint32_t *count, struct error *err)
{
	struct store_finding_row *rows;
	uint32_t row_count;
	int result = store_list_findings(store, &rows, &row_count, err);

	*findings = NULL;
	*count = 0;
	if (result < 0)
		return result;
	*findings = calloc(row_count + 1, sizeof **findings);
	for (uint32_t i = 0; *findings && i < row_count && result == 0; i++) {
		if (campaign != ALL_CAMPAIGNS && rows[i].campaign != campaign)
			continue;
		result = store_load_finding(store, rows[i].id, &(*findings)[*count], err);
		*count += result == 0;
	}
	store_rows_free(rows, row_count);
	return *findings ? result : error_set(err, ERROR_NOMEM, "out of memory");
}

static int report_all(
	struct store *store, const struct report_arguments *arguments, struct error *err)
{
	struct finding *findings;
	uint32_t count;
	int result = load_findings(store, ALL_CAMPAIGNS, &findings, &count, err);

	if (result == 0)
		print(arguments, NULL, findings, count);
	for (uint32_t i = 0; i < count; i++)
		finding_release(&findings[i]);
	free(findings);
	return result;
}

static int report_found_campaign(struct store *store, const struct report_arguments *arguments,
	const struct store_campaign *row, struct error *err)
{
	struct report_campaign campaign;
	struct finding *findings;
	uint32_t count;
	int result = load_findings(store, row->id, &findings, &count, err);

	if (result == 0) {
		describe(row, &campaign);
		print(arguments, &campaign, findings, count);
	}
	for (uint32_t i = 0; i < count; i++)
		finding_release(&findings[i]);
	free(findings);
	return result;
}

static int report_campaign(
	struct store *store, const struct report_arguments *arguments, struct error *err)
{
	struct store_campaign *rows;
	uint64_t wanted = 0;
	uint32_t count;
	bool is_found = false;
	int result;

	if (!number_parse(arguments->what + 1, 1, INT64_MAX, &wanted))
		return error_set(err, ERROR_USAGE,
			"%s is no campaign; `raddle list campaigns` shows them", arguments->what);
	result = store_list_campaigns(store, &rows, &count, err);
	if (result < 0)
		return result;
	for (uint32_t i = 0; i < count; i++) {
		if ((uint64_t)rows[i].id == wanted && result == 0) {
			is_found = true;
			result = report_found_campaign(store, arguments, &rows[i], err);
		}
		store_campaign_release(&rows[i]);
	}
	free(rows);
	if (result == 0 && !is_found)
		return error_set(err, ERROR_NOTFOUND,
			"no campaign %s here; `raddle list campaigns` shows them", arguments->what);
	return result;
}

static int report_run(int argc, char **argv)
{
	struct report_arguments arguments = {.directory = "."};
	struct store *store;
	struct error err;
	int result;

	argp_parse(&report_argp, argc, argv, 0, NULL, &arguments);
	if (store_open(&store, arguments.directory, false, &err) < 0)
		return command_fail("%s", err.text);
	if (strcmp(arguments.what, "all") == 0)
		result = report_all(store, &arguments, &err);
	else
		result = arguments.what[0] == 'C' ? report_campaign(store, &arguments, &err)
						  : report_one(store, &arguments, &err);
	store_close(store);
	return result < 0 ? command_fail("%s", err.text) : 0;
}

const struct command command_report = {
	.name = "report",
	.summary = "print a finding, a campaign with its findings, or all findings",
	.argp = &report_argp,
	.run = report_run,
};
