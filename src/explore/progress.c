/*
 * Progress over time, for charts. A full array drops every other sample and doubles the interval.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bitset.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "base/shell_words.h"
#include "explore/services.h"
#include "plan/restart.h"
#include "plan/strategy_option.h"
#include "platform/platform.h"

#define FIRST_EVERY_NS UINT64_C(5000000)

#define PROGRESS_SAMPLES_MAX 240

struct progress_sample {
	uint64_t elapsed_ns, runs, failures;
	uint32_t findings;
	uint32_t covered; /* orders of conflicting pairs: see engine_run.covered */
	uint32_t pairs;	  /* conflicting pairs */
};

struct progress {
	struct progress_sample samples[PROGRESS_SAMPLES_MAX];
	uint32_t count;
	uint64_t every_ns;
	uint64_t covered[CONTRACT_COVERED_WORDS]; /* union over all workers */
};

static void progress_add_worker(
	struct progress *progress, struct progress_sample *sample, const struct contract *contract)
{
	sample->runs += contract->totals.runs - contract->totals.outcome[OUTCOME_TAINTED];
	sample->failures += contract->totals.failures;
	for (uint32_t word = 0; word < CONTRACT_COVERED_WORDS; word++)
		progress->covered[word] |= contract->covered[word];
}

/* Returns the number of pairs of which an order was seen. */
static uint32_t progress_pairs(const struct progress *progress)
{
	const uint64_t first_orders = UINT64_C(0x5555555555555555);
	uint32_t pairs = 0;

	for (uint32_t word = 0; word < CONTRACT_COVERED_WORDS; word++) {
		const uint64_t orders = progress->covered[word];

		pairs += (uint32_t)__builtin_popcountll((orders | orders >> 1) & first_orders);
	}
	return pairs;
}

void progress_note(struct campaign *campaign, bool is_due)
{
	struct progress_sample sample = {
		.elapsed_ns = platform_monotonic_ns() - campaign->times.started_ns,
		.findings = campaign->result->total.findings};
	struct progress *progress = campaign->progress;

	if (!progress) {
		progress = campaign->progress = array_new(1, sizeof *progress);
		progress->every_ns = FIRST_EVERY_NS;
	}
	if (!is_due && progress->count &&
		sample.elapsed_ns <
			progress->samples[progress->count - 1].elapsed_ns + progress->every_ns)
		return;
	if (progress->count == PROGRESS_SAMPLES_MAX) {
		progress->count /= 2;
		for (uint32_t i = 0; i < progress->count; i++)
			progress->samples[i] = progress->samples[2 * i + 1];
		progress->every_ns *= 2;
	}
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		progress_add_worker(progress, &sample, campaign->workers[i].worker.contract);
	sample.covered = bitset_count(progress->covered, CONTRACT_COVERED_WORDS);
	sample.pairs = progress_pairs(progress);
	campaign->result->pairs = sample.pairs;
	campaign->result->pairs_in_both_orders = sample.covered - sample.pairs;
	progress->samples[progress->count++] = sample;
}

char *progress_text(const struct progress *progress)
{
	struct strbuf text = STRBUF_EMPTY;

	strbuf_adds(&text, "[");
	for (uint32_t i = 0; i < progress->count; i++) {
		const struct progress_sample *sample = &progress->samples[i];

		strbuf_addf(&text,
			"%s{\"seconds\":%.3f,\"runs\":%" PRIu64 ",\"failures\":%" PRIu64
			",\"findings\":%" PRIu32 ",\"covered\":%" PRIu32 ",\"pairs\":%" PRIu32 "}",
			i ? "," : "", (double)sample->elapsed_ns / 1e9, sample->runs,
			sample->failures, sample->findings, sample->covered, sample->pairs);
	}
	strbuf_adds(&text, "]");
	return strbuf_detach(&text);
}

/* Returns the options as JSON, with "part_of" if this campaign belongs to another one. The caller
 * frees the text. */
static char *progress_row_options(
	const struct campaign_options *options, const struct settings *settings)
{
	char *text = settings_to_json(settings);
	struct strbuf row = STRBUF_EMPTY;

	if (!options->part_of)
		return text;
	strbuf_addf(&row, "{\"part_of\": %" PRId64 ", %s", options->part_of, strchr(text, '{') + 1);
	free(text);
	return strbuf_detach(&row);
}

void campaign_row_fill(struct store_campaign *row, const struct campaign_options *options,
	const struct settings *settings, enum contract_restart restart)
{
	struct strbuf command = STRBUF_EMPTY;
	char strategy[256];

	if (options->environment && options->environment[0]) {
		shell_words_add(&command, options->environment);
		strbuf_adds(&command, " ");
	}
	shell_words_add(&command, options->argv);
	strategy_format(options->strategy, &options->strategy_config, strategy, sizeof strategy);
	row->command = strbuf_detach(&command);
	row->options = progress_row_options(options, settings);
	row->strategy = string_copy(strategy);
	row->seed = options->seed;
	row->state = string_copy("running");
	row->restart = string_copy(restart_descriptions[restart].word);
	row->started = time(NULL);
}
