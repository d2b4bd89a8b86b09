
#include "exchange/contract_block.h"
#include "explore/schemes/rounds_internal.h"
#include "explore/services.h"
#include "investigate/probe/probe.h"
#include "model/feature.h"
#include "platform/platform.h"
#include "strategies/strategy.h"

/* After a search, random descents estimate the number of all orders. Where the campaign has a time budget, the
 * descents may use 1/ORDERS_PART of it. */
#define ORDERS_PART 8u
/* Where the budget is a number of runs, the campaign makes one descent for every ORDERS_RUNS_PART runs, because
 * one descent takes as long as three to eight runs of the search. */
#define ORDERS_RUNS_PART 32u
/* A small number of runs would give too few descents. Therefore the campaign makes a descent for every ORDERS_PART
 * runs as long as these are at most ORDERS_DESCENTS_FEW. */
#define ORDERS_DESCENTS_FEW 64u
/* Descents never take more than this time from a time budget. Without a time budget they end after this time, or
 * after 1/ORDERS_PART of the time that the search took, whichever is longer. This limit is needed because a descent
 * takes up to a thousand times as long as a run that begins at a checkpoint. */
#define ORDERS_TIME_NS UINT64_C(1000000000)
/* Fewer descents give no useful estimate. */
#define ORDERS_DESCENTS_LEAST 16u
#define ORDERS_DESCENTS_MOST 100000u
/* The estimate ends with a standard error of one percent, after enough descents to measure it. */
#define ORDERS_DESCENTS_EXACT 256u
#define ORDERS_ERROR_SQUARED 1e-4
/* Batches grow while they are short, so that the time budget is kept. The error is computed only at multiples
 * of the largest batch, so that equal campaigns with a budget in runs make equally many descents. */
#define ORDERS_BATCH_MOST 64u
#define ORDERS_BATCH_NS UINT64_C(10000000)
/* A descent may wait for the kernel for ever. Without a time budget it may last this long, so that
 * the estimate does not depend on the machine. */
#define ORDERS_DESCENT_NS UINT64_C(10000000000)

/* Without memory accesses, the search of the portfolio proves nothing. */
static bool orders_has_search(const struct campaign *campaign)
{
	const struct campaign_options *options = campaign->options;
	const struct strategy *strategy = strategies[options->strategy];
	const bool is_part = options->shards > 1 || options->remote || options->is_one_by_one ||
			     campaign->listener->more_runs;

	return !is_part && !options->forwards_signals &&
	       (strategy == &strategy_dpor || (strategy == &strategy_portfolio &&
						      campaign->program.target.traits.has_sites));
}

uint64_t orders_reserved_ns(const struct campaign *campaign)
{
	const uint64_t part_ns = campaign->options->time_ns / ORDERS_PART;

	if (!orders_has_search(campaign))
		return 0;
	return part_ns < ORDERS_TIME_NS ? part_ns : ORDERS_TIME_NS;
}

static uint64_t orders_time_ns(const struct campaign *campaign)
{
	const uint64_t part_ns = campaign->result->total.exploring_ns / ORDERS_PART;

	if (campaign->options->time_ns)
		return orders_reserved_ns(campaign);
	return part_ns > ORDERS_TIME_NS ? part_ns : ORDERS_TIME_NS;
}

/* Returns false if the search is complete, or can never become complete. */
static bool orders_find_verdict(struct campaign *campaign, struct strategy_verdict *out)
{
	const struct contract *contract = campaign->workers[0].worker.contract;
	const struct campaign_result *result = campaign->result;

	*out = result->verdict;
	if (campaign->rounds && contract->has_memory_sites)
		strategies[campaign->options->strategy]->search.verdict(
			campaign->rounds->knowledge, out);
	return out->runs && !out->is_complete && !out->missing &&
	       !(contract->features & FEATURE_CHILD_THREADS);
}

static bool orders_is_wanted(struct campaign *campaign, struct strategy_verdict *search)
{
	const struct campaign_result *result = campaign->result;

	return orders_has_search(campaign) && !result->is_interrupted && !result->total.failures &&
	       !result->has_no_threads && !campaign->exclusive.is_active &&
	       !campaign->program.reads_ours && campaign->restart != RESTART_EXEC &&
	       orders_find_verdict(campaign, search);
}

