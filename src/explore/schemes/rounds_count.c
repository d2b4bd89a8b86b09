/* Results of the runs of rounds: counted, and their failures investigated, in the order of runs. */
#include "explore/schemes/rounds_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "base/bug.h"
#include "explore/services.h"
#include "model/feature.h"
#include "plan/races.h"

void rounds_release_failures(struct rounds *round)
{
	for (uint32_t i = 0; i < round->failure_count; i++)
		failure_discard(&round->failures[i]);
	round->failure_count = 0;
}

/* Collects the races that the worker's process has observed since the last call. */
static void rounds_take_races(
	struct campaign *campaign, struct campaign_worker *worker, uint64_t run, uint64_t until)
{
	struct contract *contract = worker->worker.contract;
	const struct race_seen *seen;
	const uint32_t count = races_seen_list(contract, &seen);
	struct rounds_race *race;

	for (; worker->races_seen < until && worker->races_seen < count; worker->races_seen++) {
		race = ARRAY_NEXT(campaign->rounds->races, campaign->rounds->race_count);
		*race = (struct rounds_race){.run = run, .seen = seen[worker->races_seen]};
	}
}

/* Converts the detector's counters, which count since the worker's start, to those of the run. */
static void rounds_take_log(
	struct campaign *campaign, struct campaign_worker *worker, uint32_t position)
{
	struct rounds *round = campaign->rounds;
	const struct contract_run *from =
		contract_run_of(worker->worker.contract, round->first + position);
	struct contract_run *log = &round->log[position];

	*log = *from;
	log->races_suppressed -= worker->races_ignored;
	log->blind_runs -= worker->blind_runs;
	worker->races_ignored = from->races_suppressed;
	worker->blind_runs = from->blind_runs;
	rounds_take_races(campaign, worker, round->first + position, from->races_seen);
}

void rounds_take_runs(struct campaign *campaign, struct campaign_worker *worker, uint64_t end)
{
	const struct strategy *strategy = rounds_strategy_of(campaign);
	struct rounds *round = campaign->rounds;
	const uint32_t first = rounds_position_of(campaign, worker->run_first);
	uint32_t position = first;

	if (end <= worker->run_first || end > worker->run_end)
		return;
	for (; position < rounds_position_of(campaign, end); position++) {
		BUG_ON(round->is_made[position]); /* each run is made once */
		round->is_made[position] = true;
		rounds_take_log(campaign, worker, position);
	}
	if (strategy->learning.gather)
		strategy->learning.gather(campaign->rounds->knowledge,
			contract_strategy(worker->worker.contract), first, position - first);
	worker->run_first = end;
}

/* Determines the round's first uninvestigated failure. Runs after this failure may not be
 * needed. */
static void rounds_find_hold(struct campaign *campaign)
{
	struct rounds *round = campaign->rounds;

	round->hold = ROUNDS_NO_HOLD;
	if (round->failure_count && !campaign->options->keep_going)
		round->hold = rounds_position_of(campaign, round->failures[0].failure.run_number);
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		struct campaign_worker *worker = &campaign->workers[i];

		if (worker->is_busy && worker->run_first - round->first > round->hold)
			worker_stop(&worker->worker);
	}
}

/* Adds a failure to the list, which is sorted by run number. The list keeps the first run's failure
 * of each key. */
static void rounds_keep_failure(struct rounds *round, struct campaign_failure *caught)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < round->failure_count; i++) {
		if (round->failures[i].key != caught->key)
			continue;
		if (round->failures[i].failure.run_number < caught->failure.run_number) {
			failure_discard(caught);
			return;
		}
		failure_discard(&round->failures[i]);
		memmove(&round->failures[i], &round->failures[i + 1],
			(--round->failure_count - i) * sizeof *round->failures);
		break;
	}
	round->failures =
		array_room(round->failures, round->failure_count, sizeof *round->failures);
	while (at < round->failure_count &&
		round->failures[at].failure.run_number < caught->failure.run_number)
		at++;
	memmove(&round->failures[at + 1], &round->failures[at],
		(round->failure_count - at) * sizeof *round->failures);
	round->failures[at] = *caught;
	round->failure_count++;
}

int rounds_take_failure(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	const struct contract *contract = worker->worker.contract;
	struct rounds *round = campaign->rounds;
	struct campaign_failure caught;

	(void)err;
	round->keys[rounds_position_of(campaign, contract->run_number)] =
		failure_key(&contract->outcome);
	if (failure_copy_from(campaign, worker, &caught)) {
		rounds_keep_failure(round, &caught);
		rounds_find_hold(campaign);
	}
	return 0;
}

static void rounds_add_run(struct contract_totals *totals, const struct contract_run *run)
{
	totals->runs++;
	totals->steps += run->steps;
	totals->outcome[run->outcome]++;
	totals->failures += run->is_failure;
	totals->digest += run->digest;
	if (run->known)
		totals->known[run->known - 1]++;
	if (run->steps > totals->steps_most)
		totals->steps_most = run->steps;
	if (run->threads > totals->threads_most)
		totals->threads_most = run->threads;
}

