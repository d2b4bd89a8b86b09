/* An explanation as one JSON document; docs/explain.md describes it. */
#include <jansson.h>

#include "base/bug.h"
#include "commands/explain/explain_orders_words.h"
#include "commands/explain/explain_result.h"
#include "report/json_value.h"

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
	const struct explain_location *location = explain_site(explain, pattern->sites[access]);
	json_t *out = json_object();

	json_put(out, "kind", json_string(pattern_is_write(pattern, access) ? "W" : "R"));
	json_put(out, "thread", json_integer(pattern_thread(pattern, access) + 1));
	json_put(out, "operation",
		pattern_is_order(pattern) ? json_string(op_descriptions[pattern->ops[access]].verb)
					  : json_null());
	json_put(out, "variable", json_string(pattern_variable(pattern, access) ? "y" : "x"));
	json_put(out, "file", json_text(location->file));
	json_put(out, "line", json_integer(location->line));
	json_put(out, "function", json_text(location->function_name));
	json_put(out, "module", json_text(location->module));
	json_put(out, "offset", json_count(location->offset));
	return out;
}

static json_t *explain_json_roles_to_json(struct explain *explain, const struct pattern *pattern)
{
	json_t *out = json_array();

	for (unsigned party = 0; party < PATTERN_THREADS; party++) {
		const uint64_t start = pattern->roles[party];
		const char *function = start ? explain_function(explain, start) : "main";

		json_append(out, json_text(function));
	}
	return out;
}

static json_t *explain_json_pattern_to_json(struct explain *explain, const struct pattern *pattern)
{
	json_t *out = json_object(), *accesses = json_array();

	for (unsigned i = 0; i < pattern_access_count(pattern); i++)
		json_append(accesses, explain_json_access_to_json(explain, pattern, i));
	json_put(out, "pattern", json_string(pattern_descriptions[pattern->kind].text));
	json_put(out, "accesses", accesses);
	json_put(out, "roles", explain_json_roles_to_json(explain, pattern));
	return out;
}

static json_t *explain_json_record_to_json(
	struct explain *explain, const struct pattern_record *record, uint32_t location)
{
	json_t *out = explain_json_pattern_to_json(explain, &record->pattern);

