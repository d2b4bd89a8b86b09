/*
 * Rounds (struct campaign_round): assigns places to workers, counts runs in the order of places,
 * and exchanges lessons, shared memory and ignored races between two rounds.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "explore/campaign_internal.h"
#include "process/children.h"
#include "plan/memory_join.h"
#include "plan/races.h"
#include "plan/strategy_option.h"
#include "detectors/detector.h"
#include "model/layout.h"
#include "strategies/strategy.h"

/*
 * Batches become smaller towards the end of a round, so that all workers end at about the same
 * time. The smallest is a worker's usual batch divided by PARTS_OF_BATCH.
 */
#define PARTS_OF_BATCH 512
#define NO_HOLD UINT32_MAX
/*
 * The first run has no preemptions, so the number of steps and locks is known only after a few
 * runs.
 */
#define RUNS_BEFORE_REMARK 8

static const struct strategy *campaign_rounds_strategy_of(const struct campaign *campaign)
{
	return strategies[campaign->options->strategy];
}

/* ---- memory layouts ---- */

/*
 * A process keeps its memory layout, so a new layout costs a new process: a few milliseconds. The
 * first runs have the plain layout, because most bugs do not depend on the layout and many
 * campaigns are short. Then the layout changes with each round. After LONG_CAMPAIGN_RUNS runs it
 * changes with each fourth round.
 */
#define PLAIN_LAYOUT_RUNS 64
#define LONG_CAMPAIGN_RUNS 65536
#define LONG_CAMPAIGN_ROUNDS 4

static void choose_layout(struct campaign *campaign)
{
	struct campaign_round *round = campaign->round;
	uint64_t runs = strategy_round_runs(round->before);

	if (campaign->settings.has_fixed_layout) {
		round->layout = campaign->settings.layout;
		return;
	}
	if (round->before < PLAIN_LAYOUT_RUNS || round->before < round->layout_until)
		return;
	if (round->before >= LONG_CAMPAIGN_RUNS)
		runs *= LONG_CAMPAIGN_ROUNDS;
	round->layout_until = round->before + runs;
	round->layout = layout_number(campaign->options->seed, ++round->layout_index);
}

/* ---- assignment ---- */

/*
 * Begins a round. After the discovery of new shared memory the round has one run, which shows its
 * accesses.
 */
static void campaign_rounds_begin_round(struct campaign *campaign)
{
	struct campaign_round *round = campaign->round;
	uint64_t runs = strategy_round_runs(round->before);

	if (round->has_news)
		runs = 1;
	if (campaign_runs_left(campaign) == 0)
		campaign_ask_for_runs(campaign);
	if (runs > campaign_runs_left(campaign))
		runs = campaign_runs_left(campaign);
	round->number++;
	round->first = campaign->run_next;
	round->runs = (uint32_t)runs;
	choose_layout(campaign);
	round->given = round->settled = 0;
	round->hold = NO_HOLD;
	memset(round->is_made, 0, runs * sizeof *round->is_made);
	memset(round->keys, 0, runs * sizeof *round->keys);
	campaign->run_next += runs;
}

void rounds_open(struct campaign *campaign)
{
	const size_t bytes = campaign_rounds_strategy_of(campaign)->state_bytes(
		&campaign->options->strategy_config);

	campaign->round = calloc(1, sizeof *campaign->round);
	campaign->knowledge = calloc(1, bytes);
	BUG_ON(!campaign->round || !campaign->knowledge);
	campaign_rounds_strategy_of(campaign)->begin_campaign(
		campaign->knowledge, &campaign->options->strategy_config);
	campaign_rounds_begin_round(campaign);
}

static void release_failures(struct campaign_round *round)
{
	for (uint32_t i = 0; i < round->failure_count; i++)
		campaign_failure_release(&round->failures[i]);
	round->failure_count = 0;
}

void rounds_close(struct campaign *campaign)
{
	if (campaign->round) {
		release_failures(campaign->round);
		free(campaign->round->failures);
		free(campaign->round->passed);
	}
	free(campaign->round);
	free(campaign->knowledge);
	free(campaign->races_seen);
	free(campaign->suppressed);
}

static uint32_t campaign_rounds_place_of(const struct campaign *campaign, uint64_t run)
{
	return (uint32_t)(run - campaign->round->first);
}

