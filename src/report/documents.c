#include "report/documents.h"

#include <string.h>

#include "report/json_value.h"
#include "report/text/layout.h"

#define LABEL_COLUMNS 5

static void documents_add_labelled(struct strbuf *out, const struct report_style *style,
	const char *label, const struct strbuf *text)
{
	strbuf_addf(out, "%-*s", LABEL_COLUMNS, label);
	add_wrapped(out, style, text->text, LABEL_COLUMNS, LABEL_COLUMNS);
}

static void documents_add_answer(
	const json_t *answer, const struct report_style *style, struct strbuf *out)
{
	const bool is_cause = !strcmp(json_text_of(answer, "verdict"), "cause");
	json_t *variables = json_object_get(answer, "variables"), *variable;
	STRBUF_SCOPED text = STRBUF_EMPTY;
	size_t index;

	strbuf_addf(&text, "%s: %s", is_cause ? "the cause" : "most suspicious",
		json_text_of(answer, "pattern"));
	json_array_foreach(variables, index, variable)
	{
		if (json_is_string(variable))
			strbuf_addf(&text, "%s%s", index ? " and " : " on ",
				json_string_value(variable));
	}
	strbuf_addf(&text, ": %s", json_text_of(answer, "meaning"));
	if (is_cause && *json_text_of(answer, "remedy"))
		strbuf_addf(&text, "; to prevent it: %s", json_text_of(answer, "remedy"));
	add_heading(out, style, "why it fails");
	strbuf_adds(out, "  ");
	add_wrapped(out, style, text.text, 2, 2);
}

void report_explanation(const struct store_document *documents, uint32_t count, const char *finding,
	const struct report_style *style, struct strbuf *out)
{
	for (uint32_t i = 0; i < count; i++) {
		json_t *value, *answer;

		if (strcmp(documents[i].kind, "explain") || !documents[i].finding ||
			strcmp(documents[i].finding, finding))
			continue;
		value = json_loads(documents[i].text, 0, NULL);
		answer = json_array_get(json_object_get(value, "answers"), 0);
		if (json_is_object(answer))
			documents_add_answer(answer, style, out);
		json_decref(value);
	}
}

static void documents_add_candidate(
	const json_t *candidate, const struct report_style *style, struct strbuf *out)
{
	const char *finding = json_text_of(candidate, "finding"),
		   *reason = json_text_of(candidate, "reason");
	STRBUF_SCOPED text = STRBUF_EMPTY;

	strbuf_addf(&text, "%s%s%s: %s%s%s", json_text_of(candidate, "state"), *finding ? ": " : "",
		finding, json_text_of(candidate, "title"), *reason ? "; not reached: " : "",
		reason);
	documents_add_labelled(out, style, json_text_of(candidate, "id"), &text);
}

static void documents_add_branch(
	const json_t *branch, size_t number, const struct report_style *style, struct strbuf *out)
{
	const char *finding = json_text_of(branch, "finding");
	STRBUF_SCOPED text = STRBUF_EMPTY, label = STRBUF_EMPTY;

	strbuf_addf(&label, "B%zu", number);
	strbuf_addf(&text, "%s%s%s: %s at %s:%lld in %s, depends on %s",
		json_text_of(branch, "class"), *finding ? ": " : "", finding,
		json_text_of(branch, "kind"), json_text_of(branch, "file"),
		(long long)json_integer_value(json_object_get(branch, "line")),
		json_text_of(branch, "function"), json_text_of(branch, "variables"));
	documents_add_labelled(out, style, label.text, &text);
}

static void documents_add_document(
	const json_t *document, const struct report_style *style, struct strbuf *out)
{
	json_t *candidates = json_object_get(document, "candidates"), *part;
	json_t *branches = json_object_get(document, "branches");
	size_t index;

	if (json_array_size(candidates))
		add_heading(out, style, "predictions");
	json_array_foreach(candidates, index, part) documents_add_candidate(part, style, out);
	if (json_array_size(branches))
		add_heading(out, style, "branches that depend on the schedule");
	json_array_foreach(branches, index, part) documents_add_branch(part, index + 1, style, out);
}

void report_documents(const struct store_document *documents, uint32_t count,
	const struct report_style *style, struct strbuf *out)
{
	for (uint32_t i = 0; i < count; i++) {
		json_t *document =
			documents[i].finding ? NULL : json_loads(documents[i].text, 0, NULL);

		documents_add_document(document, style, out);
		json_decref(document);
	}
}
