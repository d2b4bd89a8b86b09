#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/search.h"
#include "commands/explain/explain_orders_words.h"
#include "commands/explain/explain_result.h"
#include "cli/terminal.h"
#include "findings/source_lines.h"
#include "report/text/block_names.h"
#include "report/text/text.h"

/* Rows of the two runs side by side, for a screen of 24 lines. */
#define RUN_ROWS 9u

const struct pattern *explain_shown_pattern(const struct explain_shown *shown, uint64_t key)
{
	for (uint32_t i = 0; i < shown->pattern_count; i++)
		if (shown->patterns[i].key == key)
			return &shown->patterns[i];
	return NULL;
}

const struct finding_step *explain_shown_step(
	const struct explain_shown *shown, const struct pattern *pattern, unsigned access)
{
	const struct finding_step *steps = shown->run.steps;
	uint32_t first;

	SEARCH(first, 0, shown->run.step_count, steps[first].step < pattern->steps[access]);
	return first < shown->run.step_count && steps[first].step == pattern->steps[access]
		       ? &steps[first]
		       : NULL;
}

/* Adds the source line that the finding holds for a location, without indentation. */
static void explain_report_add_source_line(struct strbuf *out, const struct finding *finding,
	const struct explain_location *location, size_t most)
{
	const char *kept = finding ? finding->sources : NULL;
	json_auto_t *sources = kept ? json_loads(kept, 0, NULL) : NULL;
	STRBUF_SCOPED line = STRBUF_EMPTY;

	if (location->file && location->line)
		(void)source_lines_get(sources, location->file, location->line, &line);
	for (const char *text = line.text; *text && most; text++, most--)
		strbuf_addf(out, "%c", (unsigned char)*text < ' ' ? ' ' : *text);
}

/* Appends the role of one of the pattern's threads: "a thread of worker", "the main thread". */
static void explain_report_add_role(struct strbuf *out, struct explain *explain, uint64_t role)
{
	const char *function = role ? explain_function(explain, role) : NULL;

	if (!role)
		strbuf_adds(out, "main");
	else
		strbuf_adds(out, function ? function : "a thread");
}

/* Returns the words that stand for the object of an order pattern if the object has no name. */
static const char *explain_report_object_class(const struct pattern *pattern, unsigned access)
{
	const enum object_class class = op_descriptions[pattern->ops[access]].object;

	/* The object of a thread's beginning and of a return from pthread_create is the thread. */
	if (!pattern->addresses[0] || class == OBJECT_NOTHING || class == OBJECT_THREAD)
		return "the program's threads";
	return object_class_text(class);
}

static void explain_report_add_variable(struct strbuf *out, const struct explain_result *result,
	const struct explain_answer *answer, unsigned access)
{
	const struct pattern *pattern = &answer->record->pattern;
	const struct finding_step *step = explain_answer_step(answer, access);
	struct symbols *symbols = explain_symbols(result->explain);

	if (step && step->object)
		strbuf_adds(out, step->object);
	else if (pattern_is_order(pattern))
		strbuf_adds(out, explain_report_object_class(pattern, access));
	else if (!symbols || !symbols_describe_static_data(symbols,
				     pattern->addresses[pattern_variable(pattern, access)], out))
		strbuf_adds(out, "a variable");
}

static void explain_report_add_accesses(struct strbuf *out, const struct explain_result *result,
	const struct explain_answer *answer)
{
	const struct pattern *pattern = &answer->record->pattern;
	int width = (int)strlen("unlocks");

	for (unsigned i = 0; i < pattern_access_count(pattern); i++) {
		const int length = (int)strlen(explain_access_verb(answer, i));

		width = length > width ? length : width;
	}
	for (unsigned i = 0; i < pattern_access_count(pattern); i++) {
		const struct explain_location location =
			explain_answer_location(result, answer, pattern, i);
		const struct finding_step *step = explain_answer_step(answer, i);
		STRBUF_SCOPED where = STRBUF_EMPTY, role = STRBUF_EMPTY;

		explain_add_location(&where, &location);
		explain_report_add_role(
			&role, result->explain, pattern->roles[pattern_thread(pattern, i)]);
		strbuf_addf(out, "   %-10s %-*s %-22s ", step ? step->thread : role.text, width,
			explain_access_verb(answer, i), where.text);
		explain_report_add_source_line(out, result->finding, &location, 60);
		strbuf_adds(out, "\n");
	}
}

