#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "store/store.h"
#include "cli/command.h"
#include "commands/findings/show_finding.h"
#include "cli/terminal.h"
#include "report/format.h"

#define SOURCE_ROOTS_MAX 16

struct report_arguments {
	const char *what;
	const char *directory;
	bool formats[FORMAT_COUNT];		  /* the requested formats: at most one */
	const struct report_format *format;	  /* NULL means text for people */
	char *source_roots[SOURCE_ROOTS_MAX + 1]; /* ended by NULL */
	bool is_quiet;
};

static int cmd_report_read_source_root(const char *text, void *roots, struct error *err)
{
	char **root = roots;

	for (int i = 0; i < SOURCE_ROOTS_MAX; i++, root++)
		if (!*root) {
			*root = (char *)text;
			return 0;
		}
	return error_set(
		err, ERROR_USAGE, "at most %d source roots; leave %s out", SOURCE_ROOTS_MAX, text);
}

/* cmd_report_add_formats() sets the rows before these. */
static struct command_option report_options[FORMAT_COUNT + 4] = {
	[FORMAT_COUNT] = {"store", 0, "DIR", "The store is DIR/.raddle (.)",
		OPTION_OF(TEXT, report_arguments, directory)},
	{"source-root", 0, "DIR", "Also read source files below DIR for somebody else's findings",
		OPTION_READ(report_arguments, source_roots, cmd_report_read_source_root)},
	{"quiet", 'q', NULL, "No hint if the store is empty",
		OPTION_OF(QUIET, report_arguments, is_quiet)},
};

__attribute__((constructor)) static void cmd_report_add_formats(void)
{
	for (int i = 0; i < FORMAT_COUNT; i++)
		report_options[i] = (struct command_option){.name = report_formats[i]->name,
			.help = report_formats[i]->summary,
			.value = {.kind = VALUE_FLAG,
				.at = offsetof(struct report_arguments, formats[i])}};
}

/* Campaigns have positive numbers. These values say that a report covers all of them, or none. */
#define ALL_CAMPAIGNS -1
#define NO_CAMPAIGN -2

struct gathered {
	struct finding *findings;
	int64_t *finding_campaigns; /* per finding: the campaign that found it first */
	uint32_t finding_count;
	struct store_campaign *campaigns; /* campaigns of the report, see struct report */
	uint32_t campaign_count;
	struct store_document *rows; /* all documents of the store */
	uint32_t row_count;
	/* The members of `rows` that describe the findings or the campaign of the report. Their texts are not
	 * copied, and are released with `rows`. */
	struct store_document *documents;
	uint32_t document_count;
};

static void cmd_report_gathered_release(struct gathered *gathered)
{
	for (uint32_t i = 0; i < gathered->finding_count; i++)
		finding_release(&gathered->findings[i]);
	for (uint32_t i = 0; i < gathered->campaign_count; i++)
		store_campaign_release(&gathered->campaigns[i]);
	free(gathered->campaigns);
	free(gathered->finding_campaigns);
	free(gathered->findings);
	free(gathered->documents);
	store_documents_free(gathered->rows, gathered->row_count);
}

static bool cmd_report_has_finding(const struct gathered *gathered, const char *id)
{
	for (uint32_t i = 0; i < gathered->finding_count; i++)
		if (!strcmp(gathered->findings[i].id, id))
			return true;
	return false;
}

static int cmd_report_add_finding(
	struct gathered *gathered, struct store *store, const char *id, struct error *err)
{
	struct finding finding;
	int result;

	if (cmd_report_has_finding(gathered, id))
		return 0;
	result = store_load_finding(store, id, &finding, err);
	if (result < 0)
		return result;
	ARRAY_APPEND(gathered->findings, gathered->finding_count, finding);
	return 0;
}

static int cmd_report_add_findings_of(
	struct gathered *gathered, struct store *store, int64_t campaign, struct error *err)
{
	struct store_finding_row *rows;
	uint32_t count;
	int result = store_list_findings(store, &rows, &count, err);

	if (result < 0)
		return result;
	for (uint32_t i = 0; i < count && result == 0; i++)
		if (campaign == ALL_CAMPAIGNS || rows[i].campaign == campaign)
			result = cmd_report_add_finding(gathered, store, rows[i].id, err);
	store_rows_free(rows, count);
	return result;
}

