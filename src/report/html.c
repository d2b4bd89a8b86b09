/*
 * One page that needs nothing else: html/report.html with its style, its script, and the same JSON as --json,
 * to which the lines of source around each place are added, as far as the files can be read now. The page
 * is drawn by html/report.js and the scripts beside it. In the JSON every '<' is an escape, so no text of the target can end the
 * element that it stands in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "report/format.h"
#include "report/json_value.h"

/* Lines around a place; files of which more are wanted than this are not read. */
#define LINES_AROUND 3
#define FILES_MOST 200
#define LINE_BYTES_MOST 400
#define LINE_MOST 10000000

/* tools/embed.cmake */
extern const char html_report_html[], html_report_css[];
/* Parts of one script, in this order. */
extern const char html_page_js[], html_charts_js[], html_lanes_js[], html_finding_js[],
	html_predictions_js[], html_report_js[];
static const char *const scripts[] = {html_page_js, html_charts_js, html_lanes_js, html_finding_js,
	html_predictions_js, html_report_js};

/* ---- source ---- */

static void want_lines(json_t *sources, const char *file, json_int_t line)
{
	json_t *lines = json_object_get(sources, file);
	char number[24];

	if (!lines) {
		if (json_object_size(sources) == FILES_MOST)
			return;
		lines = json_object();
		json_put(sources, file, lines);
	}
	for (json_int_t at = line > LINES_AROUND ? line - LINES_AROUND : 1;
		at <= line + LINES_AROUND; at++) {
		(void)snprintf(number, sizeof number, "%lld", (long long)at); /* 19 digits */
		if (!json_object_get(lines, number))
			json_put(lines, number, json_null());
	}
}

/* Every place that the report speaks of, whoever says it: an object with a file (or its path) and a line. */
static void want_places(json_t *sources, json_t *value)
{
	const char *path = json_string_value(json_object_get(value, "path"));
	const char *file = path ? path : json_string_value(json_object_get(value, "file"));
	const json_int_t line = json_integer_value(json_object_get(value, "line"));
	const char *key;
	json_t *part;
	size_t index;

	if (file && line > 0 && line < LINE_MOST &&
		!json_is_true(json_object_get(value, "is_system")))
		want_lines(sources, file, line);
	json_object_foreach(value, key, part) want_places(sources, part);
	json_array_foreach(value, index, part) want_places(sources, part);
}

/* Fills the wanted lines, and takes out those that the file does not have. */
static void read_lines(const char *path, json_t *lines)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, number[24];
	const char *key;
	json_t *text;
	void *next;
	size_t size = 0;

	for (unsigned at = 1; file && getline(&line, &size, file) >= 0; at++) {
		(void)snprintf(number, sizeof number, "%u", at);
		if (!json_object_get(lines, number))
			continue;
		line[strcspn(line, "\r\n")] = '\0';
		if (strlen(line) > LINE_BYTES_MOST)
			line[LINE_BYTES_MOST] = '\0';
		json_put(lines, number, json_text(line));
	}
	free(line);
	if (file)
		(void)fclose(file); /* was only read */
	json_object_foreach_safe(lines, next, key, text) if (json_is_null(text))(void)
		json_object_del(lines, key);
}

static json_t *sources_value(json_t *root)
{
	json_t *sources = json_object(), *lines;
	const char *path;

	want_places(sources, root);
	json_object_foreach(sources, path, lines) read_lines(path, lines);
	return sources;
}

/* ---- the page ---- */

static json_t *data_value(const struct report *report)
{
	char *text = report_formats[FORMAT_json]->make(report);
	json_t *root = json_loads(text, 0, NULL);

	free(text);
	BUG_ON(!root);
	json_put(root, "sources", sources_value(root));
	return root;
}

static void add_data(struct strbuf *out, const struct report *report)
{
	char *text = json_document(data_value(report));

	for (const char *at = text; *at; at++) {
		if (*at == '<')
			strbuf_adds(out, "\\u003c");
		else
			strbuf_add(out, at, 1);
	}
	free(text);
}

/* `page` up to the place marked so; returns what is behind it. */
static const char *add_until(struct strbuf *out, const char *page, const char *mark)
{
	const char *at = strstr(page, mark);

	BUG_ON(!at);
	strbuf_add(out, page, (size_t)(at - page));
	return at + strlen(mark);
}

static char *make_html(const struct report *report)
{
	const char *page = html_report_html;
	struct strbuf out;

	strbuf_init(&out);
	page = add_until(&out, page, "@STYLE@");
	strbuf_adds(&out, html_report_css);
	page = add_until(&out, page, "@DATA@");
	add_data(&out, report);
	page = add_until(&out, page, "@SCRIPT@");
	for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
		strbuf_adds(&out, scripts[i]);
	strbuf_adds(&out, page);
	return strbuf_detach(&out);
}

const struct report_format format_html = {
	.name = "html",
	.summary = "As one page for a browser, with the interleaving in lanes",
	.make = make_html,
};
