#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "commands/branches/branches_result.h"
#include "report/json_value.h"

/* Returns a step as in a finding, with its value in addition. */
static json_t *branches_json_step_to_json(const struct branch_step *step, uint32_t number)
{
	json_t *value =
		json_pack("{s:I, s:s, s:s, s:o, s:o, s:b, s:b, s:{s:o, s:o, s:I, s:n, s:b}}",
			"step", (json_int_t)number, "thread", step->thread, "verb", step->verb,
			"object", json_text(step->object), "value", json_text(step->value),
			"is_switch", (int)step->is_switch, "is_preemption", 0, "where", "function",
			json_text(step->function), "file", json_text(step->file), "line",
			(json_int_t)step->line, "module", "is_system", 0);

	BUG_ON(!value);
	return value;
}

static json_t *branches_json_interleaving_to_json(const struct branch_interleaving *interleaving)
{
	json_t *steps = json_array(), *value;

	for (uint32_t i = 0; i < interleaving->count; i++)
		json_append(steps, branches_json_step_to_json(&interleaving->steps[i], i + 1));
	value = json_pack(
		"{s:o, s:I}", "steps", steps, "steps_left_out", (json_int_t)interleaving->left_out);
	BUG_ON(!value);
	return value;
}

/* Parses "shop.cc:12 in sell". A file name may contain colons: the last one with a number ends
 * it. */
static json_t *branches_json_caller_to_json(const char *text)
{
	const char *end = strstr(text, " in "), *colon = NULL;

	for (const char *at = text; *at && (!end || at < end); at++)
		colon = *at == ':' ? at : colon;
	if (!colon)
		return json_null();
	return json_pack("{s:s%, s:I, s:o}", "file", text, (size_t)(colon - text), "line",
		(json_int_t)strtol(colon + 1, NULL, 10), "function",
		json_text(end ? end + strlen(" in ") : NULL));
}

static json_t *branches_json_branch_to_json(const struct sensitive_branch *branch)
{
	json_t *value = json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:s, s:b, s:I, s:s, s:s, s:I}",
		"kind", sensitive_kind_words[branch->kind], "function", branch->function, "file",
		branch->file, "line", (json_int_t)branch->line, "column",
		(json_int_t)branch->column, "thread", branch->thread, "variables",
		branch->variables, "recorded", (int)branch->was_taken, "occurrence",
		(json_int_t)branch->occurrence, "schedule", branch->schedule, "class",
		branch_class_words[branch->class], "continuations",
		(json_int_t)branch->continuations);

	BUG_ON(!value);
	if (branch->class == CLASS_BUG)
		json_put(value, "outcome",
			json_string(outcome_descriptions[branch->outcome.kind].word));
	if (*branch->finding)
		json_put(value, "finding", json_string(branch->finding));
	if (branch->called_from) {
		json_put(value, "called_from", json_string(branch->called_from));
		json_put(value, "caller", branches_json_caller_to_json(branch->called_from));
	}
	if (branch->round)
		json_put(value, "round", json_integer(branch->round));
	if (branch->delayed)
		json_put(value, "delayed", json_string(branch->delayed));
	json_put(value, "path", json_text(branch->path));
	if (branch->interleavings[SENSITIVE_RECORDED].count)
		json_put(value, "interleavings",
			json_pack("{s:o, s:o}", "recorded",
				branches_json_interleaving_to_json(
					&branch->interleavings[SENSITIVE_RECORDED]),
				"flipped",
				branches_json_interleaving_to_json(
					&branch->interleavings[SENSITIVE_FLIPPED])));
	return value;
}

