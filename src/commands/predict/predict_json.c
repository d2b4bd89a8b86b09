#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/bug.h"
#include "commands/predict/predict_result.h"
#include "model/pattern.h"
#include "report/json_value.h"

static json_t *predict_json_text_or_null(const char *text)
{
	return text && *text ? json_text(text) : json_null();
}

static json_t *predict_json_frame_to_json(const struct finding_frame *frame)
{
	if (!frame || (!frame->function && !frame->file))
		return json_null();
	return json_pack("{s:o, s:o, s:I}", "function", predict_json_text_or_null(frame->function),
		"file", predict_json_text_or_null(frame->file), "line", (json_int_t)frame->line);
}

static json_t *predict_json_locations_to_json(
	const struct candidate *candidate, const struct prediction *prediction)
{
	json_t *locations = json_array();

	for (uint32_t i = 0; i < candidate->wait_count; i++) {
		const struct finding_wait *wait = &candidate->waits[i];

		json_append(locations,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "thread",
				predict_json_text_or_null(wait->thread), "verb",
				predict_json_text_or_null(wait->verb), "object",
				predict_json_text_or_null(wait->object), "at",
				predict_json_frame_to_json(finding_user_frame(&wait->at)), "holder",
				predict_json_text_or_null(wait->holder), "held_since",
				predict_json_frame_to_json(&wait->held_since), "arrivals",
				(json_int_t)prediction->attempt.arrivals[i], "run",
				(json_int_t)candidate->locations[i].run, "step",
				(json_int_t)candidate->locations[i].op.step));
	}
	return locations;
}

static const char *const kind_words[CANDIDATE_KINDS] = {
	[CANDIDATE_LOCK_CYCLE] = "cycle of locks",
	[CANDIDATE_RACE] = "race",
	[CANDIDATE_VIOLATION] = "violation",
	[CANDIDATE_LOCK_WINDOW] = "lock window",
};

static void predict_json_add_kind(
	const struct candidate *candidate, const struct predict_attempt *attempt, json_t *value)
{
	const bool is_violation = candidate->kind == CANDIDATE_VIOLATION;

	json_put(value, "kind", json_string(kind_words[candidate->kind]));
	if (candidate->kind == CANDIDATE_LOCK_CYCLE)
		return;
	json_put(value, "shown", json_count(attempt->shown));
	json_put(value, "shown_failed", json_count(attempt->shown_failed));
	json_put(value, "shown_by", predict_json_text_or_null(attempt->shown_by));
	if (!is_violation)
		return;
	json_put(value, "pattern", json_string(pattern_descriptions[candidate->pattern].text));
	json_put(value, "set", predict_json_text_or_null(candidate->set));
	json_put(value, "has_window", json_boolean(candidate->has_window));
	json_put(value, "units",
		json_pack("[o, o]", predict_json_text_or_null(candidate->units[0]),
			predict_json_text_or_null(candidate->units[1])));
}

static json_t *predict_json_candidate_to_json(const struct predict_result *result, uint32_t index)
{
	const struct candidate *candidate = &result->candidates.items[index];
	const struct prediction *prediction = &result->predictions[index];
	STRBUF_SCOPED reason = prediction_reason(candidate, prediction);
	char id[16];
	json_t *value;

	(void)snprintf(id, sizeof id, "P%" PRIu32, index + 1); /* fits */
	value = json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "id", id, "state",
		prediction_state_words[prediction->state], "title",
		predict_json_text_or_null(candidate->title), "occurrences",
		(json_int_t)candidate->times, "runs", (json_int_t)prediction->attempt.runs,
		"meetings", (json_int_t)prediction->attempt.rendezvous, "thrashes",
		(json_int_t)prediction->attempt.thrashes, "finding",
		predict_json_text_or_null(prediction->finding), "reason",
		predict_json_text_or_null(reason.text), "places",
		predict_json_locations_to_json(candidate, prediction));
	BUG_ON(!value);
	json_put(value, "memory_model",
		json_string(memory_model_words[predict_driven_model(result->options, candidate)]));
	predict_json_add_kind(candidate, &prediction->attempt, value);
	return value;
}

