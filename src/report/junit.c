/*
 * JUnit XML by the schema of Jenkins' xUnit plugin. A campaign is a test suite and a finding is a
 * failed test case. A campaign without findings is one test case that passed. With
 * --follow-children each program has a campaign: the programs that passed are listed as well.
 */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/visible.h"
#include "report/format.h"
#include "report/suite.h"
#include "report/text/text.h"

static void junit_add_escaped(struct strbuf *out, const char *text)
{
	char *visible = visible_text(text, true);

	for (const char *at = visible; *at; at++) {
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
		else
			strbuf_add(out, at, 1);
	}
	free(visible);
}

static void junit_add_attribute(struct strbuf *out, const char *name, const char *text)
{
	strbuf_addf(out, " %s=\"", name);
	junit_add_escaped(out, text ? text : "");
	strbuf_adds(out, "\"");
}

/* Returns the time from the campaign's recorded progress; if that is missing or ends earlier, the
 * full duration. */
static double junit_seconds_until(const struct store_campaign *campaign, uint32_t number)
{
	json_t *course = campaign->course ? json_loads(campaign->course, 0, NULL) : NULL, *entry;
	double seconds = campaign->seconds;
	size_t index;

	json_array_foreach(course, index, entry)
	{
		if (json_integer_value(json_object_get(entry, "findings")) < (json_int_t)number)
			continue;
		seconds = json_number_value(json_object_get(entry, "seconds"));
		break;
	}
	json_decref(course);
	return seconds < campaign->seconds ? seconds : campaign->seconds;
}

/* Begins a test case. `classname` is the program, so that a CI system lists the program's cases
 * together. */
static void junit_begin_case(
	struct strbuf *out, const struct store_campaign *campaign, const char *name, double seconds)
{
	strbuf_adds(out, "    <testcase");
	junit_add_attribute(out, "classname", campaign ? campaign->command : "raddle");
	junit_add_attribute(out, "name", name);
	strbuf_addf(out, " time=\"%.3f\"", seconds);
}

static void junit_add_failed_case(struct strbuf *out, const struct store_campaign *campaign,
	const struct finding *finding, double seconds)
{
	static const struct report_style plain = {
		.columns = 120, .steps_most = REPORT_STEPS_STANDARD};
	STRBUF_SCOPED text = STRBUF_EMPTY;

	report_finding(finding, &plain, &text);
	junit_begin_case(out, campaign, finding->title, seconds);
	strbuf_adds(out, ">\n      <failure");
	junit_add_attribute(out, "type", outcome_descriptions[finding->kind].word);
	junit_add_attribute(out, "message", finding->title);
	strbuf_adds(out, ">");
	junit_add_escaped(out, text.text);
	strbuf_adds(out, "</failure>\n    </testcase>\n");
}

enum campaign_result { CAMPAIGN_PASSED, CAMPAIGN_FAILED, CAMPAIGN_EMPTY };

/* Returns the result of a campaign that has no new findings. */
static enum campaign_result junit_result_of(const struct store_campaign *campaign)
{
	if (!campaign->runs)
		return CAMPAIGN_EMPTY;
	return campaign->failures ? CAMPAIGN_FAILED : CAMPAIGN_PASSED;
}

static void junit_add_campaign_case(struct strbuf *out, const struct store_campaign *campaign)
{
	const unsigned long long runs = campaign->runs, failures = campaign->failures;

	junit_begin_case(out, campaign, "schedules", campaign->seconds);
	strbuf_adds(out, ">\n      ");
	switch (junit_result_of(campaign)) {
	case CAMPAIGN_EMPTY:
		strbuf_adds(out, "<error type=\"empty\" message=\"no schedule was run\"/>");
		break;
	case CAMPAIGN_FAILED:
		strbuf_addf(out,
			"<failure type=\"known\" message=\"%llu of %llu schedules failed, as "
			"findings of earlier campaigns do\"/>",
			failures, runs);
		break;
	default:
		strbuf_addf(out, "<system-out>no failure in %llu schedules", runs);
		if (campaign->strategy) {
			strbuf_adds(out, ", strategy ");
			junit_add_escaped(out, campaign->strategy);
		}
		strbuf_addf(out, ", seed %llu</system-out>", (unsigned long long)campaign->seed);
	}
	strbuf_adds(out, "\n    </testcase>\n");
}

static bool junit_is_of(const struct report *report, uint32_t finding, int64_t campaign)
{
	return (report->finding_campaigns ? report->finding_campaigns[finding] : 0) == campaign;
}