	json_put(out, "place", json_integer(location + 1));
	json_put(out, "rank_mean", json_real(record->rank_mean));
	json_put(out, "rank_worst", json_integer(record->rank_worst));
	json_put(out, "score", json_real(record->score));
	json_put(out, "failed", json_integer(record->failed));
	json_put(out, "passed", json_integer(record->passed));
	json_put(out, "explanation", json_integer(record->explanation + 1));
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

/* Writes the steps of the window, and the accesses of the pattern. */
static json_t *explain_json_steps_to_json(const struct explain_shown *shown, uint64_t key)
{
	const struct pattern *pattern = explain_shown_pattern(shown, key);
	const struct finding_step *marks[PATTERN_ACCESSES_MAX] = {NULL};
	json_t *out = json_array();

	for (unsigned i = 0; pattern && i < pattern_access_count(pattern); i++)
		marks[i] = explain_shown_step(shown, pattern, i);
	for (uint32_t i = 0; i < shown->run.step_count; i++) {
		const struct finding_step *step = &shown->run.steps[i];
		bool is_wanted = i >= shown->window_start && i < shown->window_end;
		json_t *row;

		for (unsigned mark = 0; mark < PATTERN_ACCESSES_MAX; mark++)
			is_wanted |= marks[mark] == step;
		if (!is_wanted)
			continue;
		row = json_object();
		json_put(row, "step", json_count(step->step));
		json_put(row, "thread", json_text(step->thread));
		json_put(row, "verb", json_text(step->verb));
		json_put(row, "object", json_text(step->object));
		json_put(row, "file", json_text(step->where.file));
		json_put(row, "line", json_integer(step->where.line));
		json_put(row, "is_switch", json_boolean(step->is_switch));
		json_put(row, "is_preemption", json_boolean(step->is_preemption));
		json_append(out, row);
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
		json_append(out, json_text(step ? step->object : NULL));
		next++;
	}
	return out;
}

static json_t *explain_json_remedy_to_json(
	const struct explain_result *result, const struct explain_answer *answer)
{
	STRBUF_SCOPED text = STRBUF_EMPTY;

	explain_add_remedy(&text, result, answer);
	return json_text(text.text);
}

static json_t *explain_json_answer_to_json(
	const struct explain_result *result, const struct explain_answer *answer)
{
	struct explain *explain = result->explain;
	json_t *out = explain_json_pattern_to_json(explain, &answer->record->pattern);
	const uint64_t key = answer->record->pattern.key;

	json_put(out, "explanation", json_integer(answer->record->explanation + 1));
	json_put(out, "score", json_real(answer->record->score));
	json_put(out, "same_conflict", json_integer(answer->same_conflict));
	json_put(out, "verdict", json_string(explain_json_verdict_word(answer)));
	json_put(out, "meaning", json_string(explain_meaning(&answer->record->pattern)));
	json_put(out, "remedy", explain_json_remedy_to_json(result, answer));
	if (answer->has_cause) {
		json_t *patterns = json_array();

		for (uint32_t i = 0; i < answer->cause.pattern_count; i++)
			json_append(patterns,
				explain_json_pattern_to_json(explain, &answer->cause.patterns[i]));
		json_put(out, "patterns", patterns);
		json_put(out, "forced",
			explain_json_rate_to_json(
				&answer->cause.forced, answer->cause.forced_tries));
		json_put(out, "forced_between_threads", json_boolean(answer->cause.is_between));
		json_put(out, "forbidden_others", json_integer(answer->cause.forbidden_others));
		json_put(out, "forbidden",
			explain_json_rate_to_json(
				&answer->cause.forbidden, answer->cause.forbidden_tries));
	}
	if (answer->has_failing) {
		json_put(out, "variables", explain_json_variables_to_json(answer));
		json_put(out, "failing_run", explain_json_steps_to_json(&answer->failing, key));
		json_put(out, "failing_marks", explain_json_marks_to_json(&answer->failing, key));
	}
	if (answer->has_passing)
		json_put(out, "passing_run", explain_json_steps_to_json(&answer->passing, key));
	return out;
}

char *explain_to_json(const struct explain_result *result, uint32_t patterns_most)
{
	const struct pattern_ranking *ranking = &result->ranking;
	json_t *root = json_object(), *records = json_array(), *answers = json_array();
	char *text;

	for (uint32_t i = 0; i < ranking->count && i < patterns_most; i++)
		json_append(records,
			explain_json_record_to_json(result->explain, &ranking->records[i], i));
	for (uint32_t i = 0; i < result->answer_count; i++)
		json_append(answers, explain_json_answer_to_json(result, &result->answers[i]));
	json_put(root, "raddle_explain", json_integer(1));
	json_put(root, "finding", json_string(result->finding->id));
	json_put(root, "cause", json_text(result->finding->cause));
	json_put(root, "remedy", json_text(result->finding->remedy));
	json_put(root, "suspicion", json_string(suspicion_words[result->suspicion]));
	json_put(root, "window", json_integer(result->window));
	json_put(root, "failed", json_integer(ranking->failed));
	json_put(root, "passed", json_integer(ranking->passed));
	json_put(root, "failed_otherwise", json_integer(result->others));
	json_put(root, "patterns_dropped",
		json_integer((json_int_t)(result->patterns_dropped + ranking->dropped)));
	json_put(root, "accesses_dropped", json_count(result->accesses_dropped));
	json_put(root, "notes", json_text(result->notes.text ? result->notes.text : ""));
	json_put(root, "pattern_count", json_integer(ranking->count));
	json_put(root, "explanation_count", json_integer(ranking->explanation_count));
	json_put(root, "patterns", records);
	json_put(root, "answers", answers);
	if (result->orders.model != MEMORY_MODEL_SC)
		json_put(root, "memory_orders", explain_orders_to_json(result));
	text = json_dumps(root, JSON_INDENT(1));
	BUG_ON(!text);
	json_decref(root);
	return text;
}
