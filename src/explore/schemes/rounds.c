/* Begins rounds, and exchanges lessons, memory and ignored races between rounds. */
#include "explore/schemes/rounds_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "explore/services.h"
#include "model/feature.h"
#include "process/children.h"
#include "plan/memory/memory_join.h"
#include "plan/races.h"
#include "plan/strategy_option.h"
#include "detectors/detector.h"
#include "model/memory/layout.h"
#include "strategies/strategy.h"

/* Runs before the strategy's remark is printed. The first run has no preemptions, so the counts of
 * steps and locks come from several runs. */
#define RUNS_BEFORE_REMARK 8

/*
 * A new layout costs a new process: a few milliseconds. The first runs have the plain layout,
 * because most bugs do not depend on the layout and many campaigns are short. Then the layout
 * changes with each round, and after LONG_CAMPAIGN_RUNS runs with each fourth round.
 */
#define PLAIN_LAYOUT_RUNS 64
#define LONG_CAMPAIGN_RUNS 65536
#define LONG_CAMPAIGN_ROUNDS 4
/* An exhaustive search beside random runs uses the plain layout. After it the campaign makes random
 * runs in this many other layouts, and ends. A failure that one layout in eight shows is missed with
 * a probability of 1.4 %. The search explores no stalls: a program with timed waits gets more runs,
 * one in STALL_RUNS with stalls. */
#define LAYOUTS_AFTER_SEARCH 32
#define LAYOUTS_AFTER_SEARCH_WITH_TIMES 128
#define RUNS_PER_LAYOUT_AFTER_SEARCH 64

/* Number of runs of the next round, unless it is shortened. */
static uint64_t rounds_length(const struct campaign *campaign)
{
	const uint64_t runs = strategy_round_runs(campaign->rounds->before);
	struct strategy_verdict verdict;

	return runs > RUNS_PER_LAYOUT_AFTER_SEARCH && rounds_verdict(campaign, &verdict)
		       ? RUNS_PER_LAYOUT_AFTER_SEARCH
		       : runs;
}

static void rounds_choose_layout(struct campaign *campaign)
{
	struct rounds *round = campaign->rounds;
	uint64_t runs = rounds_length(campaign);

	if (campaign->program.settings.has_fixed_layout) {
		round->layout = campaign->program.settings.layout;
		return;
	}
	if (rounds_ordered(campaign)) {
		round->layout = 0;
		round->layout_until = 0;
		return;
	}
	if (round->before < PLAIN_LAYOUT_RUNS || round->before < round->layout_until)
		return;
	if (round->before >= LONG_CAMPAIGN_RUNS)
		runs *= LONG_CAMPAIGN_ROUNDS;
	round->layout_until = round->before + runs;
	round->layout = layout_number(campaign->options->seed, ++round->layout_index);
}

static uint32_t rounds_layouts_after_search(const struct campaign *campaign)
{
	return campaign->result->features & FEATURE_TIME ? LAYOUTS_AFTER_SEARCH_WITH_TIMES
							 : LAYOUTS_AFTER_SEARCH;
}

/* Begins a round. After runs found new shared memory, the round has only one run, which shows its
 * accesses. */
static void rounds_begin_round(struct campaign *campaign)
{
	struct rounds *round = campaign->rounds;
	uint64_t runs = rounds_length(campaign);

	if (round->has_new_memory)
		runs = 1;
	if (runs_left(campaign) == 0)
		runs_request(campaign);
	if (runs > runs_left(campaign))
		runs = runs_left(campaign);
	round->number++;
	round->first = campaign->runs.next;
	round->runs = (uint32_t)runs;
	rounds_choose_layout(campaign);
	round->given = round->given_ahead = round->settled = 0;
	round->hold = ROUNDS_NO_HOLD;
	memset(round->is_made, 0, runs * sizeof *round->is_made);
	memset(round->keys, 0, runs * sizeof *round->keys);
	campaign->runs.next += runs;
}

