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

static char *format_json(
	const struct store_campaign *campaign, const struct finding *findings, uint32_t count)
{
	const struct report report = {.campaign = campaign,
		.findings = findings,
		.finding_count = count,
		.release = "1.2.3"};

	return report_formats[FORMAT_json]->make(&report);
}

static const char *text_at(json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	if (!text)
		fail_msg("there is no text \"%s\"", name);
	return text;
}

static void test_json__is_one_document_with_campaign_and_findings(void **state)
{
	const struct store_campaign campaign = {.id = 4,
		.command = "./bank \xff",
		.options = "{\"jobs\":2}",
		.strategy = "portfolio",
		.seed = UINT64_MAX,
		.runs = 1000,
		.seconds = 1.5};
	struct finding findings[2] = {sample_finding(), sample_finding()};
	char *text = format_json(&campaign, findings, 2);
	json_t *root = json_loads(text, 0, NULL);
	json_t *reported = json_object_get(root, "campaign");
	json_t *list = json_object_get(root, "findings");

	(void)state;
	assert_non_null(root);
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_string_equal(text_at(reported, "command"), "./bank \\xff");
	assert_string_equal(text_at(reported, "seed"), "18446744073709551615");
	assert_int_equal(json_integer_value(json_object_get(reported, "runs")), 1000);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(reported, "options"), "jobs")),
		2);
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(text_at(json_array_get(list, 1), "kind"), "deadlock");
	json_decref(root);
	free(text);
	finding_release(&findings[0]);
	finding_release(&findings[1]);
}

static void test_json__without_campaign_says_null(void **state)
{
	char *text = format_json(NULL, NULL, 0);
	json_t *root = json_loads(text, 0, NULL);

	(void)state;
	assert_true(json_is_null(json_object_get(root, "campaign")));
	assert_int_equal(json_array_size(json_object_get(root, "findings")), 0);
	json_decref(root);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json__is_one_document_with_campaign_and_findings),
		cmocka_unit_test(test_json__without_campaign_says_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
