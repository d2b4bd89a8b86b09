#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "campaign/store.h"
#include "cli/command.h"
#include "strategies/strategy.h"

#define OPTION_STORE 256

static const struct argp_option list_options[] = {
	{"store", OPTION_STORE, "DIR", 0, "The store is DIR/.raddle (.)", 0},
	{0},
};

struct list_arguments {
	const char *what;
	const char *directory;
};

static error_t parse_list(int key, char *text, struct argp_state *state)
{
	struct list_arguments *arguments = state->input;

	switch (key) {
	case OPTION_STORE:
		arguments->directory = text;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->what)
			argp_error(state, "one list at a time");
		arguments->what = text;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which list? strategies, findings or campaigns");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp list_argp = {
	.options = list_options,
	.parser = parse_list,
	.args_doc = "strategies|findings|campaigns",
	.doc = "Lists the strategies that choose schedules, or what is in the store.",
};

static int list_strategies(void)
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

static void format_day(int64_t seconds, char *text, size_t size)
{
	time_t when = (time_t)seconds;
	struct tm parts;

	if (!localtime_r(&when, &parts) || !strftime(text, size, "%Y-%m-%d %H:%M", &parts))
		(void)snprintf(text, size, "?");
}

static int list_findings(struct store *store)
{
	struct store_finding_row *rows;
	struct error err;
	uint32_t count;

	if (store_list_findings(store, &rows, &count, &err) < 0)
		return command_fail("%s", err.text);
	for (uint32_t i = 0; i < count; i++)
		(void)printf("%-5s %-16s %s (seen %llu times; %s)\n", rows[i].id, rows[i].kind,
			rows[i].title, (unsigned long long)rows[i].times_seen, rows[i].command);
	store_rows_free(rows, count);
	if (!count)
		(void)fprintf(stderr, "no findings yet; next: raddle run -- PROGRAM\n");
	return 0;
}

static int list_campaigns(struct store *store)
{
	struct store_campaign *rows;
	struct error err;
	uint32_t count;

	if (store_list_campaigns(store, &rows, &count, &err) < 0)
		return command_fail("%s", err.text);
	for (uint32_t i = 0; i < count; i++) {
		char day[32];

		format_day(rows[i].started, day, sizeof day);
		(void)printf("C%-4lld %s %-11s %llu schedules, %llu failures, %s: %s\n",
			(long long)rows[i].id, day, rows[i].state, (unsigned long long)rows[i].runs,
			(unsigned long long)rows[i].failures, rows[i].strategy, rows[i].command);
		store_campaign_release(&rows[i]);
	}
	free(rows);
	if (!count)
		(void)fprintf(stderr, "no campaigns yet; next: raddle run -- PROGRAM\n");
	return 0;
}

static int list_run(int argc, char **argv)
{
	struct list_arguments arguments = {.directory = "."};
	struct store *store;
	struct error err;
	int status;

	argp_parse(&list_argp, argc, argv, 0, NULL, &arguments);
	if (strcmp(arguments.what, "strategies") == 0)
		return list_strategies();
	if (strcmp(arguments.what, "findings") != 0 && strcmp(arguments.what, "campaigns") != 0)
		return command_fail("no list of %s; there are strategies, findings and campaigns",
			arguments.what);
	if (store_open(&store, arguments.directory, false, &err) < 0)
		return command_fail("%s", err.text);
	status = strcmp(arguments.what, "findings") == 0 ? list_findings(store)
							 : list_campaigns(store);
	store_close(store);
	return status;
}

const struct command command_list = {
	.name = "list",
	.summary = "list strategies, or the findings and campaigns of the store",
	.argp = &list_argp,
	.run = list_run,
};