/* Returns the strategy's configuration. A campaign whose runs the caller numbers or counts is a
 * part of a larger campaign, like a shard. */
static struct strategy_config rounds_config(const struct campaign *campaign)
{
	struct strategy_config config = campaign->options->strategy_config;
	const bool is_part = campaign->listener->more_runs || campaign->options->is_one_by_one;

	config.shards = is_part ? UINT32_MAX : campaign->options->shards;
	return config;
}

static void rounds_open(struct campaign *campaign)
{
	const struct strategy *strategy = rounds_strategy_of(campaign);
	const struct strategy_config config = rounds_config(campaign);
	struct rounds *round = array_new(1, sizeof *round);
	round->knowledge = array_new(1, strategy_state_bytes(strategy, &config));
	strategy_begin_campaign(strategy, round->knowledge, &config);
	campaign->rounds = round;
	rounds_begin_round(campaign);
}

static void rounds_close(struct campaign *campaign)
{
	struct rounds *round = campaign->rounds;

	if (!round)
		return;
	rounds_release_failures(round);
	free(round->failures);
	free(round->ignored);
	free(round->knowledge);
	free(round->races);
	free(round);
}

/* Initialises the worker's strategy state, because lessons are stored there before the first
 * run. */
static void rounds_prepare_worker(const struct campaign *campaign, struct campaign_worker *worker)
{
	const struct strategy_config config = rounds_config(campaign);

	strategy_begin_campaign(
		rounds_strategy_of(campaign), contract_strategy(worker->worker.contract), &config);
	worker->worker.is_strategy_fresh = false;
}

static int rounds_wake(struct campaign *campaign, struct error *err)
{
	int result = 0;

	for (uint32_t i = 0; i < campaign->worker_count && result == 0; i++)
		if (!campaign->workers[i].is_busy)
			result = loop_give(campaign, &campaign->workers[i], err);
	return result;
}

/*
 * Limits of one-run rounds for new memory. Only one worker is busy in such a round, and its run has
 * all sites on. A program that allocates much may show new memory in each run. Beyond the limits, the
 * first run of a usual round examines the new memory.
 */
#define SINGLE_ROUNDS_FIRST 4
#define SINGLE_ROUNDS_EVERY 16
/* Runs of so many steps take tenths of a second. A campaign has few of them, and the first ones cost
 * the most: the other workers would be idle for much of it. */
#define LONG_RUN_STEPS 100000

static bool rounds_has_long_run(const struct rounds *round)
{
	for (uint32_t position = 0; position < round->runs; position++)
		if (round->log[position].steps >= LONG_RUN_STEPS)
			return true;
	return false;
}

static bool rounds_may_look(const struct campaign *campaign)
{
	const struct rounds *round = campaign->rounds;

	return campaign->program.settings.memory_mode != MEMORY_RACY_SITES &&
	       !rounds_has_long_run(round) &&
	       (round->single_rounds < SINGLE_ROUNDS_FIRST ||
		       round->single_rounds * SINGLE_ROUNDS_EVERY < round->before);
}

static void rounds_share_memory(struct campaign *campaign)
{
	struct contract_memory *blocks[CHILDREN_WORKERS_MAX];
	struct rounds *round = campaign->rounds;

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		blocks[i] = contract_memory(campaign->workers[i].worker.contract);
	round->has_new_memory = round->has_new_points = false;
	if (blocks[0]->is_frozen)
		return;
	round->has_new_points = memory_join(blocks, campaign->worker_count, round->runs == 1);
	round->has_new_memory = round->has_new_points && rounds_may_look(campaign);
	round->single_rounds += round->has_new_memory;
	round->has_hidden_sites =
		!round->has_new_memory && (round->has_hidden_sites || round->has_new_points);
	for (uint32_t i = 0; round->has_new_memory && i < campaign->worker_count; i++)
		memory_forget_seen_sites(blocks[i]);
}