static json_t *predict_json_runs_to_json(const struct predict_result *result)
{
	json_t *runs = json_array();

	for (uint32_t i = 0; i < predict_run_count(result->predict); i++) {
		const struct predict_recorded run = predict_recorded(result->predict, i);

		json_append(runs, json_pack("{s:I, s:I, s:I, s:f}", "threads",
					  (json_int_t)run.threads, "steps", (json_int_t)run.steps,
					  "steps_not_recorded", (json_int_t)run.events_dropped,
					  "seconds", (double)run.run_ns / 1e9));
	}
	return runs;
}

static double predict_json_seconds_between(uint64_t from_ns, uint64_t to_ns, uint64_t without_ns)
{
	return to_ns > from_ns + without_ns ? (double)(to_ns - from_ns - without_ns) / 1e9 : 0;
}

static json_t *predict_json_candidates_to_json(const struct predict_result *result, uint32_t most)
{
	FREE_SCOPED uint32_t *order = predict_ranking(result);
	json_t *candidates = json_array();

	for (uint32_t i = 0; i < result->candidates.count && i < most; i++)
		json_append(candidates, predict_json_candidate_to_json(result, order[i]));
	return candidates;
}

void predict_print_json(const struct predict_result *result)
{
	json_auto_t *candidates = predict_json_candidates_to_json(result, UINT32_MAX);
	json_auto_t *runs = predict_json_runs_to_json(result);
	char *candidate_text, *run_text;

	candidate_text = json_dumps(candidates, JSON_COMPACT);
	run_text = json_dumps(runs, JSON_COMPACT);
	BUG_ON(!candidate_text || !run_text);
	(void)printf(
		"{\"seed\":%" PRIu64 ",\"is_cut\":%s,\"watched\":%" PRIu64
		",\"watched_showing\":%" PRIu64
		",\"seconds\":{\"recording\":%.6f,\"inference\":%.6f,\"driving\":%.6f,\"investigating\":%.6f}"
		",\"runs\":%s,\"candidates\":%s,"
		"\"findings\":[%s]}\n",
		result->options->campaign.seed, result->candidates.is_cut ? "true" : "false",
		result->watched.runs, result->runs_showing,
		predict_json_seconds_between(
			result->begun_ns, result->recorded_ns, result->investigated_recording_ns),
		predict_json_seconds_between(result->recorded_ns, result->inferred_ns, 0),
		(double)result->driving_ns / 1e9,
		(double)(result->investigated_recording_ns + result->investigated_driving_ns) / 1e9,
		run_text, candidate_text, result->findings.text);
	free(candidate_text);
	free(run_text);
}

static json_t *predict_json_steps_of_run(
	const struct predict_result *result, const uint32_t *order, uint32_t run)
{
	struct predict_span span = {UINT64_MAX, 0};
	struct finding shown;
	json_t *whole, *steps;
	FREE_SCOPED char *text = NULL;

	for (uint32_t i = 0; i < result->candidates.count && i < PREDICTIONS_KEPT; i++) {
		const struct predict_span own =
			predict_span_of(&result->candidates.items[order[i]], run);

		span.first = own.first < span.first ? own.first : span.first;
		span.last = own.last > span.last ? own.last : span.last;
	}
	if (span.first > span.last ||
		predict_show_run(result->predict, run, span, &shown, NULL) < 0)
		return json_null();
	text = finding_to_json(&shown);
	finding_release(&shown);
	whole = json_loads(text, 0, NULL);
	steps = json_incref(json_object_get(whole, "steps"));
	json_decref(whole);
	return steps;
}

char *predict_to_document(const struct predict_result *result)
{
	json_t *document = json_object(), *runs = json_array();
	FREE_SCOPED uint32_t *order = predict_ranking(result);

	for (uint32_t i = 0; i < predict_run_count(result->predict); i++) {
		const struct predict_recorded recorded = predict_recorded(result->predict, i);
		json_t *run = json_object();

		json_put(run, "threads", json_count(recorded.threads));
		json_put(run, "step_count", json_count(recorded.steps));
		json_put(run, "steps", predict_json_steps_of_run(result, order, i));
		json_append(runs, run);
	}
	json_put(document, "raddle_predictions", json_integer(1));
	json_put(document, "candidate_count", json_count(result->candidates.count));
	json_put(document, "is_cut", json_boolean(result->candidates.is_cut));
	json_put(document, "candidates", predict_json_candidates_to_json(result, PREDICTIONS_KEPT));
	json_put(document, "runs", runs);
	return json_document(document);
}
