/*
 * --store-buffers: random runs under TSO, made after the search. A branch without an answer counts if
 * such a run had its other outcome, and other threads saw stores of that run late. The run itself is
 * the proof.
 */
#include "base/array.h"
#include "base/strbuf.h"
#include "commands/branches/branches_internal.h"
#include "platform/platform.h"
#include "symbols/symbols.h"

/* As many as the search makes at most. Every second run is one of `random`, the others of `pos`. */
#define RUNS_MOST 100
/* The runs with store buffers may take the left time divided by this. */
#define TIME_PART 2

/* Names the stores of the run that other threads saw late, as in "write_left (buffers.c:25) by main.0, ...".
 * A thread that stores several times at one site is named once for it. The caller frees the text. */
static char *branches_buffers_name_stores(
	const struct branches_state *state, const struct recorded *run)
{
	const struct delayed_stores *delayed = &run->delayed;
	struct strbuf text = STRBUF_EMPTY;

	for (uint32_t i = 0; i < delayed_stores_recorded(delayed); i++) {
		const struct delayed_store *store = &delayed->items[i];
		uint32_t first = 0;
		FREE_SCOPED char *thread = NULL;

		while (delayed->items[first].site != store->site ||
			!thread_same(delayed->items[first].writer, store->writer))
			first++;
		if (first < i)
			continue;
		thread = branches_thread_name(&run->record, store->writer.index);
		strbuf_adds(&text, text.length ? ", " : "");
		if (state->symbols)
			symbols_describe_code(state->symbols, store->site, true, &text);
		strbuf_addf(&text, "%sby %s", state->symbols ? " " : "stores ", thread);
	}
	return strbuf_detach(&text);
}

static uint16_t branches_buffers_thread_named(const struct run_record *record, thread_name name)
{
	for (uint32_t i = 0; i < record->thread_count; i++)
		if (record->threads[i].name == name)
			return (uint16_t)i;
	return 0; /* not reached: the run has the thread of each flipped branch */
}

static void branches_buffers_add(struct branches_state *state,
	const struct sensitive_candidate *candidate, const struct recorded *run,
	const uint64_t *chosen)
{
	struct sensitive_candidate shown = *candidate;
	struct sensitive_branch *branch;

	/* Store buffers are threads of this run, so threads have other numbers than in the record. */
	shown.thread = branches_buffers_thread_named(
		&run->record, state->trace->run.record.threads[candidate->thread].name);
	shown.segments = run->run.segments;
	shown.segment_count = run->run.segment_count;
	branch = branches_add(state->result, &run->record, &shown);
	branch->delayed = branches_buffers_name_stores(state, run);
	branch->round = state->trace->round;
	state->result->buffered_count++;
	if (run->is_failure)
		branches_add_failure(state, branch, run, chosen);
}

static void branches_buffers_take(
	struct branches_state *state, const struct recorded *run, const uint64_t *chosen)
{
	struct sensitive_candidate candidate;

	sensitivity->take_run(state->analysis,
		&(struct sensitive_run){&run->record, run->run.segments, run->run.segment_count});
	while (sensitivity->next(state->analysis, &candidate)) {
		const enum sensitivity_verdict verdict =
			sensitivity->check(state->analysis, &run->record);

		if (verdict == VERDICT_FLIPPED)
			branches_buffers_add(state, &candidate, run, chosen);
		sensitivity->settle(state->analysis, verdict);
	}
}

int branches_search_buffered(struct branches_state *state, struct error *err)
{
	const uint64_t end = branches_search_end_ns(state), begin = platform_monotonic_ns();
	const uint64_t until = end > begin ? begin + (end - begin) / TIME_PART : begin;
	const uint64_t *chosen = sensitivity->begin_buffered(state->analysis);
	int status = 0;

	state->result->has_no_buffered_runs |= !chosen;
	state->campaign.settings.memory_model = MEMORY_MODEL_TSO;
	for (uint32_t i = 1;
		chosen && status == 0 && i <= RUNS_MOST && !*state->campaign.is_interrupted &&
		(!end || platform_monotonic_ns() < until);
		i++) {
		const struct record_request request = {.options = &state->campaign,
			.like = &state->trace->run.record,
			.chosen = chosen,
			.until_ns = branches_run_until_ns(state),
			.wants_symbols = !state->symbols,
			.random_seed = i,
			.skips_disabled = true,
			.is_sampled = i % 2};
		struct recorded run;

		status = branches_run(state, &request, &run, err);
		if (status == 0 && !state->symbols) {
			state->symbols = run.symbols;
			run.symbols = NULL;
		}
		if (status == 0 && !run.is_cut && run.delayed.count)
			branches_buffers_take(state, &run, chosen);
		recorded_release(&run);
	}
	state->campaign.settings.memory_model = state->options->campaign.settings.memory_model;
	return status;
}