static uint32_t part_size(const struct campaign *campaign, const struct campaign_worker *worker)
{
	const struct campaign_round *round = campaign->round;
	uint64_t size = (round->runs - round->given) * 3 / (4 * campaign->worker_count);

	if (campaign->worker_count == 1)
		size = round->runs - round->given;
	if (size < worker->batch / PARTS_OF_BATCH)
		size = worker->batch / PARTS_OF_BATCH;
	if (size > worker->batch || campaign->options->is_one_by_one)
		size = campaign->options->is_one_by_one ? 1 : worker->batch;
	if (size > round->runs - round->given)
		size = round->runs - round->given;
	return size ? (uint32_t)size : 1;
}

/* Moves an unfinished batch of a worker that may not continue (is_alone) to `worker`. */
static void campaign_rounds_take_over(struct campaign *campaign, struct campaign_worker *worker)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		struct campaign_worker *other = &campaign->workers[i];

		if (other == worker || other->is_busy || other->run_first == other->run_end)
			continue;
		worker->run_first = other->run_first;
		worker->run_end = other->run_end;
		other->run_first = other->run_end;
		return;
	}
}

bool rounds_give(struct campaign *campaign, struct campaign_worker *worker)
{
	struct contract_plan *plan = &worker->worker.contract->plan;
	struct campaign_round *round = campaign->round;

	if (worker->run_first == worker->run_end && campaign->is_alone)
		campaign_rounds_take_over(campaign, worker);
	if (worker->run_first == worker->run_end) {
		if (round->given == round->runs || round->given >= round->hold)
			return false;
		worker->run_first = round->first + round->given;
		round->given += part_size(campaign, worker);
		worker->run_end = round->first + round->given;
	}
	if (campaign_rounds_place_of(campaign, worker->run_first) >= round->hold)
		return false;
	plan->round = round->number;
	plan->round_first = round->first;
	plan->round_runs = round->runs;
	plan->runs_before = round->before;
	plan->layout = round->layout;
	return true;
}

/* ---- results of runs ---- */

/* Collects the races that the worker's process has observed since the last call. */
static void take_races_seen(
	struct campaign *campaign, struct campaign_worker *worker, uint64_t run, uint64_t until)
{
	struct contract *contract = worker->worker.contract;
	const struct race_seen *seen;
	const uint32_t count = races_seen_list(contract, &seen);
	struct campaign_race *race;

	for (; worker->races_seen < until && worker->races_seen < count; worker->races_seen++) {
		campaign->races_seen = realloc(campaign->races_seen,
			(campaign->races_seen_count + 1) * sizeof *campaign->races_seen);
		BUG_ON(!campaign->races_seen);
		race = &campaign->races_seen[campaign->races_seen_count++];
		*race = (struct campaign_race){.run = run, .seen = seen[worker->races_seen]};
	}
}

/*
 * Copies the log of a run. The worker counts races since its start, the copy counts those of the
 * run.
 */
static void take_log(struct campaign *campaign, struct campaign_worker *worker, uint32_t place)
{
	struct campaign_round *round = campaign->round;
	const struct contract_run *from =
		contract_run_of(worker->worker.contract, round->first + place);
	struct contract_run *log = &round->log[place];

	*log = *from;
	log->races_let_pass -= worker->races_let_pass;
	log->blind_runs -= worker->blind_runs;
	worker->races_let_pass = from->races_let_pass;
	worker->blind_runs = from->blind_runs;
	take_races_seen(campaign, worker, round->first + place, from->races_seen);
}

void rounds_take(struct campaign *campaign, struct campaign_worker *worker, uint64_t end)
{
	const struct strategy *strategy = campaign_rounds_strategy_of(campaign);
	struct campaign_round *round = campaign->round;
	const uint32_t first = campaign_rounds_place_of(campaign, worker->run_first);
	uint32_t place = first;

	if (end <= worker->run_first || end > worker->run_end)
		return;
	for (; place < campaign_rounds_place_of(campaign, end); place++) {
		BUG_ON(round->is_made[place]); /* no run is made twice */
		round->is_made[place] = true;
		take_log(campaign, worker, place);
	}
	if (strategy->learning.gather)
		strategy->learning.gather(campaign->knowledge,
			contract_strategy(worker->worker.contract), first, place - first);
	worker->run_first = end;
}

/*
 * Runs after a failure that may end the campaign are not needed: sets `hold` and stops workers
 * beyond it.
 */