static int orders_open(struct campaign *campaign, struct probe *probe, struct memory_view *memory,
	struct error *err)
{
	struct probe_params params = {.worker = campaign->workers[0].worker.params,
		.settings = &campaign->program.settings,
		.memory = memory,
		.restart = campaign->restart,
		.is_interrupted = campaign->options->is_interrupted,
		.run_limit_ns = campaign->options->time_ns ? orders_reserved_ns(campaign)
							   : ORDERS_DESCENT_NS};
	int result;

	memory_view_take(memory, contract_memory(campaign->workers[0].worker.contract));
	params.worker.output = OUTPUT_DISCARD;
	result = probe_open(probe, &params, err);
	if (result == 0)
		probe->worker.contract->plan.seed = campaign->options->seed;
	return result;
}

static bool orders_is_exact(const struct strategy_verdict *descents)
{
	return descents->runs >= ORDERS_DESCENTS_EXACT && descents->orders > 0 &&
	       descents->orders_variance <
		       ORDERS_ERROR_SQUARED * descents->orders * descents->orders;
}

/* A campaign with a budget in runs has at most this number of descents, and the same ones each time. */
static uint64_t orders_most(const struct campaign *campaign)
{
	const uint64_t runs = campaign->result->total.runs;
	uint64_t part = runs / ORDERS_PART;

	if (part > ORDERS_DESCENTS_FEW)
		part = ORDERS_DESCENTS_FEW;
	if (part < runs / ORDERS_RUNS_PART)
		part = runs / ORDERS_RUNS_PART;
	return campaign->options->schedules && part < ORDERS_DESCENTS_MOST ? part
									   : ORDERS_DESCENTS_MOST;
}

static void orders_descend(
	struct campaign *campaign, struct probe *probe, struct strategy_verdict *out)
{
	const struct campaign_options *options = campaign->options;
	const uint64_t until_ns = platform_monotonic_ns() + orders_time_ns(campaign);
	const uint64_t most = orders_most(campaign);
	struct probe_plan plan = {.strategy = &strategy_estimate};
	uint64_t batch = 1, begun_ns;
	struct error err;

	while (probe->run_count < most && (begun_ns = platform_monotonic_ns()) < until_ns) {
		plan.batch = ORDERS_BATCH_MOST - probe->run_count % ORDERS_BATCH_MOST;
		if (plan.batch > batch)
			plan.batch = batch;
		if (plan.batch > most - probe->run_count)
			plan.batch = most - probe->run_count;
		if (probe_run(probe, &plan, &err) < 0 || probe->report == REPORT_DIED ||
			*options->is_interrupted)
			return;
		campaign->result->orders.has_failure |= probe->is_failure;
		strategy_estimate.search.verdict(contract_strategy(probe->worker.contract), out);
		if (probe->run_count % ORDERS_BATCH_MOST == 0 && orders_is_exact(out))
			return;
		if (platform_monotonic_ns() - begun_ns < ORDERS_BATCH_NS &&
			batch < ORDERS_BATCH_MOST)
			batch *= 2;
		plan.is_continued = true;
	}
}

/* `exchanges`: the search counts this many orders as one (strategy_verdict). */
static void orders_conclude(const struct campaign *campaign,
	const struct strategy_verdict *descents, uint64_t executed, double exchanges)
{
	const bool is_search = strategies[campaign->options->strategy] == &strategy_dpor;
	const struct campaign_progress *total = &campaign->result->total;
	struct campaign_orders *orders = &campaign->result->orders;
	const double count = descents->orders / (exchanges > 1 ? exchanges : 1);
	const double left = count - (is_search ? (double)executed : 0);

	if (descents->runs < ORDERS_DESCENTS_LEAST || left <= 0)
		return;
	orders->count = count;
	orders->variance =
		descents->orders_variance * (count / descents->orders) * (count / descents->orders);
	orders->descents = descents->runs;
	orders->executed = executed;
	orders->is_search = is_search;
	orders->seconds = left * (double)total->exploring_ns / 1e9 /
			  (double)(is_search ? executed : total->runs);
}

void orders_estimate(struct campaign *campaign)
{
	struct strategy_verdict search, descents = {0};
	struct memory_view memory = {0};
	struct probe probe = {0};
	struct error err;

	if (strategies[campaign->options->strategy] == &strategy_estimate) {
		orders_conclude(campaign, &campaign->result->verdict, 0, 1);
		return;
	}
	if (!orders_is_wanted(campaign, &search))
		return;
	if (orders_open(campaign, &probe, &memory, &err) == 0)
		orders_descend(campaign, &probe, &descents);
	probe_close(&probe);
	memory_view_release(&memory);
	orders_conclude(campaign, &descents, search.runs - search.redundant, search.exchanges);
}