static int cmd_report_add_findings_named(
	struct gathered *gathered, struct store *store, json_t *value, struct error *err)
{
	const char *id = json_string_value(json_object_get(value, "finding"));
	int result = id && id[0] == 'F' ? cmd_report_add_finding(gathered, store, id, err) : 0;
	const char *key;
	json_t *part;
	size_t index;

	if (result == ERROR_NOTFOUND)
		result = 0; /* the finding was removed since; the document is still shown */
	json_object_foreach(value, key, part)
	{
		if (result == 0)
			result = cmd_report_add_findings_named(gathered, store, part, err);
	}
	json_array_foreach(value, index, part)
	{
		if (result == 0)
			result = cmd_report_add_findings_named(gathered, store, part, err);
	}
	return result;
}

static int cmd_report_add_findings_of_document(
	struct gathered *gathered, struct store *store, const char *text, struct error *err)
{
	json_auto_t *value = json_loads(text, 0, NULL);

	return cmd_report_add_findings_named(gathered, store, value, err);
}

static int cmd_report_add_documents(
	struct gathered *gathered, struct store *store, int64_t campaign, struct error *err)
{
	int result = store_list_documents(store, &gathered->rows, &gathered->row_count, err);

	if (result < 0)
		return result;
	gathered->documents = array_new(gathered->row_count + 1u, sizeof *gathered->documents);
	for (uint32_t i = 0; i < gathered->row_count && result == 0; i++) {
		const struct store_document *row = &gathered->rows[i];

		if (row->finding || (campaign != ALL_CAMPAIGNS && row->campaign != campaign))
			continue;
		gathered->documents[gathered->document_count++] = *row;
		result = cmd_report_add_findings_of_document(gathered, store, row->text, err);
	}
	for (uint32_t i = 0; i < gathered->row_count; i++)
		if (gathered->rows[i].finding &&
			cmd_report_has_finding(gathered, gathered->rows[i].finding))
			gathered->documents[gathered->document_count++] = gathered->rows[i];
	return result;
}

/* Requires that findings and documents have been added. */
static int cmd_report_add_finding_campaigns(
	struct gathered *gathered, struct store *store, struct error *err)
{
	struct store_finding_row *rows;
	uint32_t count;
	const int result = store_list_findings(store, &rows, &count, err);

	if (result < 0)
		return result;
	gathered->finding_campaigns =
		array_new(gathered->finding_count + 1u, sizeof *gathered->finding_campaigns);
	for (uint32_t i = 0; i < gathered->finding_count; i++)
		for (uint32_t j = 0; j < count; j++)
			if (!strcmp(rows[j].id, gathered->findings[i].id))
				gathered->finding_campaigns[i] = rows[j].campaign;
	store_rows_free(rows, count);
	return 0;
}

static bool cmd_report_is_campaign_wanted(
	const struct gathered *gathered, int64_t campaign, int64_t wanted)
{
	if (wanted != NO_CAMPAIGN)
		return wanted == ALL_CAMPAIGNS || wanted == campaign;
	for (uint32_t i = 0; i < gathered->finding_count; i++)
		if (gathered->finding_campaigns[i] == campaign)
			return true;
	return false;
}

static int cmd_report_add_campaigns(
	struct gathered *gathered, struct store *store, int64_t campaign, struct error *err)
{
	struct store_campaign *rows;
	uint32_t count;
	int result = cmd_report_add_finding_campaigns(gathered, store, err);

	if (result == 0)
		result = store_list_campaigns(store, &rows, &count, err);
	if (result < 0)
		return result;
	for (uint32_t i = 0; i < count; i++)
		if (cmd_report_is_campaign_wanted(gathered, rows[i].id, campaign))
			rows[gathered->campaign_count++] = rows[i];
		else
			store_campaign_release(&rows[i]);
	gathered->campaigns = rows;
	return 0;
}