static void find_hold(struct campaign *campaign)
{
	struct campaign_round *round = campaign->round;

	round->hold = NO_HOLD;
	if (round->failure_count && !campaign->options->keep_going)
		round->hold =
			campaign_rounds_place_of(campaign, round->failures[0].failure.run_number);
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		struct campaign_worker *worker = &campaign->workers[i];

		if (worker->is_busy && worker->run_first - round->first > round->hold)
			worker_stop(&worker->worker);
	}
}

/* Inserts the failure by run number. Of several failures with one key the first run's is kept. */
static void keep_failure(struct campaign_round *round, struct campaign_failure *caught)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < round->failure_count; i++) {
		if (round->failures[i].key != caught->key)
			continue;
		if (round->failures[i].failure.run_number < caught->failure.run_number) {
			campaign_failure_release(caught);
			return;
		}
		campaign_failure_release(&round->failures[i]);
		memmove(&round->failures[i], &round->failures[i + 1],
			(--round->failure_count - i) * sizeof *round->failures);
		break;
	}
	round->failures =
		realloc(round->failures, (round->failure_count + 1) * sizeof *round->failures);
	BUG_ON(!round->failures);
	while (at < round->failure_count &&
		round->failures[at].failure.run_number < caught->failure.run_number)
		at++;
	memmove(&round->failures[at + 1], &round->failures[at],
		(round->failure_count - at) * sizeof *round->failures);
	round->failures[at] = *caught;
	round->failure_count++;
}

void rounds_take_failure(struct campaign *campaign, struct campaign_worker *worker)
{
	const struct contract *contract = worker->worker.contract;
	struct campaign_round *round = campaign->round;
	struct campaign_failure caught;

	round->keys[campaign_rounds_place_of(campaign, contract->run_number)] =
		failure_key(&contract->outcome);
	if (!campaign_catch_failure(campaign, worker, &caught))
		return;
	keep_failure(round, &caught);
	find_hold(campaign);
}

/* ---- counting in the order of runs ---- */

static void add_run(struct contract_totals *totals, const struct contract_run *run)
{
	totals->runs++;
	totals->steps += run->steps;
	totals->outcome[run->outcome]++;
	totals->failures += run->is_failure;
	totals->digest += run->digest;
	if (run->steps > totals->steps_most)
		totals->steps_most = run->steps;
	if (run->threads > totals->threads_most)
		totals->threads_most = run->threads;
}

void rounds_add_unsettled(const struct campaign *campaign, struct contract_totals *totals)
{
	const struct campaign_round *round = campaign->round;

	for (uint32_t place = round->settled; place < round->given; place++)
		if (round->is_made[place])
			add_run(totals, &round->log[place]);
}

static bool is_suppressed(const struct campaign *campaign, uint64_t key)
{
	for (uint32_t i = 0; i < campaign->suppressed_count; i++)
		if (campaign->suppressed[i] == key)
			return true;
	return false;
}

/* Discards the results from `place` on. One worker makes these runs again. */
static void make_again(struct campaign *campaign, uint32_t place)
{
	struct campaign_round *round = campaign->round;
	const uint32_t count = round->runs - place;

	campaign_forget_others(campaign);
	release_failures(round);
	memset(&round->is_made[place], 0, count * sizeof *round->is_made);
	memset(&round->keys[place], 0, count * sizeof *round->keys);
	round->given = round->settled = place;
	round->hold = NO_HOLD;
	campaign->is_disturbed = false;
}

/* Counts the run at `place`, and investigates its failure. */
static int settle_run(struct campaign *campaign, uint32_t place, struct error *err)
{
	struct campaign_round *round = campaign->round;
	const struct contract_run *log = &round->log[place];
	const struct contract_totals before = campaign->counted;
	struct campaign_failure first;
	int result;

	add_run(&campaign->counted, log);
	campaign->races_let_pass += log->races_let_pass;
	campaign->blind_runs += log->blind_runs;
	round->settled = place + 1;
	/* A suppressed race ended this run before later rounds ignore it. */
	if (round->keys[place] && is_suppressed(campaign, round->keys[place])) {
		campaign->suppressed_runs++;
		campaign->races_let_pass++;
	}
	if (!round->failure_count || round->failures[0].failure.run_number != round->first + place)
		return 0;
	first = round->failures[0];
	memmove(round->failures, round->failures + 1,
		--round->failure_count * sizeof *round->failures);
	result = campaign_look_into(campaign, &first, err);
	campaign_failure_release(&first);
	if (campaign->is_disturbed) {
		campaign->counted = before;
		campaign->races_let_pass -= log->races_let_pass;
		campaign->blind_runs -= log->blind_runs;
		make_again(campaign, place);
	}
	find_hold(campaign);
	return result;
}

