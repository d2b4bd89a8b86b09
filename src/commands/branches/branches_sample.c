/*
 * Random runs: before the search they give answers without a solver, and those of --sample check
 * whether the search has missed branches. Each run is preempted somewhere, and continues at random.
 */

#include "base/array.h"
#include "base/rng.h"
#include "base/strbuf.h"
#include "commands/branches/branches_internal.h"
#include "platform/platform.h"

/* Maximum number of time slices that are drawn before the rest of the run is random. */
#define TURNS_MOST 4

/* Draws long time slices, which a random walk would hardly ever produce. */
static uint32_t branches_sample_draw_turns(
	struct rng *rng, uint32_t threads, uint32_t steps, struct schedule_segment *segments)
{
	const uint32_t count = rng_below(rng, TURNS_MOST + 1);

	for (uint32_t i = 0; i < count; i++)
		segments[i] = (struct schedule_segment){
			.thread = (uint16_t)(i ? rng_below(rng, threads) : 0),
			.count = 1 + rng_below(rng, steps)};
	return count;
}

/* Extra time for samples after a search that used all of --time: this constant plus the fraction of
 * --time below. */
#define BEHIND_NS UINT64_C(4000000000)
#define BEHIND_PART 10

static bool branches_sample_has_time(const struct branches_state *state)
{
	const uint64_t limit = state->options->sensitivity.time_ns;

	return !limit ||
	       platform_monotonic_ns() - state->begin_ns < limit + BEHIND_NS + limit / BEHIND_PART;
}

static void branches_sample_take_observations(struct branches_state *state)
{
	struct branches_result *result = state->result;
	struct sensitive_observation seen;

	for (uint32_t i = 0; sensitivity->observed(state->analysis, i, &seen); i++) {
		struct observed_branch *item;

		item = ARRAY_NEXT(result->observed, result->observed_count);
		*item = (struct observed_branch){.kind = seen.kind,
			.file = string_copy(seen.location.file),
			.path = branches_path_of(&seen.location),
			.function = string_copy(seen.location.function),
			.line = seen.location.line,
			.is_modelled = seen.is_modelled,
			.is_found = seen.is_proven,
			.runs = seen.count};
	}
}

/* Part of the time that runs before the search may take. */
#define OBSERVE_PART 2

static bool branches_sample_is_over(const struct branches_state *state, uint64_t begin_ns)
{
	const uint64_t end = branches_search_end_ns(state), now = platform_monotonic_ns();

	return *state->options->campaign.is_interrupted ||
	       (end && now >= begin_ns + (end > begin_ns ? end - begin_ns : 0) / OBSERVE_PART);
}

int branches_observe(struct branches_state *state, struct error *err)
{
	const struct run_record *record = &state->trace->run.record;
	const uint64_t begin_ns = platform_monotonic_ns();
	struct sensitive_trial trial;
	int status = 0;

	while (status == 0 && !branches_sample_is_over(state, begin_ns) &&
		sensitivity->plan_run(state->analysis, &trial)) {
		const struct record_request request = {.options = &state->options->campaign,
			.like = record,
			.chosen = trial.chosen,
			.segments = trial.segments,
			.segment_count = trial.segment_count,
			.until_ns = branches_run_until_ns(state),
			.random_seed = trial.seed,
			.skips_disabled = true,
			.is_sampled = trial.is_sampled};
		struct recorded run = {0};

		status = branches_run(state, &request, &run, err);
		if (status == 0 && !run.is_cut)
			sensitivity->take_run(
				state->analysis, &(struct sensitive_run){&run.record,
							 run.run.segments, run.run.segment_count});
		recorded_release(&run);
	}
	return status == ERROR_INTERRUPTED ? 0 : status;
}

int branches_sample(struct branches_state *state, struct error *err)
{
	const struct run_record *record = &state->trace->run.record;
	struct schedule_segment segments[TURNS_MOST];
	/* steps of a run with all sites as points; measured by the first run */
	uint32_t steps = 16;
	struct rng rng;
	int status = 0;

	rng_seed(&rng, state->options->campaign.seed);
	for (uint32_t i = 1;
		i <= state->options->samples && status == 0 &&
		!*state->options->campaign.is_interrupted && branches_sample_has_time(state);
		i++) {
		const struct record_request request = {.options = &state->options->campaign,
			.like = record,
			.chosen = sensitivity->accesses(state->analysis),
			.segments = segments,
			.segment_count = branches_sample_draw_turns(
				&rng, record->thread_count, steps, segments),
			.random_seed = i};
		struct recorded run = {0};

		status = branches_run(state, &request, &run, err);
		if (status == 0 && !*state->options->campaign.is_interrupted) {
			state->result->samples_lost +=
				!sensitivity->observe(state->analysis, &run.record);
			state->result->samples++;
			steps = (uint32_t)run.run.step_count + 1;
		}
		recorded_release(&run);
	}
	branches_sample_take_observations(state);
	return status;
}