static bool rounds_may_omit_points(const struct campaign *campaign)
{
	const struct contract_memory *memory =
		contract_memory(campaign->workers[0].worker.contract);

	return campaign->options->may_omit_points && campaign_watches_races(campaign) &&
	       !campaign->program.settings.memory_model && !campaign->is_focused &&
	       memory->mode == MEMORY_LEARN && !memory->is_frozen;
}

static void rounds_set_memory_mode(struct campaign *campaign, enum memory_mode mode)
{
	campaign->program.settings.memory_mode = mode;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		contract_memory(campaign->workers[i].worker.contract)->mode = mode;
	campaign->rounds->has_new_points = true;
}

/* Returns whether sites may be off. A run may then access shared memory at such a site without a scheduling point, so a
 * completed search proves nothing. */
static bool rounds_has_sites_off(const struct campaign *campaign)
{
	const struct contract_memory *memory =
		contract_memory(campaign->workers[0].worker.contract);

	return (memory->mode == MEMORY_LEARN || memory->mode == MEMORY_RACES) &&
	       memory->profile_cost && !memory->has_all_sites && !memory->is_frozen;
}

/* Begins the exhaustive search that is made beside random runs again, with all sites on. */
static void rounds_turn_all_sites_on(struct campaign *campaign)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		contract_memory(campaign->workers[i].worker.contract)->has_all_sites = true;
	campaign->rounds->has_new_points = true;
}

/* Leaves out the points that only races need, after long runs and while the detector sees all races:
 * docs/decisions/0034-racy-sites.md. */
static void rounds_choose_memory_mode(struct campaign *campaign)
{
	const struct rounds *round = campaign->rounds;
	const bool is_blind = round->blind_runs;

	if (!is_blind && rounds_has_long_run(round) && rounds_may_omit_points(campaign)) {
		rounds_set_memory_mode(campaign, MEMORY_RACY_SITES);
		campaign_notice(campaign,
			"runs are long, so plain accesses to shared memory are scheduling points only where a race was seen (--memory shared: everywhere)");
	} else if (is_blind && campaign->program.settings.memory_mode == MEMORY_RACY_SITES) {
		rounds_set_memory_mode(campaign, MEMORY_LEARN);
		campaign_notice(campaign,
			"a run needed more memory than the race detector has, so all accesses to shared memory are scheduling points again");
	}
}

static void rounds_share_races(struct campaign *campaign)
{
	struct rounds *round = campaign->rounds;

	for (uint32_t i = 0; i < round->ignored_count; i++)
		for (uint32_t j = 0; j < campaign->worker_count; j++)
			(void)races_ignore_in_guest(campaign->workers[j].worker.contract,
				/* cannot fail: the guest's table is as large */
				round->ignored[i]);
	round->ignored_count = 0;
}

static void rounds_notice_remark(struct campaign *campaign)
{
	const struct rounds *round = campaign->rounds;
	char remark[256];

	if (campaign->noticed.remark || round->counted.runs < RUNS_BEFORE_REMARK ||
		!strategy_remark(campaign->options->strategy, &campaign->options->strategy_config,
			round->knowledge, remark, sizeof remark))
		return;
	campaign->noticed.remark = true;
	campaign_notice(campaign, "%s", remark);
}

/* Returns whether the search beside random runs has executed all orders. Returns false if no memory
 * access is instrumented. Also returns false after a run that ended at a race or a weak access: if
 * it is ignored later, that run was too short. Returns false while sites of new points may be off.
 */
static bool rounds_search_is_over(const struct campaign *campaign, struct strategy_verdict *out)
{
	const struct strategy *strategy = rounds_strategy_of(campaign);
	const struct rounds *round = campaign->rounds;

	if (!strategy->search.verdict || campaign->exclusive.is_active ||
		!campaign->workers[0].worker.contract->has_memory_sites ||
		round->counted.outcome[OUTCOME_RACE] || round->counted.outcome[OUTCOME_WEAK] ||
		round->has_hidden_sites ||
		campaign->program.settings.memory_mode == MEMORY_RACY_SITES)
		return false;
	strategy->search.verdict(round->knowledge, out);
	return out->is_complete;
}

