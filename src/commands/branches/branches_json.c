#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "commands/branches/branches_result.h"

static json_t *branches_json_text_or_null(const char *text)
{
	json_t *value = text ? json_string(text) : NULL;

	return value ? value : json_null();
}

/* Returns a step as in a finding, with its value in addition. */
static json_t *branches_json_step_to_json(const struct branch_step *step, uint32_t number)
{
	json_t *value = json_pack(
		"{s:I, s:s, s:s, s:o, s:o, s:b, s:b, s:{s:o, s:o, s:I, s:n, s:b}}", "step",
		(json_int_t)number, "thread", step->thread, "verb", step->verb, "object",
		branches_json_text_or_null(step->object), "value",
		branches_json_text_or_null(step->value), "is_switch", (int)step->is_switch,
		"is_preemption", 0, "where", "function", branches_json_text_or_null(step->function),
		"file", branches_json_text_or_null(step->file), "line", (json_int_t)step->line,
		"module", "is_system", 0);

	BUG_ON(!value);
	return value;
}

static json_t *branches_json_interleaving_to_json(const struct branch_interleaving *interleaving)
{
	json_t *steps = json_array(), *value;

	for (uint32_t i = 0; i < interleaving->count; i++)
		BUG_ON(json_array_append_new(
			steps, branches_json_step_to_json(&interleaving->steps[i], i + 1)));
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
		branches_json_text_or_null(end ? end + strlen(" in ") : NULL));
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
		BUG_ON(json_object_set_new(value, "outcome",
			json_string(outcome_descriptions[branch->outcome.kind].word)));
	if (*branch->finding)
		BUG_ON(json_object_set_new(value, "finding", json_string(branch->finding)));
	if (branch->called_from) {
		BUG_ON(json_object_set_new(value, "called_from", json_string(branch->called_from)));
		BUG_ON(json_object_set_new(
			value, "caller", branches_json_caller_to_json(branch->called_from)));
	}
	if (branch->round)
		BUG_ON(json_object_set_new(value, "round", json_integer(branch->round)));
	if (branch->delayed)
		BUG_ON(json_object_set_new(value, "delayed", json_string(branch->delayed)));
	BUG_ON(json_object_set_new(value, "path", branches_json_text_or_null(branch->path)));
	if (branch->interleavings[SENSITIVE_RECORDED].count)
		BUG_ON(json_object_set_new(value, "interleavings",
			json_pack("{s:o, s:o}", "recorded",
				branches_json_interleaving_to_json(
					&branch->interleavings[SENSITIVE_RECORDED]),
				"flipped",
				branches_json_interleaving_to_json(
					&branch->interleavings[SENSITIVE_FLIPPED]))));
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
	BUG_ON(json_object_set_new(
		value, "events_ns", json_integer((json_int_t)figures->events_ns)));
	BUG_ON(json_object_set_new(
		value, "constraint_terms", json_integer((json_int_t)figures->constraint_terms)));
	BUG_ON(json_object_set_new(value, "unasked", json_integer((json_int_t)figures->unasked)));
	BUG_ON(json_object_set_new(value, "trials", json_integer((json_int_t)figures->trials)));
	BUG_ON(json_object_set_new(value, "points", json_integer((json_int_t)figures->points)));
	BUG_ON(json_object_set_new(
		value, "points_from", json_integer((json_int_t)result->points_from)));
	BUG_ON(json_object_set_new(
		value, "points_to", json_integer((json_int_t)result->points_to)));
	BUG_ON(json_object_set_new(value, "parts", json_integer(figures->parts)));
	BUG_ON(json_object_set_new(value, "traces", json_integer(result->traces)));
	if (result->is_failing)
		BUG_ON(json_object_set_new(value, "outcome",
			json_string(outcome_descriptions[result->outcome.kind].word)));
	if (figures->unknown_writes)
		BUG_ON(json_object_set_new(value, "unknown_writes",
			json_integer((json_int_t)figures->unknown_writes)));
	if (figures->unknown_writes)
		BUG_ON(json_object_set_new(value, "unknown", json_string(figures->unknown)));
	if (figures->unknown_uses)
		BUG_ON(json_object_set_new(
			value, "unknown_uses", json_integer((json_int_t)figures->unknown_uses)));
	if (figures->unknown_uses)
		BUG_ON(json_object_set_new(
			value, "unknown_users", json_string(figures->unknown_users)));
	if (result->cut_count)
		BUG_ON(json_object_set_new(value, "runs_cut", json_integer(result->cut_count)));
	if (figures->unfinished_threads)
		BUG_ON(json_object_set_new(value, "unfinished", json_string(figures->unfinished)));
	return value;
}

static json_t *branches_json_samples_to_json(const struct branches_result *result)
{
	json_t *list = json_array(), *value;

	for (uint32_t i = 0; i < result->observed_count; i++) {
		const struct observed_branch *item = &result->observed[i];

		BUG_ON(json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:I, s:b, s:b, s:I}", "kind",
				      sensitive_kind_words[item->kind], "file", item->file,
				      "function", item->function, "line", (json_int_t)item->line,
				      "followed", (int)item->is_modelled, "found",
				      (int)item->is_found, "runs", (json_int_t)item->runs)));
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
			BUG_ON(json_object_set_new(value, "finding", json_string(item->finding)));
		BUG_ON(json_array_append_new(list, value));
	}
	return list;
}

char *branches_to_json(const struct branches_result *result)
{
	json_t *branches = json_array(), *unproven = json_array(), *all;
	char *text;

	for (uint32_t i = 0; i < result->count; i++)
		BUG_ON(json_array_append_new(
			branches, branches_json_branch_to_json(&result->items[i])));
	for (uint32_t i = 0; i < result->unproven_count; i++)
		BUG_ON(json_array_append_new(unproven, json_string(result->unproven[i])));
	all = json_pack("{s:o, s:o, s:o}", "branches", branches, "unproven", unproven, "figures",
		branches_json_figures_to_json(result));
	BUG_ON(!all);
	if (result->early_count)
		BUG_ON(json_object_set_new(all, "failures", branches_json_early_to_json(result)));
	if (result->samples)
		BUG_ON(json_object_set_new(all, "samples", branches_json_samples_to_json(result)));
	text = json_dumps(all, JSON_INDENT(2));
	BUG_ON(!text);
	json_decref(all);
	return text;
}
