/* An explanation as one JSON document; docs/explain.md describes it. */
#include <jansson.h>
#include <stdlib.h>

#include "base/bug.h"
#include "commands/explain/explain_orders_words.h"
#include "commands/explain/explain_result.h"
#include "report/json_value.h"

static void explain_json_set(json_t *object, const char *key, json_t *value)
{
	BUG_ON(json_object_set_new(object, key, value));
}

static json_t *explain_json_rate_to_json(const struct rate *rate, uint32_t tries)
{
	double low, high;

	rate_interval(rate, &low, &high);
	return json_pack("{s:i, s:i, s:i, s:f, s:f}", "tries", (int)tries, "runs", (int)rate->runs,
		"failed", (int)rate->failed, "low", low, "high", high);
}

static json_t *explain_json_access_to_json(
	struct explain *explain, const struct pattern *pattern, unsigned access)
{
	const struct explain_place *place = explain_site(explain, pattern->sites[access]);
	json_t *out = json_object();

	explain_json_set(out, "kind", json_string(pattern_is_write(pattern, access) ? "W" : "R"));
	explain_json_set(out, "thread", json_integer(pattern_thread(pattern, access) + 1));
	explain_json_set(out, "operation",
		pattern_is_order(pattern) ? json_string(op_descriptions[pattern->ops[access]].verb)
					  : json_null());
	explain_json_set(
		out, "variable", json_string(pattern_variable(pattern, access) ? "y" : "x"));
	explain_json_set(out, "file", json_text(place->file));
	explain_json_set(out, "line", json_integer(place->line));
	explain_json_set(out, "function", json_text(place->function_name));
	explain_json_set(out, "module", json_text(place->module));
	explain_json_set(out, "offset", json_integer((json_int_t)place->offset));
	return out;
}

static json_t *explain_json_roles_to_json(struct explain *explain, const struct pattern *pattern)
{
	json_t *out = json_array();

	for (unsigned party = 0; party < PATTERN_THREADS; party++) {
		const uint64_t start = pattern->roles[party];
		const char *function = start ? explain_function(explain, start) : "main";

		BUG_ON(json_array_append_new(out, json_text(function)));
	}
	return out;
}

static json_t *explain_json_pattern_to_json(struct explain *explain, const struct pattern *pattern)
{
	json_t *out = json_object(), *accesses = json_array();

	for (unsigned i = 0; i < pattern_access_count(pattern); i++)
		BUG_ON(json_array_append_new(
			accesses, explain_json_access_to_json(explain, pattern, i)));
	explain_json_set(out, "pattern", json_string(pattern_descriptions[pattern->kind].text));
	explain_json_set(out, "accesses", accesses);
	explain_json_set(out, "roles", explain_json_roles_to_json(explain, pattern));
	return out;
}

static json_t *explain_json_record_to_json(
	struct explain *explain, const struct pattern_record *record, uint32_t place)
{
	json_t *out = explain_json_pattern_to_json(explain, &record->pattern);

	explain_json_set(out, "place", json_integer(place + 1));
	explain_json_set(out, "rank_mean", json_real(record->rank_mean));
	explain_json_set(out, "rank_worst", json_integer(record->rank_worst));
	explain_json_set(out, "score", json_real(record->score));
	explain_json_set(out, "failed", json_integer(record->failed));
	explain_json_set(out, "passed", json_integer(record->passed));
	explain_json_set(out, "explanation", json_integer(record->explanation + 1));
	return out;
}

static const char *explain_json_verdict_word(const struct explain_answer *answer)
{
	if (!answer->has_cause || !answer->cause.is_tested)
		return "untested";
	if (answer->cause.is_consequence)
		return "consequence";
	return answer->cause.is_cause ? "cause" : "correlated";
}

static json_t *explain_json_steps_to_json(const struct explain_shown *shown)
{
	json_t *out = json_array();

	for (uint32_t i = 0; i < shown->run.step_count; i++) {
		const struct finding_step *step = &shown->run.steps[i];
		json_t *row = json_object();

		explain_json_set(row, "step", json_integer((json_int_t)step->step));
		explain_json_set(row, "thread", json_text(step->thread));
		explain_json_set(row, "verb", json_text(step->verb));
		explain_json_set(row, "object", json_text(step->object));
		explain_json_set(row, "file", json_text(step->where.file));
		explain_json_set(row, "line", json_integer(step->where.line));
		explain_json_set(row, "is_switch", json_boolean(step->is_switch));
		explain_json_set(row, "is_preemption", json_boolean(step->is_preemption));
		BUG_ON(json_array_append_new(out, row));
	}
	return out;
}

static json_t *explain_json_marks_to_json(const struct explain_shown *shown, uint64_t key)
{
	const struct pattern *pattern = explain_shown_pattern(shown, key);
	json_t *out = json_array();

	for (unsigned i = 0; pattern && i < pattern_access_count(pattern); i++) {
		const struct finding_step *step = explain_shown_step(shown, pattern, i);

		if (step)
			json_append(out, json_count(step->step));
	}
	return out;
}

