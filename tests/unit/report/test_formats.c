/* SARIF, JUnit and Perfetto: what they say of a finding, and that no text of the target breaks them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/format.h"
#include "support/sample_finding.h"

static char *make(enum report_format_index format, const struct store_campaign *campaign,
	const struct finding *findings, uint32_t count)
{
	const struct report report = {.campaign = campaign,
		.campaigns = campaign,
		.campaign_count = campaign != NULL,
		.findings = findings,
		.finding_count = count,
		.release = "1.2.3"};

	return report_formats[format]->make(&report);
}

static json_t *make_json(enum report_format_index format, const struct store_campaign *campaign,
	const struct finding *findings, uint32_t count)
{
	char *text = make(format, campaign, findings, count);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(root);
	assert_int_equal(text[strlen(text) - 1], '\n');
	free(text);
	return root;
}

static const char *text_in(json_t *object, const char *first, const char *second)
{
	const char *text = json_string_value(json_object_get(
		second ? json_object_get(object, first) : object, second ? second : first));

	if (!text)
		fail_msg("there is no text \"%s\"", second ? second : first);
	return text;
}

static json_t *part(json_t *root, const char *name, size_t index)
{
	json_t *found = json_array_get(json_object_get(root, name), index);

	if (!found)
		fail_msg("there is no %s[%zu]", name, index);
	return found;
}

static void name_text(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
	assert_non_null(*text);
}

/* ---- SARIF ---- */

static void test_sarif__a_finding_is_a_result_with_a_flow_for_each_thread(void **state)
{
	const struct store_campaign campaign = {.command = "./bank", .started = 86400};
	struct finding findings[2] = {sample_finding(), sample_finding()};
	json_t *root = make_json(FORMAT_sarif, &campaign, findings, 2);
	json_t *run = part(root, "runs", 0), *result = part(run, "results", 1);
	json_t *driver = json_object_get(json_object_get(run, "tool"), "driver");
	json_t *flow = part(result, "codeFlows", 0), *thread = part(flow, "threadFlows", 1);
	json_t *location;

	(void)state;
	assert_string_equal(text_in(root, "version", NULL), "2.1.0");
	assert_string_equal(text_in(driver, "semanticVersion", NULL), "1.2.3");
	assert_int_equal(json_array_size(json_object_get(driver, "rules")), 1); /* one kind */
	assert_string_equal(
		text_in(part(run, "invocations", 0), "startTimeUtc", NULL), "1970-01-02T00:00:00Z");
	assert_string_equal(text_in(result, "ruleId", NULL), "deadlock");
	assert_non_null(strstr(text_in(result, "message", "text"), "\ntwo lines\n"));
	location = json_object_get(part(result, "locations", 0), "physicalLocation");
	assert_string_equal(text_in(location, "artifactLocation", "uri"), "src/bank.c");
	assert_int_equal(json_array_size(json_object_get(result, "relatedLocations")), 2);
	assert_int_equal(json_array_size(json_object_get(flow, "threadFlows")), 2);
	assert_string_equal(text_in(thread, "id", NULL), "main.1");
	assert_int_equal(
		json_integer_value(json_object_get(part(thread, "locations", 0), "executionOrder")),
		14);
	assert_string_equal(text_in(part(thread, "locations", 0), "importance", NULL), "essential");
	assert_non_null(strstr(text_in(result, "properties", "schedule"), "main.1 1 preempts"));
	json_decref(root);
	finding_release(&findings[0]);
	finding_release(&findings[1]);
}

static void test_sarif__paths_are_uris(void **state)
{
	struct finding finding = sample_finding();
	json_t *root, *location;

	(void)state;
	name_text(&finding.waits[0].at.frames[1].file, "/a b/%ü#.c");
	root = make_json(FORMAT_sarif, NULL, &finding, 1);
	location = json_object_get(part(part(part(root, "runs", 0), "results", 0), "locations", 0),
		"physicalLocation");
	assert_string_equal(
		text_in(location, "artifactLocation", "uri"), "file:///a%20b/%25%C3%BC%23.c");
	json_decref(root);
	finding_release(&finding);
}

