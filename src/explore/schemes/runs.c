/*
 * Selects the runs of a campaign: all, those of its shard, or those that earlier campaigns of the
 * same program, strategy, seed and settings have not made. A run's number determines its seed.
 *
 * The file also implements scheme_sequence, for strategies that need the result of each run before
 * the next: worker 0 makes all runs, one after the other.
 */
#include "base/starts_with.h"
#include "explore/scheme.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "explore/services.h"
#include "plan/races.h"
#include "strategies/strategy.h"

static bool runs_is_continued_by(
	const struct store_campaign *earlier, const struct store_campaign *row)
{
	return earlier->seed == row->seed && is_same_text(earlier->strategy, row->strategy) &&
	       is_same_text(earlier->options, row->options) &&
	       is_same_text(earlier->command, row->command) && earlier->target &&
	       earlier->run_first / FINDING_SHARD_RUNS == row->run_first / FINDING_SHARD_RUNS;
}

/* Returns the last suitable campaign that has saved a state. One that was killed before its first
 * save has none. */
static const struct store_campaign *runs_find_earlier(const struct campaign *campaign,
	const struct store_campaign *rows, uint32_t count, const struct store_campaign *row)
{
	const bool needs_state = strategy_is_sequential(strategies[campaign->options->strategy]);
	const struct store_campaign *found = NULL;
	bool has_state = false;

	for (uint32_t i = 0; i < count; i++) {
		if (!runs_is_continued_by(&rows[i], row))
			continue;
		if (needs_state && has_state && !state_is_kept(campaign, rows[i].id))
			continue;
		found = &rows[i];
		has_state = needs_state && state_is_kept(campaign, rows[i].id);
	}
	return found;
}

/* Continues at the run of the saved state. Later runs are made again, so the row's count of runs is
 * set to that of the state. */
static int runs_resume_from_state(
	struct campaign *campaign, const struct store_campaign *earlier, struct error *err)
{
	struct store_campaign cut = *earlier;
	int status;

	campaign->runs.resumed_id = earlier->id;
	status = state_find(campaign, &campaign->row.run_first, err);
	if (status < 0 || campaign->row.run_first < earlier->run_first)
		return status;
	cut.run_end = campaign->row.run_first;
	cut.runs = cut.run_end - cut.run_first;
	return store_campaign_update(campaign->store, &cut, err);
}

/* Sets the counts of later campaigns without saved state to zero, because their runs are made
 * again. */
static int runs_forget_later(struct campaign *campaign, const struct store_campaign *earlier,
	const struct store_campaign *end, struct error *err)
{
	int status = 0;

	for (const struct store_campaign *later = earlier + 1; later < end && status == 0;
		later++) {
		struct store_campaign cut = *later;

		if (!runs_is_continued_by(later, &campaign->row))
			continue;
		cut.run_end = cut.run_first;
		cut.runs = cut.steps = 0;
		status = store_campaign_update(campaign->store, &cut, err);
	}
	return status;
}

static int runs_resume(struct campaign *campaign, struct error *err)
{
	struct store_campaign *rows = NULL, *row = &campaign->row;
	const struct store_campaign *earlier;
	uint32_t count = 0;
	int status = store_list_campaigns(campaign->store, &rows, &count, err);

	if (status < 0)
		return status;
	earlier = runs_find_earlier(campaign, rows, count, row);
	if (!earlier)
		status = error_set(err, ERROR_NOTFOUND,
			"the store has no campaign of this command with strategy %s, seed %" PRIu64
			" and these settings; leave --resume out, or see raddle list campaigns",
			row->strategy, row->seed);
	else if (earlier->target != row->target)
		status = error_set(err, ERROR_TARGET,
			"%s has changed since campaign %" PRId64
			" was made, so its runs would differ; start again without --resume",
			campaign->program.target.path, earlier->id);
	else if (strategy_is_sequential(strategies[campaign->options->strategy]))
		status = runs_resume_from_state(campaign, earlier, err);
	else
		row->run_first = earlier->run_end;
	if (status == 0 && campaign->runs.resumed_id)
		status = runs_forget_later(campaign, earlier, rows + count, err);
	while (count)
		store_campaign_release(&rows[--count]);
	free(rows);
	return status;
}

