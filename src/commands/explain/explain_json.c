/* An explanation as one JSON document; docs/explain.md describes it. */
#include <jansson.h>
#include <stdlib.h>

#include "base/bug.h"
#include "commands/explain/explain_orders_words.h"
#include "commands/explain/explain_result.h"
#include "report/json_value.h"

static void set(json_t *object, const char *key, json_t *value)
{
	BUG_ON(json_object_set_new(object, key, value));
}

static json_t *rate_to_json(const struct rate *rate, uint32_t tries)
{
	double low, high;

	rate_interval(rate, &low, &high);
	return json_pack("{s:i, s:i, s:i, s:f, s:f}", "tries", (int)tries, "runs", (int)rate->runs,
		"failed", (int)rate->failed, "low", low, "high", high);
}

static json_t *access_to_json(
	struct explain *explain, const struct pattern *pattern, unsigned access)
{
	const struct explain_place *place = explain_site(explain, pattern->sites[access]);
	json_t *out = json_object();

	set(out, "kind", json_string(pattern_is_write(pattern, access) ? "W" : "R"));
	set(out, "thread", json_integer(pattern_thread(pattern, access) + 1));
	set(out, "operation",
		pattern_is_order(pattern) ? json_string(op_descriptions[pattern->ops[access]].verb)
					  : json_null());
	set(out, "variable", json_string(pattern_variable(pattern, access) ? "y" : "x"));
	set(out, "file", json_text(place->file));
	set(out, "line", json_integer(place->line));
	set(out, "function", json_text(place->function_name));
	set(out, "module", json_text(place->module));
	set(out, "offset", json_integer((json_int_t)place->offset));
	return out;
}

static json_t *roles_to_json(struct explain *explain, const struct pattern *pattern)
{
	json_t *out = json_array();

	for (unsigned party = 0; party < PATTERN_THREADS; party++) {
		const uint64_t start = pattern->roles[party];
		const char *function = start ? explain_function(explain, start) : "main";

		BUG_ON(json_array_append_new(out, json_text(function)));
	}
	return out;
}

static json_t *pattern_to_json(struct explain *explain, const struct pattern *pattern)
{
	json_t *out = json_object(), *accesses = json_array();

	for (unsigned i = 0; i < pattern_access_count(pattern); i++)
		BUG_ON(json_array_append_new(accesses, access_to_json(explain, pattern, i)));
	set(out, "pattern", json_string(pattern_descriptions[pattern->kind].text));
	set(out, "accesses", accesses);
	set(out, "roles", roles_to_json(explain, pattern));
	return out;
}

static json_t *record_to_json(
	struct explain *explain, const struct pattern_record *record, uint32_t place)
{
	json_t *out = pattern_to_json(explain, &record->pattern);

	set(out, "place", json_integer(place + 1));
	set(out, "rank_mean", json_real(record->rank_mean));
	set(out, "rank_worst", json_integer(record->rank_worst));
	set(out, "score", json_real(record->score));
	set(out, "failed", json_integer(record->failed));
	set(out, "passed", json_integer(record->passed));
	set(out, "explanation", json_integer(record->explanation + 1));
	return out;
}

static const char *verdict_word(const struct explain_answer *answer)
{
	if (!answer->has_cause || !answer->cause.is_tested)
		return "untested";
	if (answer->cause.is_consequence)
		return "consequence";
	return answer->cause.is_cause ? "cause" : "correlated";
}

static json_t *steps_to_json(const struct explain_shown *shown)
{
	json_t *out = json_array();

	for (uint32_t i = 0; i < shown->run.step_count; i++) {
		const struct finding_step *step = &shown->run.steps[i];
		json_t *row = json_object();

		set(row, "step", json_integer((json_int_t)step->step));
		set(row, "thread", json_text(step->thread));
		set(row, "verb", json_text(step->verb));
		set(row, "object", json_text(step->object));
		set(row, "file", json_text(step->where.file));
		set(row, "line", json_integer(step->where.line));
		set(row, "is_switch", json_boolean(step->is_switch));
		set(row, "is_preemption", json_boolean(step->is_preemption));
		BUG_ON(json_array_append_new(out, row));
	}
	return out;
}

