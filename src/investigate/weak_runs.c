#include "investigate/weak_runs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "exchange/contract_block.h"

#define WEAK_RUNS 4096u
#define WEAK_TIME_NS UINT64_C(3000000000)

static void weak_runs_take(
	struct weak_runs *runs, struct contract *contract, const struct failure *wanted)
{
	failure_take(&runs->shown, contract);
	runs->shown.run_number = runs->made - 1;
	runs->shown.weak_site = wanted->weak_site;
	runs->shown.unseen_site = wanted->unseen_site;
	memory_view_release(&runs->memory);
	memory_view_take(&runs->memory, contract_memory(contract));
}

/* Repeats the failing run without a limit of weak choices, so that its finding needs none. */
static int weak_runs_lift_limit(struct weak_runs *runs, struct probe *probe,
	const struct failure *wanted, struct error *err)
{
	struct contract *contract = probe->worker.contract;
	const uint32_t limit = contract->plan.weak_limit;
	struct probe_plan plan = probe_plan_exact(&runs->shown);
	int result;

	if (!limit)
		return 0;
	contract->plan.weak_limit = 0;
	result = probe_run(probe, &plan, err);
	if (result == 0 && probe_shows(probe, &runs->shown) && !probe->has_diverged)
		weak_runs_take(runs, contract, wanted);
	else
		runs->settings.weak_limit = limit;
	return result;
}

/* Half of the runs have at most one weak choice: a failure then needs this access. */
static int weak_runs_make(struct weak_runs *runs, struct probe *probe, const struct failure *wanted,
	struct error *err)
{
	struct contract *contract = probe->worker.contract;
	const struct probe_plan plan = {
		.strategy = runs->made & 1 ? &strategy_pos : &strategy_random};
	int result;

	contract->plan.weak_limit = runs->made & 2 ? 0 : 1 + 1;
	result = probe_run(probe, &plan, err);
	if (result < 0)
		return result;
	runs->made++;
	if (!failure_has_weak_access(wanted, &contract->delayed))
		return 0;
	runs->weak++;
	if (!probe->is_failure)
		return 0;
	weak_runs_take(runs, contract, wanted);
	return weak_runs_lift_limit(runs, probe, wanted, err);
}

static uint64_t weak_runs_time(const struct investigation *investigation, uint64_t now_ns)
{
	const uint64_t until_ns = investigation->until_ns;

	if (!until_ns || until_ns >= now_ns + WEAK_TIME_NS)
		return WEAK_TIME_NS;
	return until_ns > now_ns ? until_ns - now_ns : 1;
}

int weak_runs_explore(struct weak_runs *runs, const struct investigation *investigation,
	const struct failure *failure, struct error *err)
{
	const uint64_t begun_ns = platform_monotonic_ns();
	const struct budget budget = {
		.runs = WEAK_RUNS, .time_ns = weak_runs_time(investigation, begun_ns)};
	const struct failure wanted = {
		.weak_site = failure->outcome.site, .unseen_site = failure->outcome.other_site};
	struct probe_params params = investigation->probe;
	struct probe probe;
	int result;

	*runs = (struct weak_runs){0};
	settings_copy(&runs->settings, params.settings);
	races_release(&runs->settings.races);
	runs->settings.memory_model = (enum memory_model)failure->outcome.code;
	params.settings = &runs->settings;
	params.worker.output = OUTPUT_DISCARD;
	result = probe_open(&probe, &params, err);
	if (result == 0) {
		/* A weak execution may show further shared memory. */
		contract_memory(probe.worker.contract)->is_frozen = false;
		while (result == 0 && !weak_runs_failed(runs) &&
			budget_allows(&budget, runs->made, begun_ns))
			result = weak_runs_make(runs, &probe, &wanted, err);
		probe_close(&probe);
	}
	if (result < 0)
		weak_runs_release(runs);
	return result;
}

void weak_runs_release(struct weak_runs *runs)
{
	settings_release(&runs->settings);
	failure_release(&runs->shown);
	memory_view_release(&runs->memory);
}

void weak_runs_describe(const struct weak_runs *runs, struct finding *finding)
{
	const char *model = memory_model_titles[runs->settings.memory_model];
	struct strbuf cause;

	strbuf_init(&cause);
	strbuf_addf(&cause, "%s\n", finding->cause ? finding->cause : "");
	if (weak_runs_failed(runs))
		strbuf_addf(&cause,
			"a run under %s in which this happens fails (%s; run %" PRIu64
			" of an exploration)",
			model, outcome_descriptions[runs->shown.outcome.kind].word, runs->made);
	else
		strbuf_addf(&cause,
			"not shown to fail: of %" PRIu64 " runs under %s this happens in %" PRIu64
			", and none of these fails",
			runs->made, model, runs->weak);
	free(finding->cause);
	finding->cause = strbuf_detach(&cause);
}