static void explain_report_add_rate(struct strbuf *out, const struct rate *rate)
{
	double low, high;

	rate_interval(rate, &low, &high);
	strbuf_addf(out, "%u of %u runs fail (%.0f to %.0f %%)", rate->failed, rate->runs,
		100 * low, 100 * high);
}

static void explain_report_add_evidence(struct strbuf *out, const struct explain_result *result,
	const struct explain_answer *answer)
{
	const struct pattern_record *record = answer->record;
	const struct explain_cause *cause = &answer->cause;

	strbuf_addf(out, "   seen in %u of %u failing and %u of %u passing runs", record->failed,
		result->ranking.failed, record->passed, result->ranking.passed);
	if (answer->same_conflict)
		strbuf_addf(out, "; %u more pattern%s of the same conflict", answer->same_conflict,
			answer->same_conflict == 1 ? "" : "s");
	strbuf_adds(out, "\n");
	if (!answer->has_cause)
		return;
	if (!cause->could_force) {
		strbuf_adds(out, "   not tested: it could not be forced\n");
		return;
	}
	strbuf_adds(
		out, cause->is_between ? "   forced between the same threads: " : "   forced: ");
	explain_report_add_rate(out, &cause->forced);
	if (!cause->is_tested) {
		strbuf_adds(out, "; it could not be forbidden, so the test is incomplete\n");
		return;
	}
	strbuf_adds(out, "; forbidden");
	if (cause->pattern_count > 1)
		strbuf_addf(out, " with %u more pattern%s of the variable",
			cause->pattern_count - 1, cause->pattern_count == 2 ? "" : "s");
	strbuf_adds(out, ": ");
	explain_report_add_rate(out, &cause->forbidden);
	strbuf_adds(out, "\n");
}

static const char *explain_report_verdict_of(const struct explain_answer *answer)
{
	if (!answer->has_cause || !answer->cause.is_tested)
		return "suspicious";
	if (answer->cause.is_consequence)
		return "a consequence";
	return answer->cause.is_cause ? "the cause" : "correlated";
}

/* location: its number among the shown answers, from 1 */
static void explain_report_add_answer(
	struct strbuf *out, const struct explain_result *result, uint32_t number, uint32_t location)
{
	const struct explain_answer *answer = &result->answers[number];
	const struct pattern *pattern = &answer->record->pattern;

	strbuf_addf(out, "%u. %s, score %.2f, rank %g: %s\n   on ", location,
		explain_report_verdict_of(answer), answer->record->score, answer->record->rank_mean,
		pattern_descriptions[pattern->kind].text);
	explain_report_add_variable(out, result, answer, 0);
	for (unsigned i = 1; i < pattern_access_count(pattern); i++) {
		if (!pattern_variable(pattern, i))
			continue;
		strbuf_adds(out, "\n   and ");
		explain_report_add_variable(out, result, answer, i);
		break;
	}
	strbuf_adds(out, "\n");
	explain_report_add_accesses(out, result, answer);
	explain_report_add_evidence(out, result, answer);
	/* The general remedy could contradict that of a cause found in the failing run. */
	if (number == 0 && !result->finding->remedy) {
		strbuf_addf(out, "   what goes wrong: %s\n", explain_meaning(pattern));
		strbuf_adds(out, "   to prevent it: ");
		explain_add_remedy(out, result, answer);
		strbuf_adds(out, "\n");
	}
}