static json_t *explain_json_variables_to_json(const struct explain_answer *answer)
{
	const struct pattern *shown =
		explain_shown_pattern(&answer->failing, answer->record->pattern.key);
	json_t *out = json_array();
	unsigned next = 0;

	for (unsigned i = 0; shown && i < pattern_access_count(shown); i++) {
		const struct finding_step *step = explain_shown_step(&answer->failing, shown, i);

		if (pattern_variable(shown, i) != next)
			continue;
		BUG_ON(json_array_append_new(out, json_text(step ? step->object : NULL)));
		next++;
	}
	return out;
}

static json_t *explain_json_remedy_to_json(
	const struct explain_result *result, const struct explain_answer *answer)
{
	struct strbuf text = STRBUF_EMPTY;
	json_t *out;

	explain_add_remedy(&text, result, answer);
	out = json_text(text.text);
	strbuf_release(&text);
	return out;
}

static json_t *explain_json_answer_to_json(
	const struct explain_result *result, const struct explain_answer *answer)
{
	struct explain *explain = result->explain;
	json_t *out = explain_json_pattern_to_json(explain, &answer->record->pattern);

	explain_json_set(out, "explanation", json_integer(answer->record->explanation + 1));
	explain_json_set(out, "score", json_real(answer->record->score));
	explain_json_set(out, "same_conflict", json_integer(answer->same_conflict));
	explain_json_set(out, "verdict", json_string(explain_json_verdict_word(answer)));
	explain_json_set(out, "meaning", json_string(explain_meaning(&answer->record->pattern)));
	explain_json_set(out, "remedy", explain_json_remedy_to_json(result, answer));
	if (answer->has_cause) {
		json_t *patterns = json_array();

		for (uint32_t i = 0; i < answer->cause.pattern_count; i++)
			BUG_ON(json_array_append_new(patterns,
				explain_json_pattern_to_json(explain, &answer->cause.patterns[i])));
		explain_json_set(out, "patterns", patterns);
		explain_json_set(out, "forced",
			explain_json_rate_to_json(
				&answer->cause.forced, answer->cause.forced_tries));
		explain_json_set(
			out, "forced_between_threads", json_boolean(answer->cause.is_between));
		explain_json_set(
			out, "forbidden_others", json_integer(answer->cause.forbidden_others));
		explain_json_set(out, "forbidden",
			explain_json_rate_to_json(
				&answer->cause.forbidden, answer->cause.forbidden_tries));
	}
	if (answer->has_failing) {
		explain_json_set(out, "variables", explain_json_variables_to_json(answer));
		explain_json_set(out, "failing_run", explain_json_steps_to_json(&answer->failing));
		explain_json_set(out, "failing_marks",
			explain_json_marks_to_json(&answer->failing, answer->record->pattern.key));
	}
	if (answer->has_passing)
		explain_json_set(out, "passing_run", explain_json_steps_to_json(&answer->passing));
	return out;
}

char *explain_to_json(const struct explain_result *result, uint32_t patterns_most)
{
	const struct pattern_ranking *ranking = &result->ranking;
	json_t *root = json_object(), *records = json_array(), *answers = json_array();
	char *text;

	for (uint32_t i = 0; i < ranking->count && i < patterns_most; i++)
		BUG_ON(json_array_append_new(records,
			explain_json_record_to_json(result->explain, &ranking->records[i], i)));
	for (uint32_t i = 0; i < result->answer_count; i++)
		BUG_ON(json_array_append_new(
			answers, explain_json_answer_to_json(result, &result->answers[i])));
	explain_json_set(root, "raddle_explain", json_integer(1));
	explain_json_set(root, "finding", json_string(result->finding->id));
	explain_json_set(root, "cause", json_text(result->finding->cause));
	explain_json_set(root, "remedy", json_text(result->finding->remedy));
	explain_json_set(root, "suspicion", json_string(suspicion_words[result->suspicion]));
	explain_json_set(root, "window", json_integer(result->window));
	explain_json_set(root, "failed", json_integer(ranking->failed));
	explain_json_set(root, "passed", json_integer(ranking->passed));
	explain_json_set(root, "failed_otherwise", json_integer(result->others));
	explain_json_set(root, "patterns_dropped",
		json_integer((json_int_t)(result->patterns_dropped + ranking->dropped)));
	explain_json_set(
		root, "accesses_dropped", json_integer((json_int_t)result->accesses_dropped));
	explain_json_set(root, "notes", json_text(result->notes.text ? result->notes.text : ""));
	explain_json_set(root, "pattern_count", json_integer(ranking->count));
	explain_json_set(root, "explanation_count", json_integer(ranking->explanation_count));
	explain_json_set(root, "patterns", records);
	explain_json_set(root, "answers", answers);
	if (result->orders.model != MEMORY_MODEL_SC)
		explain_json_set(root, "memory_orders", explain_orders_to_json(result));
	text = json_dumps(root, JSON_INDENT(1));
	BUG_ON(!text);
	json_decref(root);
	return text;
}