/* Discards the results from `position` on. One worker makes these runs again. */
static void rounds_repeat(struct campaign *campaign, uint32_t position)
{
	struct rounds *round = campaign->rounds;
	const uint32_t count = round->runs - position;

	exclusive_forget_others(campaign);
	rounds_release_failures(round);
	memset(&round->is_made[position], 0, count * sizeof *round->is_made);
	memset(&round->keys[position], 0, count * sizeof *round->keys);
	round->settled = position;
	round->given =
		rounds_position_of(campaign, rounds_resume_at(campaign, round->first + position));
	round->given_ahead = 0;
	round->hold = ROUNDS_NO_HOLD;
	campaign->exclusive.must_repeat = false;
}

static int rounds_settle_run(struct campaign *campaign, uint32_t position, struct error *err)
{
	struct rounds *round = campaign->rounds;
	const struct contract_run *log = &round->log[position];
	const struct contract_totals before = round->counted;
	struct campaign_failure first;
	int result;

	rounds_add_run(&round->counted, log);
	round->races_ignored += log->races_suppressed;
	round->blind_runs += log->blind_runs;
	round->settled = position + 1;
	/* A suppressed race ended this run before later rounds ignore it. */
	if (round->keys[position] && failure_is_suppressed(campaign, round->keys[position])) {
		campaign->known.suppressed_runs++;
		round->races_ignored++;
	}
	if (!round->failure_count ||
		round->failures[0].failure.run_number != round->first + position)
		return 0;
	first = round->failures[0];
	memmove(round->failures, round->failures + 1,
		--round->failure_count * sizeof *round->failures);
	result = failure_investigate(campaign, &first, err);
	failure_discard(&first);
	if (campaign->exclusive.must_repeat) {
		round->counted = before;
		round->races_ignored -= log->races_suppressed;
		round->blind_runs -= log->blind_runs;
		rounds_repeat(campaign, position);
	}
	rounds_find_hold(campaign);
	return result;
}

int rounds_settle(struct campaign *campaign, bool is_last, struct error *err)
{
	struct rounds *round = campaign->rounds;

	for (uint32_t position = round->settled; position < round->runs; position++) {
		int result;

		if (!round->is_made[position] && !is_last)
			return 0;
		if (round->is_over || !round->is_made[position])
			continue;
		result = rounds_settle_run(campaign, position, err);
		if (result < 0)
			return result;
		round->is_over = campaign->is_stopping;
	}
	return 0;
}

/* Runs with stalls have no guarantee. */
static void rounds_deduct_stalls(
	const struct campaign *campaign, struct strategy_guarantee *guarantee)
{
	const struct settings *settings = &campaign->options->settings;

	guarantee->stall_factor = "";
	if (!settings->stall_ns || settings->without_virtual_time ||
		!(campaign->result->features & FEATURE_TIME))
		return;
	guarantee->probability *=
		settings->stall_ns == STALL_ANY ? 0 : (STALL_RUNS - 1.0) / STALL_RUNS;
	guarantee->stall_factor = "4/5*";
	_Static_assert(STALL_RUNS == 5, "the text names the share");
}

void rounds_add_totals(struct campaign *campaign, struct contract_totals *totals)
{
	const struct strategy *strategy = rounds_strategy_of(campaign);
	const struct rounds *round = campaign->rounds;
	struct strategy_guarantee guarantee;

	*totals = round->counted;
	/* Runs that are made but not settled count for the progress only. */
	for (uint32_t position = round->settled; !round->is_over && position < round->runs;
		position++)
		if (round->is_made[position])
			rounds_add_run(totals, &round->log[position]);
	campaign->result->races_ignored = round->races_ignored;
	campaign->result->blind_runs = round->blind_runs;
	if (round->counted.runs && strategy->guarantee &&
		strategy->guarantee(round->knowledge, &guarantee)) {
		rounds_deduct_stalls(campaign, &guarantee);
		campaign->result->guarantee = guarantee;
	}
}

void rounds_list_races(struct campaign *campaign)
{
	struct campaign_result *result = campaign->result;
	struct rounds *round = campaign->rounds;
	FREE_SCOPED struct race_seen *seen = NULL;
	uint32_t count = 0;

	if (!campaign->worker_count || !campaign_watches_races(campaign))
		return;
	seen = array_new(round->race_count + 1u, sizeof *seen);
	if (round->race_count) /* the races of one run have one order already */
		qsort(round->races, round->race_count, sizeof *round->races, compare_numbers);
	for (uint32_t i = 0; i < round->race_count; i++) {
		const struct rounds_race *race = &round->races[i];

		if (race->run < round->first + round->settled &&
			!races_have(seen, count, race->seen.pair))
			seen[count++] = race->seen;
	}
	result->races_seen =
		races_describe_seen(campaign->workers[0].worker.contract, campaign->symbols, seen,
			count, result->races_seen_text, sizeof result->races_seen_text);
}