/* Code hosting sites search the file among the user's: a library's header is no location for them. */
static void test_sarif__locations_are_in_user_code(void **state)
{
	struct finding finding = sample_finding();
	json_t *root, *result, *location;

	(void)state;
	for (uint32_t i = 0; i < finding.wait_count; i++)
		for (uint32_t j = 0; j < finding.waits[i].at.count; j++)
			finding.waits[i].at.frames[j].is_system = true;
	name_text(&finding.steps[0].where.file, "src/user.c");
	finding.steps[0].where.line = 12;
	for (uint32_t i = 1; i < finding.step_count; i++)
		finding.steps[i].where.is_system = true;
	root = make_json(FORMAT_sarif, NULL, &finding, 1);
	result = part(part(root, "runs", 0), "results", 0);
	location = json_object_get(part(result, "locations", 0), "physicalLocation");
	assert_string_equal(text_in(location, "artifactLocation", "uri"), "src/user.c");
	assert_null(json_object_get(part(result, "relatedLocations", 0), "physicalLocation"));
	json_decref(root);
	finding_release(&finding);
}

/* A candidate that occurred is a result by itself; a candidate that did not occur is a note, and so
 * is a branch. */
static void test_sarif__documents_are_notes_and_explanations(void **state)
{
	const struct store_document documents[] = {
		{.kind = "explain",
			.finding = "F12",
			.text = "{\"answers\": [{\"pattern\": \"R1-W2-W1\", \"meaning\": \"it is lost\","
				" \"verdict\": \"cause\", \"score\": 1.0, \"remedy\": \"lock it\","
				" \"accesses\": [{\"kind\": \"W\", \"thread\": 2, \"file\": \"a b.c\","
				" \"line\": 7}]}]}"},
		{.kind = "predict",
			.text = "{\"candidates\": [{\"id\": \"P1\", \"finding\": \"F12\"}, {\"id\": \"P2\","
				" \"finding\": null, \"state\": \"candidate\", \"title\": \"<race>\","
				" \"reason\": \"no thread came\", \"locations\": [{\"at\": {\"file\": \"x.c\","
				" \"line\": 3}}]}]}"},
		{.kind = "branches", .text = "{\"branches\": [{\"path\": \"/y.c\", \"line\": 4}]}"},
		{.kind = "branches", .text = "not JSON"},
	};
	struct finding finding = sample_finding();
	struct report report = {.findings = &finding,
		.finding_count = 1,
		.release = "1.2.3",
		.documents = documents,
		.document_count = 4};
	json_t *root, *run, *result;
	char *text;

	(void)state;
	strcpy(finding.id, "F12");
	text = report_formats[FORMAT_sarif]->make(&report);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	run = part(root, "runs", 0);
	assert_int_equal(json_array_size(json_object_get(run, "results")), 3);
	result = part(run, "results", 0);
	assert_non_null(strstr(text_in(result, "message", "text"), "R1-W2-W1: it is lost"));
	assert_non_null(strstr(text_in(result, "message", "text"), "To prevent it: lock it"));
	assert_int_equal(json_array_size(json_object_get(result, "relatedLocations")), 3);
	result = part(run, "results", 1);
	assert_string_equal(text_in(result, "level", NULL), "note");
	assert_string_equal(text_in(result, "ruleId", NULL), "prediction");
	assert_string_equal(text_in(result, "message", "text"),
		"candidate: <race>\nNot reached: no thread came");
	assert_string_equal(text_in(part(run, "results", 2), "ruleId", NULL), "sensitive-branch");
	json_decref(root);
	text = report_formats[FORMAT_json]->make(&report);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	assert_int_equal(json_array_size(json_object_get(root, "explanations")), 1);
	assert_int_equal(json_array_size(json_object_get(root, "branches")), 1);
	json_decref(root);
	finding_release(&finding);
}

/* ---- JUnit ---- */

static void test_junit__a_finding_is_a_failed_case(void **state)
{
	const struct store_campaign campaign = {.command = "./bank <&\">", .runs = 7};
	struct finding finding = sample_finding();
	char *text;

	(void)state;
	name_text(&finding.title, "</failure> & \x01 \xef\xbf\xbf \xc3\xbc");
	text = make(FORMAT_junit, &campaign, &finding, 1);
	assert_non_null(
		strstr(text, "name=\"./bank &lt;&amp;&quot;&gt;\" tests=\"1\" failures=\"1\""));
	assert_non_null(
		strstr(text, "message=\"&lt;/failure&gt; &amp; \\u0001 \\uffff \xc3\xbc\""));
	assert_non_null(strstr(text, "main.0"));
	assert_ptr_equal(strstr(text, "</failure>"), strstr(text, "</failure>\n    </testcase>"));
	free(text);
	name_text(&finding.title, "\xff<");
	text = make(FORMAT_junit, &campaign, &finding, 1);
	assert_non_null(strstr(text, "message=\"\\xff&lt;\""));
	free(text);
	finding_release(&finding);
}

