/*
 * SARIF 2.1.0 (OASIS, 2020), for code hosting sites and editors. A finding is a result. Its
 * interleaving is one code flow with a thread flow per thread; executionOrder is the position of a
 * step in the whole run. The other access of a race and the waits of a deadlock are related
 * locations.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/strbuf.h"
#include "report/sarif_internal.h"

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

static json_t *sarif_uri_value(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-._~/!$&'()*+,;=@";
	STRBUF_SCOPED uri = STRBUF_EMPTY;

	if (path[0] == '/')
		strbuf_adds(&uri, "file://");
	for (const char *at = path; *at; at++) {
		if (strchr(plain, *at))
			strbuf_add(&uri, at, 1);
		else
			strbuf_addf(&uri, "%%%02X", (unsigned char)*at);
	}
	return json_text(uri.text);
}

json_t *sarif_message(json_t *text)
{
	json_t *message = json_object();

	json_put(message, "text", text);
	return message;
}

static bool sarif_is_in_user_code(const struct finding_frame *frame)
{
	return frame && frame->file && frame->line && !frame->is_system;
}

/* Returns the location of a frame. A location in a library header gets no physical location, because
 * viewers search the file among the user's sources. */
json_t *sarif_location(const struct finding_frame *frame, json_t *text)
{
	json_t *location = json_object();

	if (sarif_is_in_user_code(frame)) {
		json_t *artifact = json_object(), *region = json_object();
		json_t *physical = json_object();

		json_put(artifact, "uri", sarif_uri_value(frame->file));
		json_put(region, "startLine", json_integer(frame->line));
		json_put(physical, "artifactLocation", artifact);
		json_put(physical, "region", region);
		json_put(location, "physicalLocation", physical);
	}
	if (frame && frame->function) {
		json_t *logical = json_object(), *list = json_array();

		json_put(logical, "fullyQualifiedName", json_text(frame->function));
		json_put(logical, "kind", json_string("function"));
		json_append(list, logical);
		json_put(location, "logicalLocations", list);
	}
	if (text)
		json_put(location, "message", sarif_message(text));
	return location;
}

static json_t *sarif_step_value(const struct finding_step *step)
{
	json_t *value = json_object();

	json_put(value, "location",
		sarif_location(&step->where,
			json_textf("%s %s%s%s", step->thread, step->verb, step->object ? " " : "",
				step->object ? step->object : "")));
	json_put(value, "executionOrder", json_count(step->step));
	json_put(value, "importance",
		json_string(step->is_preemption ? "essential"
			    : step->is_switch	? "important"
						: "unimportant"));
	return value;
}

/* Returns the thread's thread flow in `flows`; added if missing. */
static json_t *sarif_thread_flow(json_t *flows, const char *thread)
{
	json_t *flow, *locations;
	size_t index;

	json_array_foreach(flows, index, flow)
	{
		if (strcmp(json_string_value(json_object_get(flow, "id")), thread) == 0)
			return json_object_get(flow, "locations");
	}
	flow = json_object();
	locations = json_array();
	json_put(flow, "id", json_text(thread));
	json_put(flow, "locations", locations);
	json_append(flows, flow);
	return locations;
}

/* Maximum number of steps. Viewers show the first thousand locations of a flow, but the end matters
 * most. */
#define FLOW_STEPS_MOST 500u

static json_t *sarif_code_flows_value(const struct finding *finding)
{
	json_t *flows = json_array(), *code_flow = json_object(), *list = json_array();
	const uint32_t count = finding->step_count;
	const uint32_t shown = count < FLOW_STEPS_MOST ? count : FLOW_STEPS_MOST;

	for (uint32_t i = count - shown; i < count; i++)
		json_append(sarif_thread_flow(flows, finding->steps[i].thread),
			sarif_step_value(&finding->steps[i]));
	json_put(code_flow, "message",
		sarif_message(json_textf("the last %u steps of the failing run", shown)));
	json_put(code_flow, "threadFlows", flows);
	json_append(list, code_flow);
	return list;
}

