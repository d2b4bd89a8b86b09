/* Assigns the runs of a round to workers. The assignment changes no result. */
#include "explore/schemes/rounds_internal.h"

#include <string.h>

#include "model/watched_runs.h"
#include "strategies/strategy.h"

/* Batches of a round have this part of the usual duration, so that all workers end at about the
 * same time. */
#define BATCH_DIVISOR 512
/* One worker makes a round that takes this part of the usual duration or less: the processes of
 * the other workers would take longer to start. */
#define ROUND_DIVISOR 16

uint32_t rounds_ordered(const struct campaign *campaign)
{
	const struct strategy *strategy = rounds_strategy_of(campaign);

	return strategy->learning.ordered ? strategy->learning.ordered(campaign->rounds->knowledge)
					  : 0;
}

uint64_t rounds_resume_at(const struct campaign *campaign, uint64_t run)
{
	struct rounds *round = campaign->rounds;
	const uint32_t position = rounds_position_of(campaign, run);

	if (position >= rounds_ordered(campaign))
		return run;
	memset(round->is_made, 0, position * sizeof *round->is_made);
	return round->first;
}

static uint32_t rounds_batch_size(
	const struct campaign *campaign, const struct campaign_worker *worker)
{
	const struct rounds *round = campaign->rounds;
	uint64_t size = (round->runs - round->given) * 3 / (4 * campaign->worker_count);

	if (campaign->worker_count == 1 || round->runs <= worker->batch / ROUND_DIVISOR)
		size = round->runs - round->given;
	if (size < worker->batch / BATCH_DIVISOR)
		size = worker->batch / BATCH_DIVISOR;
	if (size > worker->batch || campaign->options->is_one_by_one)
		size = campaign->options->is_one_by_one ? 1 : worker->batch;
	if (!round->given && size < rounds_ordered(campaign))
		size = rounds_ordered(campaign);
	if (size > round->runs - round->given)
		size = round->runs - round->given;
	return size ? (uint32_t)size : 1;
}

/* Gives the rest of a batch to `worker`, because the batch's own worker may not continue. */
static void rounds_take_over(struct campaign *campaign, struct campaign_worker *worker)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		struct campaign_worker *other = &campaign->workers[i];

		if (other == worker || other->is_busy || other->run_first == other->run_end)
			continue;
		worker->run_first = rounds_resume_at(campaign, other->run_first);
		worker->run_end = other->run_end;
		other->run_first = other->run_end;
		return;
	}
}

/* Returns whether the process starts before it has a batch. A late start would delay the end of a
 * short round. */
static bool rounds_starts_ahead(
	const struct campaign *campaign, const struct campaign_worker *worker)
{
	return worker != campaign->workers && worker->worker.state == WORKER_EMPTY &&
	       worker->run_first == worker->run_end && campaign->restart != RESTART_EXEC &&
	       !campaign->options->is_one_by_one && campaign->rounds->before < STRATEGY_ROUND_FIRST;
}

/* Returns the round's first watched run from `position` on, behind the ordered runs, or the round's
 * end. */
static uint32_t rounds_find_watched(const struct campaign *campaign, uint32_t position)
{
	const struct rounds *round = campaign->rounds;
	const uint32_t ordered = rounds_ordered(campaign);

	if (campaign->program.settings.memory_mode != MEMORY_RACY_SITES)
		return round->runs;
	if (position < ordered)
		position = ordered;
	while (position < round->runs &&
		!watched_runs_has(round->first + position, round->before + position, true))
		position++;
	return position;
}

/* Assigns a watched run to the last worker, because such a run takes as long as 15 others: as the
 * last run of a round, it would keep the other workers waiting. */
static bool rounds_assign_ahead(struct campaign *campaign, struct campaign_worker *worker)
{
	struct rounds *round = campaign->rounds;
	const uint32_t next = round->given > round->given_ahead ? round->given : round->given_ahead;
	const uint32_t position = rounds_find_watched(campaign, next);

	if (worker == campaign->workers || campaign->options->is_one_by_one ||
		worker != &campaign->workers[campaign->worker_count - 1] ||
		position >= round->runs || position >= round->hold)
		return false;
	worker->run_first = round->first + position;
	worker->run_end = worker->run_first + 1;
	round->given_ahead = position + 1;
	return true;
}

static bool rounds_assign(struct campaign *campaign, struct campaign_worker *worker)
{
	struct rounds *round = campaign->rounds;
	uint32_t watched;

	if (rounds_assign_ahead(campaign, worker))
		return true;
	while ((watched = rounds_find_watched(campaign, round->given)) == round->given &&
		watched < round->given_ahead)
		round->given++;
	if (round->given == round->runs || round->given >= round->hold)
		return false;
	worker->run_first = round->first + round->given;
	round->given += rounds_batch_size(campaign, worker);
	if (watched < round->given_ahead && watched < round->given)
		round->given = watched;
	worker->run_end = round->first + round->given;
	return true;
}

int rounds_next_batch(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract_plan *plan = &worker->worker.contract->plan;
	const struct rounds *round = campaign->rounds;

	(void)err;
	if (rounds_starts_ahead(campaign, worker)) {
		worker->run_first = worker->run_end = round->first;
		return 1;
	}
	if (worker->run_first == worker->run_end && campaign->exclusive.is_active)
		rounds_take_over(campaign, worker);
	if (worker->run_first == worker->run_end && !rounds_assign(campaign, worker))
		return 0;
	if (rounds_position_of(campaign, worker->run_first) >= round->hold)
		return 0;
	plan->round = round->number;
	plan->round_first = round->first;
	plan->round_runs = round->runs;
	plan->runs_before = round->before;
	plan->layout = round->layout;
	return 1;
}
