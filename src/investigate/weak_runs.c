#include "investigate/weak_runs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "exchange/contract_block.h"

#define WEAK_RUNS 4096u
#define WEAK_TIME_NS UINT64_C(3000000000)

struct weak_runs {
	uint64_t made;
	uint64_t weak;	/* made the access before the store */
	uint16_t fails; /* enum outcome_kind of the failing run that did; OUTCOME_NONE: none */
};

static bool weak_runs_has_access(const struct delayed_stores *stores, const struct outcome *wanted)
{
	for (uint32_t i = 0; i < delayed_stores_recorded(stores); i++)
		if (stores->items[i].site == wanted->other_site &&
			stores->items[i].observer_site == wanted->site)
			return true;
	return false;
}

/* Half of the runs have at most one weak choice: a failure then needs this access. */
static int weak_runs_make(struct weak_runs *runs, struct probe *probe, const struct outcome *wanted,
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
	if (!weak_runs_has_access(&contract->delayed, wanted))
		return 0;
	runs->weak++;
	if (probe->is_failure)
		runs->fails = contract->outcome.kind;
	return 0;
}

static void weak_runs_describe(
	const struct weak_runs *runs, const char *model, struct finding *finding)
{
	struct strbuf cause;

	strbuf_init(&cause);
	strbuf_addf(&cause, "%s\n", finding->cause ? finding->cause : "");
	if (runs->fails)
		strbuf_addf(&cause,
			"a run under %s in which this happens fails (%s; run %" PRIu64
			" of an exploration)",
			model, outcome_descriptions[runs->fails].word, runs->made);
	else
		strbuf_addf(&cause,
			"not shown to fail: of %" PRIu64 " runs under %s this happens in %" PRIu64
			", and none of these fails",
			runs->made, model, runs->weak);
	free(finding->cause);
	finding->cause = strbuf_detach(&cause);
}

int weak_runs_explore(const struct investigation *investigation, const struct failure *failure,
	uint64_t limit_ns, struct finding *finding, struct error *err)
{
	const uint64_t begun_ns = platform_monotonic_ns();
	const struct budget budget = {.runs = WEAK_RUNS,
		.time_ns = limit_ns && limit_ns < WEAK_TIME_NS ? limit_ns : WEAK_TIME_NS};
	struct probe_params params = investigation->probe;
	struct weak_runs runs = {.fails = OUTCOME_NONE};
	struct settings settings;
	struct probe probe;
	int result;

	settings_copy(&settings, params.settings);
	races_release(&settings.races);
	settings.memory_model = (enum memory_model)failure->outcome.code;
	params.settings = &settings;
	params.worker.output = OUTPUT_DISCARD;
	result = probe_open(&probe, &params, err);
	if (result == 0) {
		/* A weak execution may show further shared memory. */
		contract_memory(probe.worker.contract)->is_frozen = false;
		while (result == 0 && !runs.fails && budget_allows(&budget, runs.made, begun_ns))
			result = weak_runs_make(&runs, &probe, &failure->outcome, err);
		probe_close(&probe);
	}
	if (result == 0)
		weak_runs_describe(&runs, memory_model_titles[settings.memory_model], finding);
	settings_release(&settings);
	return result;
}
