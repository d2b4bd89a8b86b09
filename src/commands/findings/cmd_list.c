#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "analyses/analysis.h"
#include "store/store.h"
#include "cli/command.h"
#include "cli/terminal.h"
#include "strategies/strategy.h"

struct list_arguments {
	const char *what;
	const char *directory;
	bool is_json, is_quiet;
};

static const struct command_option list_options[] = {
	{"store", 0, "DIR", "The store is DIR/.raddle (.)",
		OPTION_OF(TEXT, list_arguments, directory)},
	{"quiet", 'q', NULL, "No hint if the list is empty",
		OPTION_OF(QUIET, list_arguments, is_quiet)},
	{"json", 0, NULL, "As a JSON array", OPTION_OF(FLAG, list_arguments, is_json)},
	{0},
};

static int cmd_list_strategies(void)
{
	for (uint32_t i = 0; i < strategy_count; i++) {
		const struct strategy_option *option = strategies[i]->options;

		(void)printf("%-12s %s\n", strategies[i]->name, strategies[i]->summary);
		for (; option && option->name; option++)
			(void)printf("%-12s   %s=%lld: %s (%lld to %lld)\n", "", option->name,
				(long long)option->standard, option->help, (long long)option->least,
				(long long)option->most);
	}
	return 0;
}

static int cmd_list_analyses(void)
{
	for (uint32_t i = 0; i < analysis_count; i++)
		(void)printf("%-12s %s\n", analyses[i]->name, analyses[i]->summary);
	return 0;
}

static int cmd_list_print_json(json_t *array)
{
	FREE_SCOPED char *text = json_dumps(array, JSON_INDENT(1));

	json_decref(array);
	if (!text)
		return command_fail(
			"the content of the store cannot be written as JSON; `raddle list` without --json shows it");
	(void)puts(text); /* main checks the stream */
	return 0;
}

static json_t *cmd_list_finding_to_row(const struct store_finding_row *row)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I}", "id", row->id, "kind", row->kind,
		"title", row->title, "command", row->command, "times_seen",
		(json_int_t)row->times_seen, "campaign", (json_int_t)row->campaign, "found",
		(json_int_t)row->found);
}

/* Returns the first campaign of the command that made this campaign; 0: this campaign is the
 * first. */
static json_int_t cmd_list_part_of(const struct store_campaign *row)
{
	json_auto_t *options = row->options ? json_loads(row->options, 0, NULL) : NULL;

	return json_integer_value(json_object_get(options, "part_of"));
}

static json_t *cmd_list_campaign_to_row(const struct store_campaign *row)
{
	return json_pack("{s:I, s:I, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:I}", "id",
		(json_int_t)row->id, "part_of", cmd_list_part_of(row), "command", row->command,
		"state", row->state, "strategy", row->strategy, "seed", (json_int_t)row->seed,
		"schedules", (json_int_t)row->runs, "failures", (json_int_t)row->failures, "steps",
		(json_int_t)row->steps, "seconds", row->seconds, "started",
		(json_int_t)row->started);
}

static void cmd_list_format_day(int64_t seconds, char *text, size_t size)
{
	time_t when = (time_t)seconds;
	struct tm parts;

	if (!localtime_r(&when, &parts) || !strftime(text, size, "%Y-%m-%d %H:%M", &parts))
		(void)snprintf(text, size, "?");
}

static int cmd_list_findings(struct store *store, bool is_json)
{
	json_t *array = json_array();
	struct store_finding_row *rows;
	struct error err;
	uint32_t count;

	if (store_list_findings(store, &rows, &count, &err) < 0) {
		json_decref(array);
		return command_fail("%s", err.text);
	}
	for (uint32_t i = 0; i < count; i++)
		if (is_json)
			(void)json_array_append_new(array, cmd_list_finding_to_row(&rows[i]));
		else
			(void)printf("%-5s %-16s %s (seen %llu time%s; %s)\n", rows[i].id,
				rows[i].kind, rows[i].title, (unsigned long long)rows[i].times_seen,
				rows[i].times_seen == 1 ? "" : "s", rows[i].command);
	store_rows_free(rows, count);
	if (is_json)
		return cmd_list_print_json(array);
	json_decref(array);
	if (!count)
		terminal_hint("no findings yet; next: raddle run -- PROGRAM\n");
	return 0;
}

static int cmd_list_campaigns(struct store *store, bool is_json)
{
	json_t *array = json_array();
	FREE_SCOPED struct store_campaign *rows = NULL;
	struct error err;
	uint32_t count;

	if (store_list_campaigns(store, &rows, &count, &err) < 0) {
		json_decref(array);
		return command_fail("%s", err.text);
	}
	for (uint32_t i = 0; i < count; i++) {
		const json_int_t whole = cmd_list_part_of(&rows[i]);
		char day[32], in_part[48] = "";

		if (whole)
			(void)snprintf(
				in_part, sizeof in_part, "  part of C%lld: ", (long long)whole);
		cmd_list_format_day(rows[i].started, day, sizeof day);
		if (is_json)
			(void)json_array_append_new(array, cmd_list_campaign_to_row(&rows[i]));
		else
			(void)printf("%sC%-4lld %s %-11s %llu schedules, %llu failures, %s: %s\n",
				in_part, (long long)rows[i].id, day, rows[i].state,
				(unsigned long long)rows[i].runs,
				(unsigned long long)rows[i].failures, rows[i].strategy,
				rows[i].command);
		store_campaign_release(&rows[i]);
	}
	if (is_json)
		return cmd_list_print_json(array);
	json_decref(array);
	if (!count)
		terminal_hint("no campaigns yet; next: raddle run -- PROGRAM\n");
	return 0;
}

static int cmd_list_run(int argc, char **argv)
{
	struct list_arguments arguments = {.directory = "."};
	struct store *store;
	struct error err;
	int status;

	options_parse(&command_list, argc, argv, &arguments);
	if (strcmp(arguments.what, "strategies") == 0)
		return cmd_list_strategies();
	if (strcmp(arguments.what, "analyses") == 0)
		return cmd_list_analyses();
	if (strcmp(arguments.what, "findings") != 0 && strcmp(arguments.what, "campaigns") != 0)
		return command_fail(
			"no list of %s; there are strategies, analyses, findings and campaigns",
			arguments.what);
	if (store_open(&store, arguments.directory, STORE_READ, &err) < 0)
		return command_fail("%s", err.text);
	status = strcmp(arguments.what, "findings") == 0
			 ? cmd_list_findings(store, arguments.is_json)
			 : cmd_list_campaigns(store, arguments.is_json);
	store_close(store);
	return status;
}

const struct command command_list = {
	.name = "list",
	.summary = "list strategies, or the findings and campaigns of the store",
	.doc = "Lists the strategies that choose schedules, the analyses that predict failures, or the findings or campaigns of the store.",
	.usage = "strategies|analyses|findings|campaigns",
	.options = list_options,
	.operands = {OPERANDS_WORD, offsetof(struct list_arguments, what),
		"no list given; there are strategies, analyses, findings and campaigns"},
	.run = cmd_list_run,
};