static json_t *marks_to_json(const struct explain_shown *shown, uint64_t key)
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

static json_t *variables_to_json(const struct explain_answer *answer)
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

static json_t *remedy_to_json(
	const struct explain_result *result, const struct explain_answer *answer)
{
	struct strbuf text;
	json_t *out;

	strbuf_init(&text);
	explain_add_remedy(&text, result, answer);
	out = json_text(text.text);
	strbuf_release(&text);
	return out;
}

static json_t *answer_to_json(
	const struct explain_result *result, const struct explain_answer *answer)
{
	struct explain *explain = result->explain;
	json_t *out = pattern_to_json(explain, &answer->record->pattern);

	set(out, "explanation", json_integer(answer->record->explanation + 1));
	set(out, "score", json_real(answer->record->score));
	set(out, "same_conflict", json_integer(answer->same_conflict));
	set(out, "verdict", json_string(verdict_word(answer)));
	set(out, "meaning", json_string(explain_meaning(&answer->record->pattern)));
	set(out, "remedy", remedy_to_json(result, answer));
	if (answer->has_cause) {
		json_t *patterns = json_array();

		for (uint32_t i = 0; i < answer->cause.pattern_count; i++)
			BUG_ON(json_array_append_new(
				patterns, pattern_to_json(explain, &answer->cause.patterns[i])));
		set(out, "patterns", patterns);
		set(out, "forced", rate_to_json(&answer->cause.forced, answer->cause.forced_tries));
		set(out, "forced_between_threads", json_boolean(answer->cause.is_between));
		set(out, "forbidden_others", json_integer(answer->cause.forbidden_others));
		set(out, "forbidden",
			rate_to_json(&answer->cause.forbidden, answer->cause.forbidden_tries));
	}
	if (answer->has_failing) {
		set(out, "variables", variables_to_json(answer));
		set(out, "failing_run", steps_to_json(&answer->failing));
		set(out, "failing_marks",
			marks_to_json(&answer->failing, answer->record->pattern.key));
	}
	if (answer->has_passing)
		set(out, "passing_run", steps_to_json(&answer->passing));
	return out;
}

char *explain_to_json(const struct explain_result *result, uint32_t patterns_most)
{
	const struct pattern_ranking *ranking = &result->ranking;
	json_t *root = json_object(), *records = json_array(), *answers = json_array();
	char *text;

	for (uint32_t i = 0; i < ranking->count && i < patterns_most; i++)
		BUG_ON(json_array_append_new(
			records, record_to_json(result->explain, &ranking->records[i], i)));
	for (uint32_t i = 0; i < result->answer_count; i++)
		BUG_ON(json_array_append_new(answers, answer_to_json(result, &result->answers[i])));
	set(root, "raddle_explain", json_integer(1));
	set(root, "finding", json_string(result->finding->id));
	set(root, "cause", json_text(result->finding->cause));
	set(root, "remedy", json_text(result->finding->remedy));
	set(root, "suspicion", json_string(suspicion_words[result->suspicion]));
	set(root, "window", json_integer(result->window));
	set(root, "failed", json_integer(ranking->failed));
	set(root, "passed", json_integer(ranking->passed));
	set(root, "failed_otherwise", json_integer(result->others));
	set(root, "patterns_dropped",
		json_integer((json_int_t)(result->patterns_dropped + ranking->dropped)));
	set(root, "accesses_dropped", json_integer((json_int_t)result->accesses_dropped));
	set(root, "notes", json_text(result->notes.text ? result->notes.text : ""));
	set(root, "pattern_count", json_integer(ranking->count));
	set(root, "explanation_count", json_integer(ranking->explanation_count));
	set(root, "patterns", records);
	set(root, "answers", answers);
	if (result->orders.model != MEMORY_MODEL_SC)
		set(root, "memory_orders", explain_orders_to_json(result));
	text = json_dumps(root, JSON_INDENT(1));
	BUG_ON(!text);
	json_decref(root);
	return text;
}
