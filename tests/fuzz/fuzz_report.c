/*
 * Reports. An input is the JSON of a finding, then texts of documents and a campaign. Each format
 * keeps its own syntax for every finding: JSON and XML are well formed, and a page holds no element
 * that raddle did not write.
 */
#include <expat.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "fuzz/fuzz_targets.h"
#include "report/format.h"
#include "support/sample_finding.h"

/* Tags of an input's parts. */
enum report_part { PART_FINDING, PART_DOCUMENT, PART_CAMPAIGN, PART_KINDS };

static const char *const kinds[] = {"explain", "predict", "branches", "verdict"};

static void report_check_json(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);

	BUG_ON(!value);
	json_decref(value);
}

static void report_check_xml(const char *text)
{
	XML_Parser parser = XML_ParserCreate("UTF-8");

	BUG_ON(!parser || XML_Parse(parser, text, (int)strlen(text), 1) != XML_STATUS_OK);
	XML_ParserFree(parser);
}

static uint32_t report_count(const char *text, const char *word)
{
	uint32_t count = 0;

	for (const char *at = text; (at = strcasestr(at, word)) != NULL; at++)
		count++;
	return count;
}

/* A script element can neither end nor begin in the text of a finding. */
static void report_check_page(const char *text)
{
	static const struct report empty = {.release = "0.1.0"};
	static char *plain;

	if (!plain)
		plain = report_formats[FORMAT_html]->make(&empty);
	BUG_ON(report_count(text, "<script") != report_count(plain, "<script"));
	BUG_ON(report_count(text, "</script") != report_count(plain, "</script"));
}

static void report_check_formats(const struct report *report)
{
	for (int i = 0; i < FORMAT_COUNT; i++) {
		char *text = report_formats[i]->make(report);

		BUG_ON(!text || !*text);
		switch (i) {
		case FORMAT_junit:
			report_check_xml(text);
			break;
		case FORMAT_html:
			report_check_page(text);
			break;
		default:
			report_check_json(text);
		}
		free(text);
	}
}

static bool report_run(const uint8_t *bytes, size_t size)
{
	struct store_document document = {.kind = (char *)(uintptr_t)kinds[0]};
	struct store_campaign campaign = {.id = 1, .command = "./bank", .options = "{}"};
	struct report report = {.release = "0.1.0", .documents = &document, .campaigns = &campaign};
	char *texts[PART_KINDS] = {0};
	struct finding finding;
	struct error err = {0};
	struct fuzz_part part;
	size_t at = 0;
	int status;

	while (fuzz_part_next(&part, bytes, size, &at)) {
		free(texts[part.tag % PART_KINDS]);
		texts[part.tag % PART_KINDS] = strndup((const char *)part.bytes, part.size);
		if (part.tag % PART_KINDS == PART_DOCUMENT)
			document.kind = (char *)(uintptr_t)kinds[part.tag / PART_KINDS % 4];
	}
	if (!texts[PART_FINDING])
		texts[PART_FINDING] = strdup("");
	status =
		finding_from_json(texts[PART_FINDING], strlen(texts[PART_FINDING]), &finding, &err);
	if (status) {
		fuzz_check_refusal(status, &err);
	} else {
		report.findings = &finding;
		report.finding_count = 1;
		document.text = texts[PART_DOCUMENT];
		report.document_count = document.text != NULL;
		campaign.command = campaign.strategy = campaign.state = texts[PART_CAMPAIGN];
		report.campaign_count = 1;
		report_check_formats(&report);
		report.campaign = &campaign;
		report_check_formats(&report);
		finding_release(&finding);
	}
	for (int i = 0; i < PART_KINDS; i++)
		free(texts[i]);
	return status == 0;
}

static size_t report_make_seed(uint8_t *bytes, size_t capacity)
{
	static const char document[] = "{\"finding\": \"F1\", \"patterns\": [], \"conflicts\": []}";
	struct finding finding = sample_finding();
	char *text = finding_to_json(&finding);
	size_t size = fuzz_part_add(bytes, 0, capacity, PART_FINDING, text, strlen(text));

	size = fuzz_part_add(bytes, size, capacity, PART_DOCUMENT, document, sizeof document - 1);
	size = fuzz_part_add(bytes, size, capacity, PART_CAMPAIGN, "./bank", 6);
	free(text);
	finding_release(&finding);
	return size;
}

const struct fuzz_target fuzz_target_report = {.name = "report",
	.run = report_run,
	.make_seed = report_make_seed,
	.damage = fuzz_part_damage};
