#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "commands/predict/predict_result.h"
#include "cli/next_command.h"
#include "cli/terminal.h"

/* Returns whether the program probably intends the order: orders of atomics and locks are intended
 * more often than orders of plain accesses. */
static bool predict_rank_is_intended(const struct candidate *candidate)
{
	for (uint32_t i = 0; i < candidate->location_count; i++)
		if (candidate->locations[i].op.kind == OP_LOAD ||
			candidate->locations[i].op.kind == OP_STORE)
			return false;
	return candidate_is_scenario(candidate->kind);
}

static int predict_rank_compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int predict_rank_compare_ranks(const void *first, const void *second, void *argument)
{
	const struct predict_result *result = argument;
	const uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;
	const struct prediction *x = &result->predictions[a], *y = &result->predictions[b];
	const int orders[] = {
		predict_rank_compare_numbers(x->state, y->state),
		predict_rank_compare_numbers(predict_rank_is_intended(&result->candidates.items[a]),
			predict_rank_is_intended(&result->candidates.items[b])),
		predict_rank_compare_numbers(y->attempt.shown_failed * (x->attempt.shown + 1),
			x->attempt.shown_failed * (y->attempt.shown + 1)),
		predict_rank_compare_numbers(y->attempt.shown, x->attempt.shown),
		predict_rank_compare_numbers(a, b),
	};

	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
		if (orders[i])
			return orders[i];
	return 0;
}

uint32_t *predict_ranking(const struct predict_result *result)
{
	uint32_t *order = array_new(result->candidates.count + 1u, sizeof *order);

	for (uint32_t i = 0; i < result->candidates.count; i++)
		order[i] = i;
	if (result->candidates.count)
		qsort_r(order, result->candidates.count, sizeof *order, predict_rank_compare_ranks,
			(void *)(uintptr_t)result);
	return order;
}

static void predict_rank_add_verdict(const struct candidate *candidate,
	const struct prediction *prediction, const char *model, const char *store,
	struct strbuf *out)
{
	const struct predict_attempt *attempt = &prediction->attempt;
	const bool is_benign = prediction->state == PREDICTION_BENIGN;
	STRBUF_SCOPED reason = STRBUF_EMPTY;

	switch (prediction->state) {
	case PREDICTION_CONFIRMED:
		strbuf_addf(out,
			"  confirmed, and it fails: %s; it failed in %" PRIu64 " of %" PRIu64
			" runs%s that showed it%s%s%s\n",
			prediction->finding, attempt->shown_failed, attempt->shown, model,
			*attempt->shown_by ? "; to see both: raddle replay --trace " : "",
			attempt->shown_by, *attempt->shown_by ? store : "");
		break;
	case PREDICTION_HARMLESS:
	case PREDICTION_BENIGN:
		strbuf_addf(out, "  %s: %" PRIu64 " of %" PRIu64 " runs%s showed it%s%s%s%s\n",
			is_benign ? "benign" : "confirmed, no failure seen", attempt->shown,
			attempt->runs, model, is_benign ? ", and none of these failed" : "",
			*prediction->finding ? "; to see it: raddle replay --trace " : "",
			prediction->finding, *prediction->finding ? store : "");
		break;
	default:
		reason = prediction_reason(candidate, prediction);
		strbuf_addf(
			out, "  %s: %s\n", prediction_state_words[prediction->state], reason.text);
	}
}

/* Appends "main.0 reads account.checking in account_checking (account_copy.c:32), called by
 * account_copy". */
static void predict_rank_add_location(
	const struct candidate *candidate, uint32_t index, struct strbuf *out)
{
	const struct finding_wait *wait = &candidate->waits[index];
	const struct finding_frame *frame = finding_user_frame(&wait->at);
	uint32_t shown = 0;

	strbuf_addf(out, "    %-8s %s %s", wait->thread, wait->verb, wait->object);
	if (frame && frame->function)
		strbuf_addf(out, " in %s", frame->function);
	if (frame && frame->file)
		strbuf_addf(out, " (%s:%u)", base_name(frame->file), frame->line);
	for (uint32_t i = 0; i < wait->at.count && shown < 3; i++) {
		const struct finding_frame *outer = &wait->at.frames[i];

		if (!frame || outer <= frame || outer->is_system || !outer->function)
			continue;
		strbuf_addf(out, "%s %s:%u", shown++ ? "," : ", called by", outer->function,
			outer->line);
	}
	strbuf_adds(out, "\n");
}

static void predict_rank_add_driven_model(
	const struct predict_result *result, const struct candidate *candidate, struct strbuf *out)
{
	const uint32_t location = predict_buffered_location(result->options, candidate);
	const struct finding_frame *frame = NULL;

	if (location < candidate->wait_count)
		frame = finding_user_frame(&candidate->waits[location].at);
	if (location == candidate->location_count)
		return;
	strbuf_adds(out, "  driven in sequentially consistent runs only: under TSO its store");
	if (frame && frame->file)
		strbuf_addf(out, " at %s:%u", base_name(frame->file), frame->line);
	strbuf_adds(out, " waits in a store buffer, where raddle cannot stop a thread before it\n");
}

static void predict_rank_say_scenario(const struct predict_result *result, uint32_t index)
{
	const struct candidate *candidate = &result->candidates.items[index];
	const struct predict_attempt *attempt = &result->predictions[index].attempt;
	STRBUF_SCOPED text = STRBUF_EMPTY, store = STRBUF_EMPTY;

	strbuf_addf(&text, "P%-2u %s\n", index + 1, candidate->title);
	for (uint32_t i = 0; i < candidate->wait_count; i++)
		predict_rank_add_location(candidate, i, &text);
	next_add_store(&store,
		attempt->fallback ? attempt->fallback : result->options->campaign.directory);
	predict_rank_add_verdict(candidate, &result->predictions[index],
		memory_model_phrase(predict_driven_model(result->options, candidate)), store.text,
		&text);
	if (attempt->runs)
		predict_rank_add_driven_model(result, candidate, &text);
	strbuf_adds(&text, "\n");
	terminal_put(stdout, text.text);
}

void predict_report_candidates(const struct predict_result *result)
{
	FREE_SCOPED uint32_t *order = NULL;

	terminal_clear_live();
	if (result->is_json)
		return;
	order = predict_ranking(result);
	for (uint32_t i = 0; i < result->candidates.count; i++) {
		if (result->candidates.items[order[i]].kind == CANDIDATE_LOCK_CYCLE)
			predict_report_candidate(result, order[i]);
		else
			predict_rank_say_scenario(result, order[i]);
	}
	(void)fflush(stdout); /* main checks the stream */
}