static bool junit_is_of_any(const struct report *report, uint32_t finding)
{
	for (uint32_t i = 0; i < report->campaign_count; i++)
		if (junit_is_of(report, finding, report->campaigns[i].id))
			return true;
	return false;
}

/* Adds one test suite. `campaign` NULL: the suite of findings that belong to no listed campaign. */
static void junit_add_suite(
	struct strbuf *out, const struct report *report, const struct store_campaign *campaign)
{
	uint32_t failed = 0, errors = 0, cases = 0;
	STRBUF_SCOPED body = STRBUF_EMPTY;
	double last = 0;

	for (uint32_t i = 0; i < report->finding_count; i++) {
		double until;

		if (campaign ? !junit_is_of(report, i, campaign->id) : junit_is_of_any(report, i))
			continue;
		until = campaign ? junit_seconds_until(campaign, ++failed) : (failed++, 0.0);
		junit_add_failed_case(&body, campaign, &report->findings[i], until - last);
		last = until;
	}
	cases = failed;
	if (campaign && !failed) {
		junit_add_campaign_case(&body, campaign);
		failed = junit_result_of(campaign) == CAMPAIGN_FAILED;
		errors = junit_result_of(campaign) == CAMPAIGN_EMPTY;
		cases = 1;
	}
	strbuf_adds(out, "  <testsuite");
	junit_add_attribute(out, "name", campaign ? campaign->command : "raddle");
	strbuf_addf(out,
		" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"0\" time=\"%.3f\">\n", cases,
		failed, errors, campaign ? campaign->seconds : 0.0);
	strbuf_adds(out, body.text);
	strbuf_adds(out, "  </testsuite>\n");
}

static char *junit_make(const struct report *report)
{
	bool has_others = !report->campaign_count;
	struct strbuf out = STRBUF_EMPTY;

	for (uint32_t i = 0; i < report->finding_count; i++)
		has_others |= !junit_is_of_any(report, i);
	strbuf_adds(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (uint32_t i = 0; i < report->campaign_count; i++)
		junit_add_suite(&out, report, &report->campaigns[i]);
	if (has_others)
		junit_add_suite(&out, report, NULL);
	strbuf_adds(&out, "</testsuites>\n");
	return strbuf_detach(&out);
}

const struct report_format format_junit = {
	.name = "junit",
	.summary = "As JUnit XML, for CI systems",
	.make = junit_make,
};

static void junit_add_suite_case(
	struct strbuf *out, const struct report_suite *suite, const struct report_case *of)
{
	static const char *const elements[] = {[REPORT_CASE_PASSED] = "system-out",
		[REPORT_CASE_FAILED] = "failure",
		[REPORT_CASE_SKIPPED] = "skipped",
		[REPORT_CASE_ERROR] = "error"};
	const bool is_passed = of->result == REPORT_CASE_PASSED;

	strbuf_adds(out, "    <testcase");
	junit_add_attribute(out, "classname", suite->name);
	junit_add_attribute(out, "name", of->name);
	strbuf_addf(out, " time=\"%.3f\">\n      <%s", of->seconds, elements[of->result]);
	if (of->type)
		junit_add_attribute(out, "type", of->type);
	if (!is_passed)
		junit_add_attribute(out, "message", of->message);
	strbuf_adds(out, ">");
	junit_add_escaped(out, is_passed ? of->message : of->text ? of->text : "");
	strbuf_addf(out, "</%s>\n    </testcase>\n", elements[of->result]);
}

char *report_suite_to_junit(const struct report_suite *suite)
{
	uint32_t counts[REPORT_CASE_ERROR + 1] = {0};
	struct strbuf out = STRBUF_EMPTY;

	for (uint32_t i = 0; i < suite->count; i++)
		counts[suite->cases[i].result]++;
	strbuf_adds(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
	junit_add_attribute(&out, "name", suite->name);
	strbuf_addf(&out,
		" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" time=\"%.3f\">\n",
		suite->count, counts[REPORT_CASE_FAILED], counts[REPORT_CASE_ERROR],
		counts[REPORT_CASE_SKIPPED], suite->seconds);
	for (uint32_t i = 0; i < suite->count; i++)
		junit_add_suite_case(&out, suite, &suite->cases[i]);
	strbuf_adds(&out, "  </testsuite>\n</testsuites>\n");
	return strbuf_detach(&out);
}
