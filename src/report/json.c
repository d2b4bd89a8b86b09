/*
 * {"raddle_report": 1, "campaign": {...} or null, "findings": [...], "explanations": [...], ...}:
 * everything that is stored. Findings have the form of findings/fields.c, other documents that
 * of the commands that made them.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "findings/source_lines.h"
#include "report/format.h"
#include "report/json_value.h"

static json_t *json_campaign_value(const struct store_campaign *campaign)
{
	json_t *value, *options, *course;

	if (!campaign)
		return json_null();
	value = json_object();
	options = campaign->options ? json_loads(campaign->options, 0, NULL) : NULL;
	course = campaign->course ? json_loads(campaign->course, 0, NULL) : NULL;
	json_put(value, "id", json_integer(campaign->id));
	json_put(value, "command", json_text(campaign->command));
	json_put(value, "options", options ? options : json_null());
	json_put(value, "strategy", json_text(campaign->strategy));
	/* A string, because the seed may exceed the range of JSON readers. */
	json_put(value, "seed", json_textf("%" PRIu64, campaign->seed));
	json_put(value, "state", json_text(campaign->state));
	json_put(value, "restart", json_text(campaign->restart));
	json_put(value, "runs", json_count(campaign->runs));
	json_put(value, "failures", json_count(campaign->failures));
	json_put(value, "steps", json_count(campaign->steps));
	json_put(value, "seconds", json_real(isfinite(campaign->seconds) ? campaign->seconds : 0));
	json_put(value, "started", json_integer(campaign->started));
	json_put(value, "course", course ? course : json_null());
	return value;
}

/* Adds the list of files that have changed since their source lines were kept. */
static json_t *json_with_changed_sources(json_t *value, const struct source_roots *roots)
{
	const json_t *sources = json_object_get(value, "sources");

	if (sources)
		json_put(value, "sources_changed", source_lines_changed(sources, roots));
	return value;
}

static json_t *json_finding_value(const struct finding *finding, const struct source_roots *roots)
{
	FREE_SCOPED char *text = finding_to_published_json(finding);
	json_t *value = json_loads(text, 0, NULL);

	return json_with_changed_sources(value, source_roots_of(finding, roots));
}

/* Returns all documents of a kind. A document that is not JSON (in a damaged store) is omitted. */
static json_t *json_documents_value(const struct report *report, const char *kind)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < report->document_count; i++) {
		const struct store_document *document = &report->documents[i];
		json_t *value =
			strcmp(document->kind, kind) ? NULL : json_loads(document->text, 0, NULL);

		if (json_is_object(value))
			json_append(list, json_with_changed_sources(value, report->source_roots));
		else
			json_decref(value);
	}
	return list;
}

static char *json_make(const struct report *report)
{
	json_t *root = json_object();
	json_t *list = json_array();

	for (uint32_t i = 0; i < report->finding_count; i++)
		json_append(list, json_finding_value(&report->findings[i], report->source_roots));
	json_put(root, "raddle_report", json_integer(1));
	json_put(root, "campaign", json_campaign_value(report->campaign));
	json_put(root, "findings", list);
	json_put(root, "explanations", json_documents_value(report, "explain"));
	json_put(root, "predictions", json_documents_value(report, "predict"));
	json_put(root, "branches", json_documents_value(report, "branches"));
	return json_document(root);
}

const struct report_format format_json = {
	.name = "json",
	.summary = "As JSON, with all stored data",
	.make = json_make,
};