static int campaign_rounds_settle(struct campaign *campaign, bool is_last, struct error *err)
{
	struct campaign_round *round = campaign->round;

	for (uint32_t place = round->settled; place < round->given; place++) {
		int result;

		if (!round->is_made[place] && !is_last)
			return 0;
		/* Runs after the failure that ended the campaign do not count. */
		if (campaign->is_over || !round->is_made[place])
			continue;
		result = settle_run(campaign, place, err);
		if (result < 0)
			return result;
		campaign->is_over = campaign->is_stopping;
	}
	return 0;
}

/* ---- between rounds ---- */

/*
 * Limits of one-run rounds for new memory in focused campaigns (runtime/focus.h). A run with all
 * sites on is many times slower, and a program that allocates much may show new memory in each run.
 * Beyond the limits, the first run of a usual round looks at the new memory.
 */
#define LOOKS_FIRST 4
#define LOOK_EVERY 16

static bool may_look(const struct campaign *campaign)
{
	const struct campaign_round *round = campaign->round;

	return !campaign->is_focused || round->looks < LOOKS_FIRST ||
	       round->looks * LOOK_EVERY < round->before;
}

static void share_memory(struct campaign *campaign)
{
	struct contract_memory *blocks[CHILDREN_WORKERS_MAX];
	struct campaign_round *round = campaign->round;

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		blocks[i] = contract_memory(campaign->workers[i].worker.contract);
	round->has_news = false;
	if (blocks[0]->is_frozen)
		return;
	round->has_news = memory_join(blocks, campaign->worker_count) && may_look(campaign);
	round->looks += round->has_news;
}

static void share_races(struct campaign *campaign)
{
	struct campaign_round *round = campaign->round;

	for (uint32_t i = 0; i < round->passed_count; i++)
		for (uint32_t j = 0; j < campaign->worker_count; j++)
			(void)races_tell(campaign->workers[j].worker.contract,
				/* cannot fail: the guest's table has the capacity of the settings' */
				round->passed[i]);
	round->passed_count = 0;
}

static void tell_remark(struct campaign *campaign)
{
	char remark[256];

	if (campaign->has_told_remark || campaign->counted.runs < RUNS_BEFORE_REMARK ||
		!strategy_remark(campaign->options->strategy, &campaign->options->strategy_config,
			campaign->knowledge, remark, sizeof remark))
		return;
	campaign->has_told_remark = true;
	campaign_notice(campaign, "%s", remark);
}

static void campaign_rounds_end_round(struct campaign *campaign)
{
	const struct strategy *strategy = campaign_rounds_strategy_of(campaign);
	struct campaign_round *round = campaign->round;
	uint64_t next;

	round->before += round->runs;
	next = strategy_round_runs(round->before);
	if (strategy->learning.learn)
		strategy->learning.learn(campaign->knowledge, round->runs, (uint32_t)next);
	for (uint32_t i = 0; strategy->learning.share && i < campaign->worker_count; i++)
		strategy->learning.share(contract_strategy(campaign->workers[i].worker.contract),
			campaign->knowledge);
	share_memory(campaign);
	share_races(campaign);
	tell_remark(campaign);
	campaign_rounds_begin_round(campaign);
}

int rounds_advance(struct campaign *campaign, bool is_last, struct error *err)
{
	struct campaign_round *round = campaign->round;
	int result = campaign_rounds_settle(campaign, is_last, err);

	if (result < 0)
		return result;
	if (is_last || campaign->is_over) {
		campaign->is_over = true;
		if (campaign_rounds_strategy_of(campaign)->learning.learn && round->settled)
			campaign_rounds_strategy_of(campaign)->learning.learn(
				campaign->knowledge, round->settled, 1);
		return 0;
	}
	if (!campaign->is_stopping && round->runs && round->settled == round->runs)
		campaign_rounds_end_round(campaign);
	return 0;
}