static json_t *sarif_stack_value(const struct finding_stack *stack, json_t *text)
{
	json_t *value = json_object(), *frames = json_array();

	for (uint32_t i = 0; i < stack->count; i++) {
		json_t *frame = json_object();

		json_put(frame, "location", sarif_location(&stack->frames[i], NULL));
		if (stack->frames[i].module)
			json_put(frame, "module", json_text(stack->frames[i].module));
		json_append(frames, frame);
	}
	json_put(value, "message", sarif_message(text));
	json_put(value, "frames", frames);
	return value;
}

static json_t *sarif_access_words(const struct finding_access *access)
{
	return json_textf("%s %s it%s%s", access->thread, access->verb,
		access->held ? ", holding " : "", access->held ? access->held : "");
}

static json_t *sarif_wait_words(const struct finding_wait *wait)
{
	return json_textf("%s %s %s%s%s", wait->thread, wait->verb, wait->object,
		wait->holder ? ", held by " : "", wait->holder ? wait->holder : "");
}

static json_t *sarif_stacks_value(const struct finding *finding)
{
	json_t *list = json_array();

	if (finding->at.count)
		json_append(list, sarif_stack_value(&finding->at,
					  json_textf("%s stands here",
						  finding->failing_thread ? finding->failing_thread
									  : "the failing thread")));
	for (uint32_t i = 0; i < finding->wait_count; i++)
		json_append(list, sarif_stack_value(&finding->waits[i].at,
					  sarif_wait_words(&finding->waits[i])));
	for (unsigned i = 0; i < FINDING_ACCESSES; i++)
		if (finding->race[i].thread)
			json_append(list, sarif_stack_value(&finding->race[i].at,
						  sarif_access_words(&finding->race[i])));
	return list;
}

static json_t *sarif_related_value(const struct finding *finding)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < finding->wait_count; i++)
		json_append(list, sarif_location(finding_user_frame(&finding->waits[i].at),
					  sarif_wait_words(&finding->waits[i])));
	for (unsigned i = 0; i < FINDING_ACCESSES; i++)
		if (finding->race[i].thread)
			json_append(list, sarif_location(finding_user_frame(&finding->race[i].at),
						  sarif_access_words(&finding->race[i])));
	return list;
}

/* Returns the last step in user code: of the failing thread if it has such a step, else of any
 * thread. */
static const struct finding_frame *sarif_last_step_location(const struct finding *finding)
{
	const struct finding_frame *last = NULL;

	for (uint32_t i = finding->step_count; i--;) {
		const struct finding_step *step = &finding->steps[i];

		if (!sarif_is_in_user_code(&step->where))
			continue;
		if (!finding->failing_thread || !strcmp(step->thread, finding->failing_thread))
			return &step->where;
		last = last ? last : &step->where;
	}
	return last;
}

/* Returns the location of a finding in user code: the failure, else an access of a race, a wait, or
 * the last step. NULL if there is none. */
static const struct finding_frame *sarif_location_of(const struct finding *finding)
{
	const struct finding_frame *frame = finding_user_frame(&finding->at);

	if (!sarif_is_in_user_code(frame) && finding->race[FINDING_LATER].thread)
		frame = finding_user_frame(&finding->race[FINDING_LATER].at);
	for (uint32_t i = 0; i < finding->wait_count && !sarif_is_in_user_code(frame); i++)
		frame = finding_user_frame(&finding->waits[i].at);
	return sarif_is_in_user_code(frame) ? frame : sarif_last_step_location(finding);
}

static json_t *sarif_properties_value(const struct finding *finding)
{
	json_t *value = json_object();
	STRBUF_SCOPED schedule = STRBUF_EMPTY;

	schedule_text_write(&finding->schedule, &schedule);
	json_put(value, "id", json_text(finding->id));
	json_put(value, "replay", json_textf("raddle replay %s", finding->id));
	json_put(value, "schedule", json_text(schedule.text));
	json_put(value, "replays", json_count(finding->replays));
	json_put(value, "replaysFailedAgain", json_count(finding->replays_failed_again));
	json_put(value, "preemptions", json_count(finding->preemptions));
	return value;
}