static json_t *branches_json_figures_to_json(const struct branches_result *result)
{
	const struct sensitivity_figures *figures = &result->figures;
	json_t *value = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:b}",
		"chunks", (json_int_t)figures->chunks, "threads", (json_int_t)figures->threads,
		"instructions", (json_int_t)figures->instructions, "events",
		(json_int_t)figures->events, "critical_events",
		(json_int_t)figures->critical_events, "branches", (json_int_t)figures->branches,
		"constraints", (json_int_t)figures->constraints, "queries",
		(json_int_t)figures->queries, "timeouts", (json_int_t)figures->timeouts, "load_ns",
		(json_int_t)figures->load_ns, "walk_ns", (json_int_t)figures->walk_ns, "solve_ns",
		(json_int_t)figures->solve_ns, "run_ns", (json_int_t)result->run_ns,
		"run_processor_ns", (json_int_t)result->run_processor_ns, "record_bytes",
		(json_int_t)result->record_bytes, "is_model_wrong", (int)figures->is_model_wrong,
		"is_partial", (int)result->is_partial);

	BUG_ON(!value);
	json_put(value, "events_ns", json_count(figures->events_ns));
	json_put(value, "constraint_terms", json_count(figures->constraint_terms));
	json_put(value, "unasked", json_count(figures->unasked));
	json_put(value, "trials", json_count(figures->trials));
	json_put(value, "points", json_count(figures->points));
	json_put(value, "points_from", json_count(result->points_from));
	json_put(value, "points_to", json_count(result->points_to));
	json_put(value, "parts", json_integer(figures->parts));
	json_put(value, "traces", json_integer(result->traces));
	if (result->is_failing)
		json_put(value, "outcome",
			json_string(outcome_descriptions[result->outcome.kind].word));
	if (figures->unknown_writes)
		json_put(value, "unknown_writes", json_count(figures->unknown_writes));
	if (figures->unknown_writes)
		json_put(value, "unknown", json_string(figures->unknown));
	if (figures->unknown_uses)
		json_put(value, "unknown_uses", json_count(figures->unknown_uses));
	if (figures->unknown_uses)
		json_put(value, "unknown_users", json_string(figures->unknown_users));
	if (result->cut_count)
		json_put(value, "runs_cut", json_integer(result->cut_count));
	if (figures->unfinished_threads)
		json_put(value, "unfinished", json_string(figures->unfinished));
	return value;
}

static json_t *branches_json_samples_to_json(const struct branches_result *result)
{
	json_t *list = json_array(), *value;

	for (uint32_t i = 0; i < result->observed_count; i++) {
		const struct observed_branch *item = &result->observed[i];

		json_append(
			list, json_pack("{s:s, s:s, s:s, s:I, s:b, s:b, s:I}", "kind",
				      sensitive_kind_words[item->kind], "file", item->file,
				      "function", item->function, "line", (json_int_t)item->line,
				      "followed", (int)item->is_modelled, "found",
				      (int)item->is_found, "runs", (json_int_t)item->runs));
	}
	value = json_pack("{s:I, s:I, s:o}", "runs", (json_int_t)result->samples, "lost",
		(json_int_t)result->samples_lost, "branches", list);
	BUG_ON(!value);
	return value;
}

static json_t *branches_json_early_to_json(const struct branches_result *result)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < result->early_count; i++) {
		const struct sensitive_branch *item = &result->early[i];
		json_t *value = json_pack("{s:s, s:s, s:s, s:I, s:s, s:s}", "outcome",
			outcome_descriptions[item->outcome.kind].word, "file", item->file,
			"function", item->function, "line", (json_int_t)item->line, "thread",
			item->thread, "schedule", item->schedule);

		BUG_ON(!value);
		if (*item->finding)
			json_put(value, "finding", json_string(item->finding));
		json_append(list, value);
	}
	return list;
}

char *branches_to_json(const struct branches_result *result)
{
	json_t *branches = json_array(), *unproven = json_array(), *all;
	char *text;

	for (uint32_t i = 0; i < result->count; i++)
		json_append(branches, branches_json_branch_to_json(&result->items[i]));
	for (uint32_t i = 0; i < result->unproven_count; i++)
		json_append(unproven, json_string(result->unproven[i]));
	all = json_pack("{s:o, s:o, s:o}", "branches", branches, "unproven", unproven, "figures",
		branches_json_figures_to_json(result));
	BUG_ON(!all);
	if (result->early_count)
		json_put(all, "failures", branches_json_early_to_json(result));
	if (result->samples)
		json_put(all, "samples", branches_json_samples_to_json(result));
	text = json_dumps(all, JSON_INDENT(2));
	BUG_ON(!text);
	json_decref(all);
	return text;
}
