/*
 * Writes one self-contained page: html/report.html with the style, the scripts and the JSON of --json embedded. The
 * scripts beside html/report.js draw the page. Every '<' in the JSON is escaped, so text of the target cannot close the
 * script element.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "findings/source_lines.h"
#include "report/text/block_names.h"
#include "report/format.h"
#include "report/json_value.h"

/* made by tools/embed.cmake */
extern const char html_report_html[], html_report_css[];
/* scripts of the page, in this order */
extern const char html_page_js[], html_charts_js[], html_fold_js[], html_lanes_js[], html_runs_js[],
	html_finding_js[], html_predictions_js[], html_report_js[];
static const char *const scripts[] = {html_page_js, html_charts_js, html_fold_js, html_lanes_js,
	html_runs_js, html_finding_js, html_predictions_js, html_report_js};

/* Adds source lines from the present files to documents of older versions, which have none. */
static void html_add_sources(json_t *list, const struct source_roots *roots)
{
	json_t *part;
	size_t index;

	json_array_foreach(list, index, part)
	{
		if (!json_object_get(part, "sources"))
			json_put(part, "sources_now", source_lines_collect(part, roots));
	}
}

/* Returns whether the member holds texts that name objects. */
static bool html_names_objects(const char *key)
{
	static const char *const keys[] = {"title", "cause", "remedy", "object", "variable",
		"variables", "held", "library_call"};

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* Gives heap blocks their short names in a value and the values below. */
static void html_shorten_names(json_t *value, bool is_named, struct block_names *names)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;
	const char *key;
	json_t *part;
	size_t index;

	json_object_foreach(value, key, part)
		html_shorten_names(part, html_names_objects(key), names);
	json_array_foreach(value, index, part) html_shorten_names(part, is_named, names);
	if (!json_is_string(value) || !is_named || !json_string_length(value))
		return;
	block_names_add_text(names, json_string_value(value), &text);
	BUG_ON(json_string_set(value, text.text));
}

/* Adds `blocks`, which maps the short names of the page to the full ones. */
static void html_add_blocks(json_t *root)
{
	struct block_names names = {0};
	json_t *blocks = json_object();

	html_shorten_names(root, false, &names);
	for (uint32_t i = 0; i < names.count; i++) {
		STRBUF_SCOPED name = STRBUF_EMPTY;

		strbuf_addf(&name, "%s#%u", names.names[i].type, names.names[i].number);
		json_put(blocks, name.text, json_text(names.names[i].block));
	}
	json_put(root, "blocks", blocks);
	block_names_release(&names);
}

/* Removes the member `memory` of each finding. Only replays read it, and in a large program it has megabytes. */
static void html_remove_memory(json_t *findings)
{
	json_t *finding;
	size_t index;

	json_array_foreach(findings, index, finding)(void) json_object_del(finding, "memory");
}

static json_t *html_data_value(const struct report *report)
{
	FREE_SCOPED char *text = report_formats[FORMAT_json]->make(report);
	json_t *root = json_loads(text, 0, NULL);

	BUG_ON(!root);
	html_remove_memory(json_object_get(root, "findings"));
	/* A page without findings shows the program of the first campaign. */
	if (report->campaign_count)
		json_put(root, "command", json_text(report->campaigns[0].command));
	html_add_sources(json_object_get(root, "findings"), report->source_roots);
	html_add_sources(json_object_get(root, "explanations"), report->source_roots);
	html_add_sources(json_object_get(root, "predictions"), report->source_roots);
	html_add_sources(json_object_get(root, "branches"), report->source_roots);
	html_add_blocks(root);
	return root;
}

static void html_add_data(struct strbuf *out, const struct report *report)
{
	char *text = json_document(html_data_value(report));

	for (const char *at = text; *at; at++) {
		if (*at == '<')
			strbuf_adds(out, "\\u003c");
		else
			strbuf_add(out, at, 1);
	}
	free(text);
}

/* Adds `page` up to `mark` and returns the text behind it. */
static const char *html_add_until(struct strbuf *out, const char *page, const char *mark)
{
	const char *at = strstr(page, mark);

	BUG_ON(!at);
	strbuf_add(out, page, (size_t)(at - page));
	return at + strlen(mark);
}

static char *html_make(const struct report *report)
{
	const char *page = html_report_html;
	struct strbuf out = STRBUF_EMPTY;

	page = html_add_until(&out, page, "@STYLE@");
	strbuf_adds(&out, html_report_css);
	page = html_add_until(&out, page, "@DATA@");
	html_add_data(&out, report);
	page = html_add_until(&out, page, "@SCRIPT@");
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
		strbuf_adds(&out, scripts[i]);
	strbuf_adds(&out, page);
	return strbuf_detach(&out);
}

const struct report_format format_html = {
	.name = "html",
	.summary = "As an HTML page, with the interleaving in lanes",
	.make = html_make,
};