static json_t *sarif_result_value(const struct finding *finding, size_t rule)
{
	json_t *value = json_object(), *locations = json_array(), *prints = json_object();

	json_append(locations, sarif_location(sarif_location_of(finding), NULL));
	json_put(prints, "raddleSignature/v1", json_textf("%016" PRIx64, finding->signature));
	json_put(value, "ruleId", json_text(outcome_descriptions[finding->kind].word));
	json_put(value, "ruleIndex", json_count(rule));
	/* A violation that caused no failure is a warning. */
	json_put(value, "level",
		json_string(finding->kind == OUTCOME_VIOLATION ? "warning" : "error"));
	json_put(value, "message",
		sarif_message(json_textf("%s%s%s", finding->title ? finding->title : "",
			finding->detail ? "\n" : "", finding->detail ? finding->detail : "")));
	json_put(value, "locations", locations);
	json_put(value, "relatedLocations", sarif_related_value(finding));
	json_put(value, "stacks", sarif_stacks_value(finding));
	if (finding->step_count)
		json_put(value, "codeFlows", sarif_code_flows_value(finding));
	json_put(value, "partialFingerprints", prints);
	json_put(value, "properties", sarif_properties_value(finding));
	return value;
}

size_t sarif_rule(json_t *rules, const char *id, const char *sentence)
{
	json_t *rule;
	size_t index;

	json_array_foreach(rules, index, rule)
	{
		if (strcmp(json_string_value(json_object_get(rule, "id")), id) == 0)
			return index;
	}
	rule = json_object();
	json_put(rule, "id", json_text(id));
	json_put(rule, "shortDescription", sarif_message(json_text(sentence)));
	json_append(rules, rule);
	return json_array_size(rules) - 1;
}

static json_t *sarif_invocations_value(const struct store_campaign *campaign)
{
	json_t *value = json_object(), *list = json_array();
	const time_t started = (time_t)campaign->started;
	struct tm parts;
	char text[32];

	json_put(value, "commandLine", json_text(campaign->command));
	json_put(value, "executionSuccessful", json_true());
	if (gmtime_r(&started, &parts) &&
		strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
		json_put(value, "startTimeUtc", json_string(text));
	json_append(list, value);
	return list;
}

static char *sarif_make(const struct report *report)
{
	json_t *root = json_object(), *runs = json_array(), *run = json_object();
	json_t *driver = json_object(), *tool = json_object();
	json_t *rules = json_array(), *results = json_array();

	for (uint32_t i = 0; i < report->finding_count; i++) {
		const struct finding *finding = &report->findings[i];
		const struct outcome_description *kind = &outcome_descriptions[finding->kind];
		json_t *result =
			sarif_result_value(finding, sarif_rule(rules, kind->word, kind->sentence));

		sarif_add_explanation(report, finding->id, result);
		json_append(results, result);
	}
	sarif_add_documents(report, rules, results);
	json_put(driver, "name", json_string("raddle"));
	json_put(driver, "semanticVersion", json_text(report->release));
	json_put(driver, "rules", rules);
	json_put(tool, "driver", driver);
	json_put(run, "tool", tool);
	if (report->campaign)
		json_put(run, "invocations", sarif_invocations_value(report->campaign));
	json_put(run, "columnKind", json_string("utf16CodeUnits"));
	json_put(run, "results", results);
	json_append(runs, run);
	json_put(root, "$schema", json_string(SCHEMA));
	json_put(root, "version", json_string("2.1.0"));
	json_put(root, "runs", runs);
	return json_document(root);
}

const struct report_format format_sarif = {
	.name = "sarif",
	.summary = "As SARIF 2.1.0, for code hosting sites and editors",
	.make = sarif_make,
};
