#include <string.h>

#include "base/files/base_name.h"
#include "commands/explain/explain_result.h"

/* Appends "bank.c:41", or "bank+0x1234" without lines. */
void explain_add_location(struct strbuf *out, const struct explain_location *location)
{
	if (location->file)
		strbuf_addf(out, "%s:%u", base_name(location->file), location->line);
	else
		strbuf_addf(out, "%s+0x%llx", location->module ? location->module : "?",
			(unsigned long long)location->offset);
}

const struct finding_step *explain_answer_step(const struct explain_answer *answer, unsigned access)
{
	const struct pattern *shown =
		explain_shown_pattern(&answer->failing, answer->record->pattern.key);

	return shown ? explain_shown_step(&answer->failing, shown, access) : NULL;
}

struct explain_location explain_answer_location(const struct explain_result *result,
	const struct explain_answer *answer, const struct pattern *pattern, unsigned access)
{
	struct explain_location location = *explain_site(result->explain, pattern->sites[access]);
	const struct finding_step *step = explain_answer_step(answer, access);

	if (!location.is_system || pattern != &answer->record->pattern || !step ||
		!step->where.file || step->where.is_system)
		return location;
	location.file = step->where.file;
	location.line = step->where.line;
	location.function_name = step->where.function;
	return location;
}

const char *explain_access_verb(const struct explain_answer *answer, unsigned access)
{
	const struct pattern *pattern = &answer->record->pattern;
	const struct finding_step *step = explain_answer_step(answer, access);

	if (step && strcmp(step->verb, call_verbs[CALL_FREE]) == 0)
		return step->verb;
	if (pattern_is_order(pattern))
		return op_descriptions[pattern->ops[access]].verb;
	return pattern_is_write(pattern, access) ? "writes" : "reads";
}

const char *explain_meaning(const struct pattern *pattern)
{
	if (!pattern_is_order(pattern))
		return pattern_descriptions[pattern->kind].meaning;
	if (pattern->kind == PATTERN_WR && pattern->ops[1] == OP_COND_WAIT)
		return "the signal comes before the wait, and a signal is not kept";
	if (pattern_access_count(pattern) == 2 && pattern->sites[0] == pattern->sites[1])
		return "another thread runs the same code before this thread runs on";
	if (pattern_access_count(pattern) == 2)
		return "the second operation has to come first";
	if (pattern_access_count(pattern) == 3)
		return "an operation of another thread comes between two that belong together";
	return "nothing that should come before this operation has come";
}

/* Accesses of a pattern, with an answer whose failing run gives locations. */
struct words_accesses {
	const struct explain_answer *answer;
	const struct pattern *pattern;
};

static const char *explain_words_without_namespace(const char *function)
{
	static const char unnamed[] = "(anonymous namespace)::";

	return strncmp(function, unnamed, strlen(unnamed)) ? function : function + strlen(unnamed);
}

/* Adds one thread's lines, as "bank.c:18 to bank.c:19 (pay)". */
static void explain_words_add_lines(struct strbuf *out, const struct explain_result *result,
	const struct words_accesses *accesses, unsigned party)
{
	const struct pattern *pattern = accesses->pattern;
	struct explain_location location = {.function_name = NULL};
	uint64_t last = 0;
	bool is_first = true;

	for (unsigned i = 0; i < pattern_access_count(pattern); i++) {
		if (pattern_thread(pattern, i) != party)
			continue;
		location = explain_answer_location(result, accesses->answer, pattern, i);
		if (!is_first && location.id == last)
			continue;
		last = location.id;
		if (!is_first)
			strbuf_adds(out, " to ");
		explain_add_location(out, &location);
		is_first = false;
	}
	if (location.function_name)
		strbuf_addf(out, " (%s)", explain_words_without_namespace(location.function_name));
}

static bool explain_words_is_one_line(
	const struct explain_result *result, const struct pattern *pattern)
{
	const uint64_t line = explain_site(result->explain, pattern->sites[0])->id;

	for (unsigned i = 1; i < pattern_access_count(pattern); i++)
		if (explain_site(result->explain, pattern->sites[i])->id != line)
			return false;
	return true;
}

/* Adds ", at init.c:12 (fill)": a write whose value this read returns in other runs. */
static void explain_words_add_writer(struct strbuf *out, const struct explain_result *result,
	const struct explain_answer *answer)
{
	const struct pattern *pattern = &answer->record->pattern;
	const struct pattern_ranking *ranking = &result->ranking;
	const uint64_t location = explain_site(result->explain, pattern->sites[0])->id;

	for (uint32_t i = ranking->count; i-- > 0;) {
		const struct pattern *other = &ranking->records[i].pattern;

		if (other->kind != PATTERN_WR ||
			explain_site(result->explain, other->sites[1])->id != location)
			continue;
		strbuf_adds(out, ", at ");
		explain_words_add_lines(out, result, &(struct words_accesses){answer, other}, 0);
		return;
	}
}

void explain_add_remedy(struct strbuf *out, const struct explain_result *result,
	const struct explain_answer *answer)
{
	const struct pattern *pattern = &answer->record->pattern;
	const struct words_accesses accesses = {answer, pattern};
	const bool is_crossing =
		pattern_access_count(pattern) == 4 && pattern_thread(pattern, 2) == 0;

	if (pattern_access_count(pattern) == 1) {
		explain_words_add_lines(out, result, &accesses, 0);
		strbuf_adds(out, " has to wait until the variable is written");
		explain_words_add_writer(out, result, answer);
		return;
	}
	if (pattern_access_count(pattern) == 2 && pattern->sites[0] == pattern->sites[1] &&
		pattern_is_order(pattern)) {
		strbuf_adds(out, "let ");
		explain_words_add_lines(out, result, &accesses, 0);
		strbuf_adds(out, " and the code that relies on it be one critical section");
		return;
	}
	if (pattern_access_count(pattern) == 2 && !explain_words_is_one_line(result, pattern)) {
		explain_words_add_lines(out, result, &accesses, 1);
		strbuf_adds(out, " has to come before ");
		explain_words_add_lines(out, result, &accesses, 0);
		strbuf_adds(out, ": let the latter wait for it");
		return;
	}
	if (pattern_is_order(pattern)) {
		strbuf_adds(out, "let ");
		explain_words_add_lines(out, result, &accesses, 0);
		strbuf_adds(out, " be one critical section, so that ");
		explain_words_add_lines(out, result, &accesses, 1);
		strbuf_adds(out, " cannot come in between");
		return;
	}
	strbuf_adds(out, "make ");
	explain_words_add_lines(out, result, &accesses, 0);
	if (explain_words_is_one_line(result, pattern)) {
		strbuf_adds(out, " one atomic step: one lock around it");
		return;
	}
	strbuf_adds(out, is_crossing ? " one atomic step, and also " : " one atomic step that ");
	explain_words_add_lines(out, result, &accesses, 1);
	strbuf_adds(out,
		is_crossing ? ": one lock around each" : " cannot interrupt: one lock around both");
}
