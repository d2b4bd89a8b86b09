/*
 * Focused runs: only the sites that may access the variables selected by the strategy are switched
 * on.
 */
#include "explore/campaign_internal.h"
#include "strategies/strategy.h"

/* Number of accesses in a run from which switching the sites costs less than handling all accesses. */
#define VISITS_THAT_PAY 20000

bool campaign_wants_focus(const struct campaign *campaign, struct contract *contract)
{
	const struct campaign_options *options = campaign->options;
	const struct contract_memory *memory = contract_memory(contract);

	return strategies[options->strategy]->fast_path.focus && contract->has_memory_sites &&
	       !memory->is_frozen && memory->mode == MEMORY_LEARN && !contract->plan.is_traced &&
	       options->focus != FOCUS_NEVER &&
	       (options->focus == FOCUS_ALWAYS || memory->visits >= VISITS_THAT_PAY);
}

void campaign_tell_groups(struct campaign *campaign, struct campaign_worker *worker)
{
	struct error err;

	worker->has_groups = true;
	/* An error only costs speed: without the analysis all sites stay on. */
	if (chosen_group(contract_memory(worker->worker.contract), campaign->target.path,
		    campaign->target.traits.loader, &err))
		campaign->is_focused = false;
}