static void test_junit__a_campaign_without_findings_has_passed(void **state)
{
	const struct store_campaign campaign = {.command = "./bank", .runs = 7, .seconds = 1.5};
	char *text = make(FORMAT_junit, &campaign, NULL, 0);

	(void)state;
	assert_non_null(strstr(text, "tests=\"1\" failures=\"0\""));
	assert_non_null(
		strstr(text, "<testcase classname=\"./bank\" name=\"schedules\" time=\"1.500\">"));
	assert_non_null(strstr(text, "no failure in 7 schedules"));
	free(text);
	text = make(FORMAT_junit, NULL, NULL, 0);
	assert_non_null(strstr(text, "tests=\"0\" failures=\"0\""));
	free(text);
}

/* The campaigns of --follow-children: one for each program. */
static void test_junit__each_campaign_is_a_suite_with_times(void **state)
{
	const struct store_campaign campaigns[] = {
		{.id = 1,
			.command = "./fails",
			.runs = 9,
			.failures = 2,
			.seconds = 3,
			.course =
				"[{\"seconds\": 0.5, \"findings\": 0}, {\"seconds\": 1, \"findings\": 1},"
				" {\"seconds\": 2.25, \"findings\": 2}]"},
		{.id = 2, .command = "./passes", .runs = 9, .seconds = 2},
		{.id = 3, .command = "./fails again", .runs = 9, .failures = 4, .seconds = 1},
		{.id = 4, .command = "./never ran", .seconds = 1},
	};
	struct finding findings[] = {sample_finding(), sample_finding(), sample_finding()};
	const int64_t of[] = {1, 1, 77};
	const struct report report = {.campaigns = campaigns,
		.campaign_count = 4,
		.findings = findings,
		.finding_campaigns = of,
		.finding_count = 3};
	char *text = report_formats[FORMAT_junit]->make(&report);

	(void)state;
	assert_non_null(strstr(text, "name=\"./fails\" tests=\"2\" failures=\"2\" errors=\"0\""));
	assert_non_null(strstr(text, "time=\"1.000\">\n      <failure"));
	assert_non_null(strstr(text, "time=\"1.250\">\n      <failure"));
	assert_non_null(strstr(text, "name=\"./passes\" tests=\"1\" failures=\"0\" errors=\"0\""));
	assert_non_null(strstr(
		text, "<testcase classname=\"./passes\" name=\"schedules\" time=\"2.000\">"));
	assert_non_null(strstr(text, "name=\"./fails again\" tests=\"1\" failures=\"1\""));
	assert_non_null(strstr(text, "4 of 9 schedules failed"));
	assert_non_null(
		strstr(text, "name=\"./never ran\" tests=\"1\" failures=\"0\" errors=\"1\""));
	assert_non_null(strstr(text, "name=\"raddle\" tests=\"1\" failures=\"1\""));
	free(text);
	for (int i = 0; i < 3; i++)
		finding_release(&findings[i]);
}

/* ---- Perfetto ---- */

static void test_perfetto__a_track_for_each_thread(void **state)
{
	struct finding findings[2] = {sample_finding(), sample_finding()};
	json_t *root = make_json(FORMAT_perfetto, NULL, findings, 2), *event;
	unsigned slices = 0, tracks = 0, processes = 0, begins = 0, ends = 0;
	size_t index;

	(void)state;
	json_array_foreach(json_object_get(root, "traceEvents"), index, event)
	{
		const char *phase = text_in(event, "ph", NULL);
		const char *name = text_in(event, "name", NULL);

		slices += strcmp(phase, "X") == 0;
		begins += strcmp(phase, "s") == 0;
		ends += strcmp(phase, "f") == 0;
		tracks += strcmp(name, "thread_name") == 0;
		processes += strcmp(name, "process_name") == 0;
		if (strcmp(phase, "X") == 0)
			assert_true(json_integer_value(json_object_get(event, "ts")) >= 13);
	}
	assert_int_equal(processes, 2);
	assert_int_equal(tracks, 4);
	assert_int_equal(slices, 8);
	assert_int_equal(begins, 4);
	assert_int_equal(ends, 4);
	json_decref(root);
	finding_release(&findings[0]);
	finding_release(&findings[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sarif__a_finding_is_a_result_with_a_flow_for_each_thread),
		cmocka_unit_test(test_sarif__paths_are_uris),
		cmocka_unit_test(test_sarif__locations_are_in_user_code),
		cmocka_unit_test(test_sarif__documents_are_notes_and_explanations),
		cmocka_unit_test(test_junit__a_finding_is_a_failed_case),
		cmocka_unit_test(test_junit__a_campaign_without_findings_has_passed),
		cmocka_unit_test(test_junit__each_campaign_is_a_suite_with_times),
		cmocka_unit_test(test_perfetto__a_track_for_each_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
