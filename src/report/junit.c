/*
 * JUnit XML as CI systems read it (the schema of Jenkins' xUnit plugin): a campaign is a test suite, a
 * finding a failed test case, and a campaign that found nothing one test case that passed.
 */
#include <string.h>

#include "base/strbuf.h"
#include "report/format.h"
#include "report/json_value.h"
#include "report/text.h"

/* U+FFFE and U+FFFF, three bytes of UTF-8. */
static void add_no_character(struct strbuf *out, const char **at)
{
	strbuf_adds(out, "?");
	*at += 2;
}

/* As text or attribute; characters that XML cannot hold, and texts that are no UTF-8, get '?'. */
static void add_escaped(struct strbuf *out, const char *text)
{
	json_t *valid = json_text(text);

	for (const char *at = json_string_value(valid); *at; at++) {
		if (*at == '&')
			strbuf_adds(out, "&amp;");
		else if (*at == '<')
			strbuf_adds(out, "&lt;");
		else if (*at == '>')
			strbuf_adds(out, "&gt;");
		else if (*at == '"')
			strbuf_adds(out, "&quot;");
		else if (*at == '\n' || *at == '\t')
			strbuf_addf(out, "&#%d;", *at);
		else if ((unsigned char)*at < ' ')
			strbuf_adds(out, "?");
		else if (strncmp(at, "\xef\xbf\xbe", 3) == 0 || strncmp(at, "\xef\xbf\xbf", 3) == 0)
			add_no_character(out, &at);
		else
			strbuf_add(out, at, 1);
	}
	json_decref(valid);
}

static void add_attribute(struct strbuf *out, const char *name, const char *text)
{
	strbuf_addf(out, " %s=\"", name);
	add_escaped(out, text ? text : "");
	strbuf_adds(out, "\"");
}

static void add_case(struct strbuf *out, const struct finding *finding)
{
	static const struct report_style plain = {
		.columns = 120, .steps_most = REPORT_STEPS_STANDARD};
	struct strbuf text;

	strbuf_init(&text);
	report_finding(finding, &plain, &text);
	strbuf_adds(out, "    <testcase classname=\"raddle\"");
	add_attribute(out, "name", finding->title);
	strbuf_adds(out, ">\n      <failure");
	add_attribute(out, "type", outcome_descriptions[finding->kind].word);
	add_attribute(out, "message", finding->title);
	strbuf_adds(out, ">");
	add_escaped(out, text.text);
	strbuf_adds(out, "</failure>\n    </testcase>\n");
	strbuf_release(&text);
}

static void add_passed_case(struct strbuf *out, const struct report_campaign *campaign)
{
	struct strbuf name;

	strbuf_init(&name);
	strbuf_addf(&name, "no failure in %llu schedules", (unsigned long long)campaign->runs);
	strbuf_adds(out, "    <testcase classname=\"raddle\"");
	add_attribute(out, "name", name.text);
	strbuf_adds(out, "/>\n");
	strbuf_release(&name);
}

static char *make_junit(const struct report *report)
{
	const struct report_campaign *campaign = report->campaign;
	const bool has_passed = campaign && !report->finding_count;
	struct strbuf out;

	strbuf_init(&out);
	strbuf_adds(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
	add_attribute(&out, "name", campaign ? campaign->command : "raddle");
	strbuf_addf(&out,
		" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"0\" time=\"%.3f\">\n",
		report->finding_count + has_passed, report->finding_count,
		campaign ? campaign->seconds : 0.0);
	for (uint32_t i = 0; i < report->finding_count; i++)
		add_case(&out, &report->findings[i]);
	if (has_passed)
		add_passed_case(&out, campaign);
	strbuf_adds(&out, "  </testsuite>\n</testsuites>\n");
	return strbuf_detach(&out);
}

const struct report_format format_junit = {
	.name = "junit",
	.summary = "As JUnit XML, for CI systems",
	.make = make_junit,
};