/* Stores the names of the pattern's variables in the failing run, and returns their number. */
static unsigned explain_report_find_objects(
	const struct explain_answer *answer, const char *objects[PATTERN_ACCESSES_MAX])
{
	const struct pattern *shown =
		explain_shown_pattern(&answer->failing, answer->record->pattern.key);
	unsigned count = 0;

	for (unsigned i = 0; shown && i < pattern_access_count(shown); i++) {
		const struct finding_step *access = explain_shown_step(&answer->failing, shown, i);

		if (access && access->object)
			objects[count++] = access->object;
	}
	return count;
}

/* Compares names, because addresses differ between runs. */
static bool explain_report_is_about(
	const struct finding_step *step, const char *const *objects, unsigned object_count)
{
	for (unsigned i = 0; step->object && i < object_count; i++)
		if (strcmp(objects[i], step->object) == 0)
			return true;
	return false;
}

const struct finding_step **explain_report_rows_of(const struct explain_answer *answer,
	const struct explain_shown *shown, uint64_t from, uint32_t *count)
{
	const struct finding_step **rows = array_new(shown->run.step_count + 1, sizeof(*rows));
	const char *objects[PATTERN_ACCESSES_MAX];
	const unsigned object_count = explain_report_find_objects(answer, objects);
	uint32_t found = 0, first = 0;

	for (uint32_t i = 0; i < shown->run.step_count; i++) {
		if (!explain_report_is_about(&shown->run.steps[i], objects, object_count))
			continue;
		if (shown->run.steps[i].step < from)
			first = found;
		rows[found++] = &shown->run.steps[i];
	}
	if (found > RUN_ROWS && first + RUN_ROWS > found)
		first = found - RUN_ROWS;
	if (found <= RUN_ROWS)
		first = 0;
	*count = found - first < RUN_ROWS ? found - first : RUN_ROWS;
	memmove(rows, rows + first, *count * sizeof *rows);
	return rows;
}

static bool explain_report_is_part(const struct pattern *pattern, const struct finding_step *step)
{
	for (unsigned i = 0; pattern && i < pattern_access_count(pattern); i++)
		if (pattern->steps[i] == step->step)
			return true;
	return false;
}

/* Adds a cell. `names`: names the object in each row; NULL if all rows are about one object. */
static void explain_report_add_cell(struct strbuf *out, const struct finding_step *step,
	bool is_marked, struct block_names *names, int width)
{
	STRBUF_SCOPED cell = STRBUF_EMPTY;

	if (step) {
		strbuf_addf(&cell, "%c %s %s", is_marked ? '>' : ' ', step->thread, step->verb);
		if (names) {
			strbuf_adds(&cell, " ");
			block_names_add_text(names, step->object, &cell);
		}
		if (step->where.file)
			strbuf_addf(
				&cell, " (%s:%u)", base_name(step->where.file), step->where.line);
	}
	strbuf_addf(out, "%-*.*s", width, width, cell.text ? cell.text : "");
}

static void explain_report_add_runs(struct strbuf *out, const struct explain_answer *answer,
	unsigned columns, struct block_names *names)
{
	const struct pattern *pattern =
		explain_shown_pattern(&answer->failing, answer->record->pattern.key);
	const int width = (int)(columns > 60 ? (columns - 3) / 2 : 30);
	const struct finding_step **left, **right;
	uint32_t left_count, right_count = 0;
	bool has_objects = false;

	if (!answer->has_failing || !pattern)
		return;
	left = explain_report_rows_of(answer, &answer->failing, pattern->steps[0], &left_count);
	right = explain_report_rows_of(answer, &answer->passing, 0, &right_count);
	for (unsigned i = 1; i < pattern_access_count(pattern); i++)
		has_objects |= pattern_variable(pattern, i) != 0;
	strbuf_addf(out, "\n%-*s   %s\n", width, "  a run that fails",
		answer->has_passing ? "  a run that passes" : "");
	for (uint32_t i = 0; i < left_count || i < right_count; i++) {
		const struct finding_step *step = i < left_count ? left[i] : NULL;

		explain_report_add_cell(out, step, step && explain_report_is_part(pattern, step),
			has_objects ? names : NULL, width);
		strbuf_adds(out, " | ");
		explain_report_add_cell(out, i < right_count ? right[i] : NULL, false,
			has_objects ? names : NULL, width);
		while (out->length && out->text[out->length - 1] == ' ')
			out->text[--out->length] = '\0';
		strbuf_adds(out, "\n");
	}
	free((void *)left);
	free((void *)right);
}