static void cmd_report_print_text(const struct report_arguments *arguments,
	const struct store_campaign *campaign, const struct gathered *gathered)
{
	const struct source_roots roots = {.folders = arguments->source_roots};

	if (campaign)
		(void)printf(
			"C%lld %s: %s, strategy %s, seed %llu, %llu schedules in %.1f s, %llu failed\n",
			(long long)campaign->id, campaign->command, campaign->state,
			campaign->strategy, (unsigned long long)campaign->seed,
			(unsigned long long)campaign->runs, campaign->seconds,
			(unsigned long long)campaign->failures);
	for (uint32_t i = 0; i < gathered->finding_count; i++) {
		show_finding(&gathered->findings[i], arguments->directory, &roots, stdout);
		show_explanation(gathered->documents, gathered->document_count,
			gathered->findings[i].id, stdout);
	}
	show_documents(gathered->documents, gathered->document_count, stdout);
	if (!gathered->finding_count && !gathered->document_count)
		terminal_hint("no findings; next: raddle list findings\n");
}

static void cmd_report_print(const struct report_arguments *arguments,
	const struct store_campaign *campaign, const struct gathered *gathered)
{
	const struct source_roots roots = {.folders = arguments->source_roots};
	const struct report report = {.campaign = campaign,
		.campaigns = gathered->campaigns,
		.campaign_count = gathered->campaign_count,
		.findings = gathered->findings,
		.finding_campaigns = gathered->finding_campaigns,
		.finding_count = gathered->finding_count,
		.source_roots = &roots,
		.release = RADDLE_RELEASE,
		.documents = gathered->documents,
		.document_count = gathered->document_count};
	char *text;

	if (arguments->format) {
		text = arguments->format->make(&report);
		(void)fputs(text, stdout); /* main checks the stream */
		free(text);
	} else {
		cmd_report_print_text(arguments, campaign, gathered);
	}
}

/* Reports on the campaign of `row`; NULL: on all campaigns, or on the one finding. */
static int cmd_report_these(struct store *store, const struct report_arguments *arguments,
	const struct store_campaign *row, struct error *err)
{
	const int64_t number = row ? row->id : ALL_CAMPAIGNS;
	const bool is_one = !row && strcmp(arguments->what, "all") != 0;
	struct gathered gathered = {0};
	int result = is_one ? cmd_report_add_finding(&gathered, store, arguments->what, err)
			    : cmd_report_add_findings_of(&gathered, store, number, err);

	if (result == 0)
		result = cmd_report_add_documents(
			&gathered, store, is_one ? NO_CAMPAIGN : number, err);
	if (result == 0)
		result = cmd_report_add_campaigns(
			&gathered, store, is_one ? NO_CAMPAIGN : number, err);
	if (result == 0)
		cmd_report_print(arguments, row, &gathered);
	cmd_report_gathered_release(&gathered);
	return result;
}

static int cmd_report_campaign(
	struct store *store, const struct report_arguments *arguments, struct error *err)
{
	FREE_SCOPED struct store_campaign *rows = NULL;
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
			result = cmd_report_these(store, arguments, &rows[i], err);
		}
		store_campaign_release(&rows[i]);
	}
	if (result == 0 && !is_found)
		return error_set(err, ERROR_NOTFOUND,
			"no campaign %s here; `raddle list campaigns` shows them", arguments->what);
	return result;
}

static int cmd_report_run(int argc, char **argv)
{
	struct report_arguments arguments = {.directory = "."};
	struct store *store;
	struct error err;
	int result;

	options_parse(&command_report, argc, argv, &arguments);
	for (int i = 0; i < FORMAT_COUNT; i++) {
		if (!arguments.formats[i])
			continue;
		if (arguments.format)
			return command_fail(
				"one format at a time; leave --%s out", report_formats[i]->name);
		arguments.format = report_formats[i];
	}
	if (store_open(&store, arguments.directory, STORE_READ, &err) < 0)
		return command_fail("%s", err.text);
	result = arguments.what[0] == 'C' ? cmd_report_campaign(store, &arguments, &err)
					  : cmd_report_these(store, &arguments, NULL, &err);
	store_close(store);
	return result < 0 ? command_fail("%s", err.text) : 0;
}

const struct command command_report = {
	.name = "report",
	.summary = "print a finding, a campaign with its findings, or all findings",
	.doc = "Prints a finding, a campaign with its findings, or all findings of the store.",
	.usage = "FINDING|CAMPAIGN|all",
	.options = report_options,
	.operands = {OPERANDS_WORD, offsetof(struct report_arguments, what),
		"nothing to report given; give a finding such as F1, or a campaign such as C1; `raddle list findings` shows them"},
	.run = cmd_report_run,
};
