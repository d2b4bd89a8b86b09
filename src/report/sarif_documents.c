#include <string.h>

#include "report/sarif_internal.h"

/* Returns a location as {function, file or path, line}. Takes ownership of `text`. */
static json_t *sarif_documents_location_value(const json_t *location, json_t *text)
{
	const char *path = json_string_value(json_object_get(location, "path"));
	struct finding_frame frame = {
		/* the string is not modified */
		.function =
			(char *)(uintptr_t)json_string_value(json_object_get(location, "function")),
		.file = (char *)(uintptr_t)(path ? path
						 : json_string_value(
							   json_object_get(location, "file"))),
		.line = (unsigned)json_integer_value(json_object_get(location, "line")),
	};

	return sarif_location(&frame, text);
}

static void sarif_documents_add_pattern(json_t *answer, json_t *result)
{
	json_t *related = json_object_get(result, "relatedLocations");
	json_t *message = json_object_get(result, "message");
	json_t *properties = json_object_get(result, "properties");
	json_t *explanation = json_object(), *access;
	size_t index;

	json_put(message, "text",
		json_textf("%s\nIt comes with %s: %s.%s%s", json_text_of(message, "text"),
			json_text_of(answer, "pattern"), json_text_of(answer, "meaning"),
			*json_text_of(answer, "remedy") ? "\nTo prevent it: " : "",
			json_text_of(answer, "remedy")));
	json_array_foreach(json_object_get(answer, "accesses"), index, access) json_append(related,
		sarif_documents_location_value(access,
			json_textf("access %zu of %s: thread %lld %s", index + 1,
				json_text_of(answer, "pattern"),
				(long long)json_integer_value(json_object_get(access, "thread")),
				*json_text_of(access, "kind") == 'W' ? "writes" : "reads")));
	json_put(explanation, "verdict", json_text(json_text_of(answer, "verdict")));
	json_put(explanation, "pattern", json_text(json_text_of(answer, "pattern")));
	json_put(explanation, "score",
		json_real(json_number_value(json_object_get(answer, "score"))));
	json_put(properties, "explanation", explanation);
}

void sarif_add_explanation(const struct report *report, const char *finding, json_t *result)
{
	for (uint32_t i = 0; i < report->document_count; i++) {
		const struct store_document *document = &report->documents[i];
		json_t *value, *answer;

		if (strcmp(document->kind, "explain") || !document->finding ||
			strcmp(document->finding, finding))
			continue;
		value = json_loads(document->text, 0, NULL);
		answer = json_array_get(json_object_get(value, "answers"), 0);
		if (answer)
			sarif_documents_add_pattern(answer, result);
		json_decref(value);
	}
}

struct note {
	const char *rule, *sentence;
	json_t *text;	  /* ownership is taken */
	json_t *location; /* the first location; borrowed */
	json_t *related;  /* ownership is taken */
	json_t *property; /* ownership is taken */
};

static void sarif_documents_add_note(json_t *rules, json_t *results, const struct note *note)
{
	json_t *value = json_object(), *locations = json_array();

	json_append(locations, sarif_documents_location_value(note->location, NULL));
	json_put(value, "ruleId", json_string(note->rule));
	json_put(value, "ruleIndex", json_count(sarif_rule(rules, note->rule, note->sentence)));
	json_put(value, "level", json_string("note"));
	json_put(value, "message", sarif_message(note->text));
	json_put(value, "locations", locations);
	json_put(value, "relatedLocations", note->related);
	json_put(value, "properties", note->property);
	json_append(results, value);
}

static bool sarif_documents_has_finding(const json_t *value)
{
	return *json_text_of(value, "finding") != '\0';
}

static void sarif_documents_add_candidate(json_t *candidate, json_t *rules, json_t *results)
{
	json_t *locations = json_object_get(candidate, "places"), *location;
	const bool has_reason = *json_text_of(candidate, "reason") != '\0';
	struct note note = {"prediction", "predicted from passing runs, and not seen to fail",
		.text = json_textf("%s: %s%s%s", json_text_of(candidate, "state"),
			json_text_of(candidate, "title"), has_reason ? "\nNot reached: " : "",
			json_text_of(candidate, "reason")),
		.location = json_object_get(json_array_get(locations, 0), "at"),
		.related = json_array(), .property = json_object()};
	size_t index;

	json_array_foreach(locations, index, location)
	{
		json_append(note.related,
			sarif_documents_location_value(json_object_get(location, "at"),
				json_textf("%s %s %s", json_text_of(location, "thread"),
					json_text_of(location, "verb"),
					json_text_of(location, "object"))));
	}
	json_put(note.property, "id", json_text(json_text_of(candidate, "id")));
	sarif_documents_add_note(rules, results, &note);
}

static void sarif_documents_add_branch(json_t *branch, json_t *rules, json_t *results)
{
	struct note note = {"sensitive-branch",
		"the outcome of this branch depends on the schedule",
		.text = json_textf("%s, depends on %s; the other outcome with the schedule %s",
			json_text_of(branch, "class"), json_text_of(branch, "variables"),
			json_text_of(branch, "schedule")),
		.location = branch, .related = json_array(), .property = json_object()};

	json_put(note.property, "schedule", json_text(json_text_of(branch, "schedule")));
	sarif_documents_add_note(rules, results, &note);
}

void sarif_add_documents(const struct report *report, json_t *rules, json_t *results)
{
	for (uint32_t i = 0; i < report->document_count; i++) {
		json_t *value = json_loads(report->documents[i].text, 0, NULL), *part;
		size_t index;

		json_array_foreach(json_object_get(value, "candidates"), index, part)
		{
			if (!sarif_documents_has_finding(part))
				sarif_documents_add_candidate(part, rules, results);
		}
		json_array_foreach(json_object_get(value, "branches"), index, part)
		{
			if (!sarif_documents_has_finding(part))
				sarif_documents_add_branch(part, rules, results);
		}
		json_decref(value);
	}
}
