/* What `raddle explain` found out: its end, and answers that the tests refute. */
#include "commands/explain/explain_work.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void explain_result_release(struct explain_result *result)
{
	for (uint32_t i = 0; i < result->answer_count; i++) {
		explain_cause_release(&result->answers[i].cause);
		explain_shown_release(&result->answers[i].failing);
		explain_shown_release(&result->answers[i].passing);
	}
	pattern_ranking_release(&result->ranking);
	strbuf_release(&result->notes);
	explain_close(result->explain);
}

static bool explain_result_is_refuted(
	const struct explain_result *result, const struct explain_answer *answer)
{
	if (!answer->has_cause || answer->cause.is_cause)
		return false;
	if (result->finding->remedy && answer->record->is_foreign)
		return true;
	return explain_cause_is_refuted(&result->ranking, &answer->cause);
}

void explain_result_drop_refuted(struct explain_result *result)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < result->answer_count; i++) {
		struct explain_answer *answer = &result->answers[i];

		if (explain_result_is_refuted(result, answer))
			explain_cause_release(&answer->cause);
		else
			result->answers[kept++] = *answer;
	}
	memset(&result->answers[kept], 0, (result->answer_count - kept) * sizeof *result->answers);
	result->answer_count = kept;
}

/* Limits of the JSON document: at most STEPS_MOST steps of each run, of which at most STEPS_BEHIND come after the last
 * access of the pattern. All steps of a run of a million steps would take 2 GB of memory, and nobody reads them. */
#define STEPS_MOST 10000u
#define STEPS_BEHIND 1000u

/* The document shows only a part of a long run. The part ends STEPS_BEHIND steps after the last access of the
 * pattern in the failing run. Returns how many steps before the part are omitted. */
static uint32_t explain_result_first_step(const struct explain_answer *answer)
{
	const struct explain_shown *shown = &answer->failing;
	const struct pattern *pattern = explain_shown_pattern(shown, answer->record->pattern.key);
	uint32_t end = 0;

	for (unsigned i = 0; pattern && i < pattern_access_count(pattern); i++) {
		const struct finding_step *step = explain_shown_step(shown, pattern, i);

		if (step && step - shown->run.steps >= end)
			end = (uint32_t)(step - shown->run.steps) + STEPS_BEHIND;
	}
	return end > STEPS_MOST ? end - STEPS_MOST : 0;
}

/* Marks the pattern's accesses, and the rows of the report for people. */
static void explain_result_mark_kept(
	const struct explain_answer *answer, const struct explain_shown *shown, bool *is_kept)
{
	const uint64_t key = answer->record->pattern.key;
	const struct pattern *pattern = explain_shown_pattern(shown, key);
	const struct pattern *failing = explain_shown_pattern(&answer->failing, key);
	const uint64_t from = shown == &answer->failing && failing ? failing->steps[0] : 0;
	const struct finding_step **rows;
	uint32_t row_count;

	for (unsigned i = 0; pattern && i < pattern_access_count(pattern); i++) {
		const struct finding_step *step = explain_shown_step(shown, pattern, i);

		if (step)
			is_kept[step - shown->run.steps] = true;
	}
	rows = explain_report_rows_of(answer, shown, from, &row_count);
	for (uint32_t i = 0; i < row_count; i++)
		is_kept[rows[i] - shown->run.steps] = true;
	free((void *)rows);
}

void explain_answer_trim(struct explain_answer *answer, struct explain_shown *shown)
{
	const uint32_t count = shown->run.step_count;
	FREE_SCOPED bool *is_kept = array_new(count + 1, sizeof *is_kept);
	uint32_t kept = 0;

	if (shown == &answer->failing)
		answer->first_step = explain_result_first_step(answer);
	explain_result_mark_kept(answer, shown, is_kept);
	for (uint32_t i = 0; i < count; i++) {
		const bool is_in_window =
			i >= answer->first_step && i - answer->first_step < STEPS_MOST;

		if (i == answer->first_step)
			shown->window_start = kept;
		is_kept[i] |= is_in_window;
		kept += is_kept[i];
		if (is_in_window)
			shown->window_end = kept;
	}
	finding_keep_steps(&shown->run, is_kept);
}
