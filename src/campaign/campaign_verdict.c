/* What a strategy that goes through all schedules says of those that were made. */
#include "campaign/campaign_internal.h"
#include "campaign/shards.h"

#define PROCESSES_DIFFER                                                                           \
	"one worker's first run was not that of another, who was given the same schedule; the "    \
	"program does not do the same in every process (files, locks on them, process numbers?)"

/* Of the only worker: such a strategy has no other. */
void verdict_take(struct campaign *campaign, struct contract *contract)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];
	struct campaign_result *result = campaign->result;

	result->has_verdict =
		strategy->verdict && (contract->totals.runs || contract->is_elsewhere);
	if (!result->has_verdict)
		return;
	strategy->verdict(contract_strategy(contract), &result->verdict);
	if (!campaign->parts.differ)
		return;
	result->verdict.is_complete = false;
	result->verdict.missing = PROCESSES_DIFFER;
	result->verdict.scope[0] = '\0';
	result->verdict.scope_order = 0;
	result->verdict.missed = 0;
}

/* Of a strategy that goes through all schedules: which part of them this is, and what it is known of it in the end. */
int verdict_keep(struct campaign *campaign, bool is_over, struct error *err)
{
	struct memory_view memory = {0};
	int status;

	if (campaign->has_rounds || campaign->options->store)
		return 0;
	if (is_over)
		memory_view_take(&memory, contract_memory(campaign->workers[0].worker.contract));
	status = shards_keep(campaign->store, campaign->row.id, campaign->options, campaign->result,
		is_over && campaign->result->has_verdict ? &memory : NULL, err);
	memory_view_release(&memory);
	return status;
}
