/* What `raddle explain` found out: its end, and answers that the tests refute. */
#include "commands/explain/explain_work.h"

#include <string.h>

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