int runs_find(struct campaign *campaign, struct error *err)
{
	const struct campaign_options *options = campaign->options;
	const uint64_t shards = options->shards ? options->shards : 1;
	const uint64_t before = options->shards ? options->shard - 1 : 0;
	const uint64_t first = before * FINDING_SHARD_RUNS;
	const struct strategy *strategy = strategies[options->strategy];
	int status = 0;

	if (options->shards > 1 && strategy_is_sequential(strategy) &&
		!strategy->search.is_elsewhere)
		return error_set(err, ERROR_USAGE,
			"strategy %s derives its runs from earlier runs, so a shard cannot run alone; %s",
			strategy->name,
			strategy->search.tasks ? "use --mpi, -j or strategy icb instead of --shard"
					       : "use strategy icb, or leave --shard out");
	campaign->runs.end = first + FINDING_SHARD_RUNS;
	if (options->schedules && options->schedules / shards < FINDING_SHARD_RUNS)
		campaign->runs.end = first + options->schedules / shards +
				     (before < options->schedules % shards);
	campaign->row.run_first = first;
	if (campaign->listener->more_runs) {
		campaign->runs.end = campaign->runs.next = 0; /* more_runs() supplies the runs */
		return 0;
	}
	if (options->resumes)
		status = runs_resume(campaign, err);
	if (status < 0)
		return status;
	if (campaign->row.run_first >= campaign->runs.end)
		return error_set(err, ERROR_USAGE,
			options->resumes
				? "all %" PRIu64 " schedules have been made; give more --schedules"
				: "of %" PRIu64 " schedules none is left for this shard; give more "
				  "--schedules or have fewer shards",
			options->schedules);
	campaign->result->resumed_runs = campaign->row.run_first - first;
	campaign->runs.next = campaign->row.run_first;
	return 0;
}

uint64_t runs_left(const struct campaign *campaign)
{
	return campaign->runs.end - campaign->runs.next;
}

void runs_request(struct campaign *campaign)
{
	const struct campaign_listener *listener = campaign->listener;
	uint64_t first, end;

	if (runs_left(campaign) || !listener->more_runs ||
		!listener->more_runs(listener->run_context, &first, &end))
		return;
	campaign->runs.next = first;
	campaign->runs.end = end;
}

static uint64_t runs_sequence_runs_made(const struct campaign *campaign)
{
	const struct contract_totals *totals = &campaign->workers[0].worker.contract->totals;

	return campaign->row.run_first + totals->runs - totals->outcome[OUTCOME_TAINTED];
}

/* Gives the worker its next batch. The next run's number follows from the totals, which do not
 * include runs of other shards. */
int sequence_next_batch(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	uint64_t size = worker->batch;

	(void)err;
	campaign->runs.next = campaign->scheme->runs_made(campaign);
	if (size > runs_left(campaign))
		size = runs_left(campaign);
	worker->run_first = campaign->runs.next;
	worker->run_end = campaign->runs.next += size;
	return size > 0;
}

int sequence_take_failure(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct campaign_failure caught;
	int result = 0;

	if (failure_copy_from(campaign, worker, &caught)) {
		result = failure_investigate(campaign, &caught, err);
		failure_discard(&caught);
	}
	return result;
}

void sequence_ignore_race(struct campaign *campaign, struct race_pair pair)
{
	/* cannot fail: the guest's table has the capacity of the settings' table */
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		(void)races_ignore_in_guest(campaign->workers[i].worker.contract, pair);
}

bool sequence_is_finished(const struct campaign *campaign)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];
	struct contract *contract = campaign->workers[0].worker.contract;

	return contract->is_live && strategy->search.is_exhausted &&
	       !contract_memory(contract)->newly_shared &&
	       strategy->search.is_exhausted(contract_strategy(contract));
}

void sequence_add_totals(struct campaign *campaign, struct contract_totals *totals)
{
	struct contract *contract = campaign->workers[0].worker.contract;

	*totals = contract->totals;
	campaign->result->races_ignored = races_counted(contract).ignored;
	campaign->result->blind_runs = races_counted(contract).blind_runs;
}

const struct scheme scheme_sequence = {
	.next_batch = sequence_next_batch,
	.take_failure = sequence_take_failure,
	.is_finished = sequence_is_finished,
	.ignore_race = sequence_ignore_race,
	.runs_made = runs_sequence_runs_made,
	.add_totals = sequence_add_totals,
};