/* Least score beside a cause: a pattern as frequent in passing runs explains nothing. */
#define SHOWN_SCORE_LEAST 0.5
/* If each passes with 5 % probability, 100 runs all fail with a probability of 0.6 %. */
#define RUNS_THAT_SUFFICE 100u

static bool explain_report_is_more_frequent_in_failing(
	const struct pattern_ranking *ranking, const struct pattern_record *record)
{
	return (uint64_t)record->failed * ranking->passed >
	       (uint64_t)record->passed * ranking->failed;
}

static bool explain_report_is_shown(
	const struct explain_result *result, const struct explain_answer *answer)
{
	/* If no run passed, each pattern of all runs has the best score: only forbidding it shows a
	 * difference. */
	if (!result->ranking.passed)
		return answer->has_cause && answer->cause.is_tested && answer->cause.is_cause;
	if (!explain_report_is_more_frequent_in_failing(&result->ranking, answer->record))
		return false;
	return !result->finding->remedy || answer->record->score >= SHOWN_SCORE_LEAST;
}

static void explain_report_add_counts(
	struct strbuf *out, const struct explain_result *result, uint32_t reported)
{
	const struct pattern_ranking *ranking = &result->ranking;

	strbuf_addf(out, "%s%u runs: %u failed like it, %u passed",
		result->finding->cause || result->finding->remedy ? "\n" : "",
		ranking->failed + ranking->passed + result->others, ranking->failed,
		ranking->passed);
	if (result->others)
		strbuf_addf(out, ", %u ended otherwise and %s not compared", result->others,
			result->others == 1 ? "is" : "are");
	if (!ranking->passed && ranking->failed >= RUNS_THAT_SUFFICE && !reported &&
		!result->finding->remedy) {
		strbuf_adds(out, "; the failure seems not to depend on the order of operations\n");
		return;
	}
	if (ranking->count && !reported) {
		strbuf_addf(out,
			"; none of %u orders of operations separates failing runs from passing ones%s\n",
			ranking->count, result->finding->remedy ? " better" : "");
		return;
	}
	strbuf_addf(out, "; %u pattern%s of %u conflict%s\n", ranking->count,
		ranking->count == 1 ? "" : "s", ranking->explanation_count,
		ranking->explanation_count == 1 ? "" : "s");
}

void explain_print(const struct explain_result *result, FILE *stream)
{
	struct block_names names = {0};
	const struct report_style style = {.columns = terminal_columns(stream), .blocks = &names};
	const char *title = result->finding->title ? result->finding->title : "a failure";
	STRBUF_SCOPED out = STRBUF_EMPTY;
	uint32_t reported = 0, location = 0;

	for (uint32_t i = 0; i < result->answer_count; i++)
		reported += explain_report_is_shown(result, &result->answers[i]);
	strbuf_addf(&out, "%s: ", result->finding->id);
	block_names_add_text(&names, title, &out);
	strbuf_adds(&out, "\n");
	report_cause(result->finding, &style, &out);
	explain_add_orders(&out, result);
	explain_report_add_counts(&out, result, reported);
	for (uint32_t i = 0; i < result->answer_count; i++) {
		if (!explain_report_is_shown(result, &result->answers[i]))
			continue;
		strbuf_adds(&out, "\n");
		explain_report_add_answer(&out, result, i, ++location);
	}
	if (reported && explain_report_is_shown(result, &result->answers[0]))
		explain_report_add_runs(
			&out, &result->answers[0], terminal_columns(stream), &names);
	block_names_add_legend(&names, &style, &out);
	block_names_release(&names);
	terminal_put(stream, out.text);
}
