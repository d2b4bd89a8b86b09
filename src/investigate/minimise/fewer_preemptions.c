#include "investigate/minimise/fewer_preemptions.h"

#include "exchange/contract_block.h"
#include "platform/platform.h"
#include "strategies/strategy.h"

/* Options of icb in their order. */
enum { OPTION_PREEMPTIONS, OPTION_RUNS };
/* The least value of icb's option runs. */
#define RUNS_LEAST 1024
/* Batches grow while they take less than this time, so that the deadline is met. */
#define BATCH_NS UINT64_C(20000000)

bool fewer_preemptions_take(
	struct fewer_preemptions *search, const struct probe *probe, struct failure *failure)
{
	struct failure run = {0};

	failure_take(&run, probe->worker.contract);
	if (run.is_truncated || failure_compare_cost(&run, failure) >= 0 ||
		(run.step_count > search->steps_most &&
			failure_compare_delays(&run, failure) >= 0)) {
		failure_release(&run);
		return false;
	}
	run.run_number = failure->run_number;
	failure_release(failure);
	*failure = run;
	search->is_found = true;
	return true;
}

bool fewer_preemptions_has_many_switches(const struct failure *failure)
{
	return failure->switches > 2 * failure->preemptions + failure->thread_count - 1;
}

/* Were all schedules made that have fewer preemptions than the failure? */
static bool fewer_preemptions_has_made_all(struct probe *probe, const struct failure *failure)
{
	struct strategy_verdict verdict = {0};

	strategy_icb.search.verdict(contract_strategy(probe->worker.contract), &verdict);
	return verdict.scope_order >= failure->preemptions;
}

int fewer_preemptions_search(
	struct fewer_preemptions *search, struct failure *failure, struct error *err)
{
	const uint64_t begun_ns = platform_monotonic_ns();
	const bool wants_fewer_switches =
		failure->preemptions == 1 || fewer_preemptions_has_many_switches(failure);
	struct probe_plan plan = {.strategy = &strategy_icb,
		.options = {[OPTION_PREEMPTIONS] =
				    (int64_t)failure->preemptions - !wants_fewer_switches,
			[OPTION_RUNS] = search->budget.runs < RUNS_LEAST
						? RUNS_LEAST
						: (int64_t)search->budget.runs}};
	struct probe probe;
	int result;

	search->is_found = search->is_cut_off = false;
	if (failure->preemptions == 0 && !wants_fewer_switches)
		return 0;
	result = probe_open(&probe, &search->probe, err);
	if (result < 0)
		return result;
	for (uint64_t batch = 1;;) {
		const uint64_t start_ns = platform_monotonic_ns(), before = probe.run_count;

		if (!budget_allows(&search->budget, before, begun_ns))
			break;
		plan.is_continued = before > 0;
		plan.batch =
			batch < search->budget.runs - before ? batch : search->budget.runs - before;
		result = probe_run(&probe, &plan, err);
		if (result < 0 ||
			(probe_shows(&probe, failure) &&
				fewer_preemptions_take(search, &probe, failure)) ||
			strategy_icb.search.is_exhausted(contract_strategy(probe.worker.contract)))
			break;
		if (platform_monotonic_ns() - start_ns < BATCH_NS)
			batch *= 2;
		else
			batch = batch / 2 + 1;
	}
	search->is_cut_off = result == 0 && !search->is_found &&
			     !(probe.run_count && fewer_preemptions_has_made_all(&probe, failure));
	probe_close(&probe);
	return result;
}
