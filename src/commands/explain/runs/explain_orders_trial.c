/* Runs with other memory orders; see explain_orders.h. */
#include <string.h>

#include "base/bug.h"
#include "commands/explain/runs/explain_orders_internal.h"
#include "model/feature.h"
#include "plan/restart.h"
#include "plan/strategy_option.h"

#define BATCH_RUNS 128u
/* Without a change, the runs until the first failure; a bug that needs more is not examined. */
#define BASE_RUNS_MOST 20000u
/* A change that has no effect leaves no failure in this many times the runs with a probability of
 * exp(-20). */
#define RUNS_TIMES 20u
#define RUNS_LEAST 10000u
#define RUNS_FIRST 1000u
/* Runs of the exhaustive search; a larger program gets no exhaustive verdict. */
#define SEARCH_RUNS_MOST 20000u
#define SEARCH_STRATEGY "dpor,steps=8192"

int orders_open(struct orders_search *search)
{
	struct explain *explain = search->explain;
	struct probe_params params = explain->setting.probe;
	int result;

	params.worker.output = OUTPUT_DISCARD;
	params.memory = &explain->memory;
	params.restart =
		params.settings->check ? RESTART_EXEC : restart_fastest(params.settings->executor);
	result = probe_open(&search->probe, &params, search->err);
	/* A change may show further shared memory. */
	if (result == 0)
		contract_memory(search->probe.worker.contract)->is_frozen = false;
	return result;
}

static void explain_orders_trial_orders_add_site(
	struct contract_plan *plan, uint64_t site, const struct orders_change *change)
{
	BUG_ON(plan->strengthened_count == STRENGTHENED_MOST);
	plan->strengthened[plan->strengthened_count++] = (struct strengthened){
		.site = site, .order = change->order, .is_fence = change->is_fence};
}

static void explain_orders_trial_orders_apply(
	struct orders_search *search, const struct orders_change *changes, uint32_t count)
{
	struct contract_plan *plan = &search->probe.worker.contract->plan;

	_Static_assert(
		ORDERS_LOCATIONS_MOST * ORDERS_COPIES_MOST <= STRENGTHENED_MOST, "room for all");
	plan->strengthened_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct orders_location *location =
			&search->out->locations[changes[i].location];

		for (uint32_t copy = 0; copy < location->site_count; copy++)
			explain_orders_trial_orders_add_site(
				plan, location->sites[copy], &changes[i]);
	}
}

static bool explain_orders_trial_orders_time_is_up(struct orders_search *search)
{
	if (explain_elapsed_ns(search->explain) < search->until_ns)
		return false;
	search->out->is_unfinished = true;
	return true;
}

/* Makes `most` runs of `random` and `pos` by turns, up to a failure. */
static int explain_orders_trial_orders_sample(
	struct orders_search *search, uint64_t most, uint64_t *runs, enum orders_trial *trial)
{
	struct probe_plan plan = {.batch = BATCH_RUNS};
	uint64_t made = 0;

	*trial = TRIAL_PASSES;
	for (uint32_t batch = 0; made < most && *trial == TRIAL_PASSES; batch++) {
		const uint64_t before = search->probe.run_count;
		int result;

		if (explain_orders_trial_orders_time_is_up(search)) {
			*trial = TRIAL_UNFINISHED;
			return 0;
		}
		plan.strategy = batch % 2 ? &strategy_pos : &strategy_random;
		result = probe_run(&search->probe, &plan, search->err);
		if (result < 0)
			return result;
		made += search->probe.run_count - before;
		*runs = made;
		if (search->probe.is_failure)
			*trial = TRIAL_FAILS;
	}
	return 0;
}

/* Returns whether all executions have been made. */
static bool explain_orders_trial_orders_is_complete(const struct orders_search *search)
{
	const struct contract *contract = search->probe.worker.contract;
	struct strategy_verdict verdict = {0};

	strategy_dpor.search.verdict(contract_strategy((struct contract *)contract), &verdict);
	return verdict.is_complete && !features_that_omit(contract->features, OMITS_SCHEDULES);
}

static int explain_orders_trial_orders_exhaust(
	struct orders_search *search, struct orders_repair *repair, enum orders_trial *trial)
{
	struct contract *contract = search->probe.worker.contract;
	struct probe_plan plan = {.strategy = &strategy_dpor, .batch = BATCH_RUNS};
	struct strategy_config config;
	uint32_t index;

	*trial = TRIAL_UNFINISHED;
	BUG_ON(strategy_parse(SEARCH_STRATEGY, &index, &config, NULL) < 0);
	memcpy(plan.options, config.option, sizeof plan.options);
	contract->features = 0;
	for (uint64_t made = 0; made < SEARCH_RUNS_MOST; plan.is_continued = true) {
		const uint64_t before = search->probe.run_count;
		int result;

		if (explain_orders_trial_orders_time_is_up(search))
			return 0;
		result = probe_run(&search->probe, &plan, search->err);
		if (result < 0)
			return result;
		made += search->probe.run_count - before;
		if (search->probe.is_failure) {
			*trial = TRIAL_FAILS;
			return 0;
		}
		if (!strategy_dpor.search.is_exhausted(contract_strategy(contract)) ||
			contract_memory(contract)->newly_shared)
			continue;
		if (!explain_orders_trial_orders_is_complete(search))
			return 0;
		repair->runs = made;
		repair->is_exhaustive = true;
		repair->features = contract->features;
		*trial = TRIAL_PASSES;
		return 0;
	}
	return 0;
}

/* A few random runs refute most changes. */
int orders_try(struct orders_search *search, struct orders_repair *repair, enum orders_trial *trial)
{
	uint64_t runs;
	int result;

	repair->is_exhaustive = false;
	explain_orders_trial_orders_apply(search, repair->changes, repair->count);
	result = explain_orders_trial_orders_sample(search, RUNS_FIRST, &runs, trial);
	if (result < 0 || *trial != TRIAL_PASSES)
		return result;
	if (!search->is_large) {
		result = explain_orders_trial_orders_exhaust(search, repair, trial);
		if (result < 0 || *trial != TRIAL_UNFINISHED || search->out->is_unfinished)
			return result;
		search->is_large = true;
	}
	return explain_orders_trial_orders_sample(
		search, search->runs_wanted, &repair->runs, trial);
}

int orders_measure(struct orders_search *search)
{
	enum orders_trial trial;
	uint64_t runs = 0;
	int result;

	explain_orders_trial_orders_apply(search, NULL, 0);
	result = explain_orders_trial_orders_sample(search, BASE_RUNS_MOST, &runs, &trial);
	search->out->is_repeatable = result == 0 && trial == TRIAL_FAILS;
	search->runs_wanted = RUNS_TIMES * runs < RUNS_LEAST ? RUNS_LEAST : RUNS_TIMES * runs;
	return result;
}
