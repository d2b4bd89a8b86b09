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

static bool fewer_preemptions_accept(const struct probe *probe, struct failure *failure)
{
	struct failure run = {0};

	if (!probe_shows(probe, failure))
		return false;
	failure_take(&run, probe->worker.contract);
	if (run.is_truncated || run.preemptions >= failure->preemptions ||
		failure_compare_delays(&run, failure) > 0 ||
		(run.step_count > failure->step_count &&
			failure_compare_delays(&run, failure) >= 0)) {
		failure_release(&run);
		return false;
	}
	run.run_number = failure->run_number;
	failure_release(failure);
	*failure = run;
	return true;
}

int fewer_preemptions_search(
	struct fewer_preemptions *search, struct failure *failure, struct error *err)
{
	const uint64_t begun_ns = platform_monotonic_ns();
	struct probe_plan plan = {.strategy = &strategy_icb,
		.options = {[OPTION_PREEMPTIONS] = (int64_t)failure->preemptions - 1,
			[OPTION_RUNS] = search->budget.runs < RUNS_LEAST
						? RUNS_LEAST
						: (int64_t)search->budget.runs}};
	struct probe probe;
	int result;

	search->is_found = search->is_cut_off = false;
	if (failure->preemptions == 0)
		return 0;
	result = probe_open(&probe, &search->probe, err);
	if (result < 0)
		return result;
	for (uint64_t batch = 1;;) {
		const uint64_t start_ns = platform_monotonic_ns(), before = probe.run_count;

		search->is_cut_off = !budget_allows(&search->budget, before, begun_ns);
		if (search->is_cut_off)
			break;
		plan.is_continued = before > 0;
		plan.batch =
			batch < search->budget.runs - before ? batch : search->budget.runs - before;
		result = probe_run(&probe, &plan, err);
		if (result < 0)
			break;
		search->is_found = fewer_preemptions_accept(&probe, failure);
		if (search->is_found ||
			strategy_icb.search.is_exhausted(contract_strategy(probe.worker.contract)))
			break;
		if (platform_monotonic_ns() - start_ns < BATCH_NS)
			batch *= 2;
		else
			batch = batch / 2 + 1;
	}
	probe_close(&probe);
	return result;
}