bool rounds_verdict(const struct campaign *campaign, struct strategy_verdict *out)
{
	return rounds_search_is_over(campaign, out) && !rounds_has_sites_off(campaign);
}

static void rounds_end_round(struct campaign *campaign)
{
	const struct strategy *strategy = rounds_strategy_of(campaign);
	struct rounds *round = campaign->rounds;
	struct strategy_verdict verdict;
	uint64_t next;

	round->before += round->runs;
	next = strategy_round_runs(round->before);
	rounds_share_memory(campaign);
	rounds_choose_memory_mode(campaign);
	if (rounds_search_is_over(campaign, &verdict) && rounds_has_sites_off(campaign))
		rounds_turn_all_sites_on(campaign);
	if (round->has_new_points && strategy->learning.begin_again)
		strategy->learning.begin_again(round->knowledge);
	if (strategy->learning.learn)
		strategy->learning.learn(round->knowledge, round->runs, (uint32_t)next);
	for (uint32_t i = 0; strategy->learning.share && i < campaign->worker_count; i++)
		strategy->learning.share(
			contract_strategy(campaign->workers[i].worker.contract), round->knowledge);
	rounds_share_races(campaign);
	rounds_notice_remark(campaign);
	rounds_begin_round(campaign);
	/* Further runs may show what a reduced search left out. */
	campaign->is_stopping |=
		rounds_verdict(campaign, &verdict) && !verdict_missing(campaign) &&
		(campaign->program.settings.has_fixed_layout ||
			round->layout_index >= rounds_layouts_after_search(campaign));
}

static int rounds_advance(struct campaign *campaign, struct error *err)
{
	struct rounds *round = campaign->rounds;
	const int result = rounds_settle(campaign, false, err);

	if (result == 0 && !campaign->is_stopping && round->runs && round->settled == round->runs)
		rounds_end_round(campaign);
	return result;
}

/* Counts the runs made so far. A failure that ends the campaign is the last run that counts. */
static int rounds_end(struct campaign *campaign, bool is_cut, struct error *err)
{
	const struct strategy *strategy = rounds_strategy_of(campaign);
	struct rounds *round = campaign->rounds;
	int result = 0;

	(void)is_cut;
	if (!round->is_over) {
		campaign->is_stopping = false;
		result = rounds_settle(campaign, true, err);
	}
	round->is_over = true;
	if (result == 0 && strategy->learning.learn && round->settled)
		strategy->learning.learn(round->knowledge, round->settled, 1);
	return result;
}

static void rounds_ignore_race(struct campaign *campaign, struct race_pair pair)
{
	struct rounds *round = campaign->rounds;

	ARRAY_APPEND(round->ignored, round->ignored_count, pair);
}

/* The last round may lack runs of one worker before settled runs of another: a resumed campaign begins
 * with them. */
static uint64_t rounds_runs_made(const struct campaign *campaign)
{
	const struct rounds *round = campaign->rounds;
	uint32_t position = 0;

	while (position < round->settled && round->is_made[position])
		position++;
	return round->first + position;
}

const struct scheme scheme_rounds = {
	.has_independent_runs = true,
	.open = rounds_open,
	.close = rounds_close,
	.prepare_worker = rounds_prepare_worker,
	.next_batch = rounds_next_batch,
	.take_runs = rounds_take_runs,
	.take_failure = rounds_take_failure,
	.advance = rounds_advance,
	.wake = rounds_wake,
	.end = rounds_end,
	.ignore_race = rounds_ignore_race,
	.runs_made = rounds_runs_made,
	.add_totals = rounds_add_totals,
	.conclude = rounds_list_races,
};
