/* The verdict of an exhaustive strategy on the schedules it has explored. */
#include "explore/campaign_internal.h"
#include "explore/shards.h"

#define PROCESSES_DIFFER                                                                           \
	"one worker's first run was not that of another, who was given the same schedule; the "    \
	"program does not do the same in every process (files, locks on them, process numbers?)"

#define CHILDREN_HAVE_OTHERS "the threads of a forked child have schedules of their own"

/* Turns the verdict into one on a part of the schedules, for the reason given. */
static void verdict_reduce(struct strategy_verdict *verdict, const char *reason)
{
	verdict->is_complete = false;
	verdict->missing = reason;
	verdict->scope[0] = '\0';
	verdict->scope_order = 0;
	verdict->missed = 0;
}

/* With several workers, `contract` is worker 0's: its state covers all joined tasks. */
void verdict_take(struct campaign *campaign, struct contract *contract)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];
	struct campaign_result *result = campaign->result;

	result->has_verdict =
		strategy->search.verdict && (contract->totals.runs || contract->is_elsewhere);
	if (!result->has_verdict)
		return;
	strategy->search.verdict(contract_strategy(contract), &result->verdict);
	if (campaign->parts.differ)
		verdict_reduce(&result->verdict, PROCESSES_DIFFER);
	else if (contract->met & MET_CHILD_THREADS)
		verdict_reduce(&result->verdict, CHILDREN_HAVE_OTHERS);
}

/* For exhaustive strategies: stores the shard, and at the end the verdict. */
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
