/*
 * A weak access is reported from sequentially consistent runs (OUTCOME_WEAK). A failing run under the
 * memory model that makes the access is stored like every failure: confirmed, minimised and traced.
 */
#include <string.h>

#include "base/hash.h"
#include "explore/services.h"
#include "investigate/investigate.h"
#include "investigate/weak_runs.h"

/* Stores the failing run; `shown_by` receives the id of its finding. */
static int weak_failure_keep(struct campaign *campaign, const struct campaign_failure *caught,
	const struct investigation *investigation, struct finding *report, struct finding *shown,
	struct error *err)
{
	/* Two reports may be shown by the same failure of different runs: each has a finding of its
	 * own. */
	const uint64_t key = hash_pair(failure_key(&caught->failure.outcome), 1);
	const struct known_failure *known;
	int result = 0;

	shown->signature = hash_pair(shown->signature, report->signature);
	known = known_find_signature(campaign, shown->signature);
	if (known)
		failure_note_finding(campaign, key, shown, known->finding);
	else
		result = failure_keep_finding(campaign, investigation, key, shown, err);
	memcpy(report->shown_by, known ? known->finding : shown->id, sizeof report->shown_by);
	return result;
}

static int weak_failure_store(struct campaign *campaign, const struct campaign_failure *caught,
	const struct investigation *investigation, struct weak_runs *runs, struct finding *report,
	struct error *err)
{
	struct investigation own = *investigation;
	struct finding shown = {0};
	int result;

	own.probe.settings = &runs->settings;
	own.probe.memory = &runs->memory;
	result = investigate(&own, &runs->shown, &shown, err);
	if (result < 0)
		return result;
	shown.strategy = string_copy("--fail-on weak");
	shown.seed = campaign->options->seed;
	shown.run_number = runs->shown.run_number + 1;
	result = weak_failure_keep(campaign, caught, &own, report, &shown, err);
	finding_release(&shown);
	return result;
}

int weak_failure_confirm(struct campaign *campaign, const struct campaign_failure *caught,
	const struct investigation *investigation, struct finding *finding, struct error *err)
{
	struct weak_runs runs;
	int result = weak_runs_explore(&runs, investigation, &caught->failure, err);

	if (result == ERROR_INTERRUPTED)
		return 0;
	if (result < 0)
		return result;
	weak_runs_describe(&runs, finding);
	if (weak_runs_failed(&runs))
		result = weak_failure_store(campaign, caught, investigation, &runs, finding, err);
	weak_runs_release(&runs);
	return result;
}
