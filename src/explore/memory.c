/* The view of memory that processes begin with, and the groups of sites for focused runs. */
#include "explore/services.h"

#include <string.h>

#include "strategies/strategy.h"

/* If a run has more accesses, switching the sites costs less than handling all accesses. */
#define FOCUS_VISITS_LEAST 20000
/* Limit on the points-to analysis. Programs of up to some 40,000 accesses need less time. */
#define ANALYSIS_SECONDS_MOST 5

bool memory_wants_focus(const struct campaign *campaign, struct contract *contract)
{
	const struct campaign_options *options = campaign->options;
	const struct contract_memory *memory = contract_memory(contract);

	return strategies[options->strategy]->fast_path.focus && contract->has_memory_sites &&
	       !memory->is_frozen && memory->mode == MEMORY_LEARN && !contract->plan.is_traced &&
	       options->focus != FOCUS_NEVER &&
	       (options->focus == FOCUS_ALWAYS || memory->visits >= FOCUS_VISITS_LEAST);
}

void memory_write_groups(struct campaign *campaign, struct campaign_worker *worker)
{
	struct contract_memory *memory = contract_memory(worker->worker.contract);
	const struct chosen_program program = {.path = campaign->program.target.path,
		.loader = campaign->program.target.traits.loader,
		.seconds_most =
			campaign->options->focus == FOCUS_ALWAYS ? 0 : ANALYSIS_SECONDS_MOST};
	struct error err;

	if (!campaign->is_focused || worker->has_groups || !memory->module_count)
		return;
	worker->has_groups = true;
	worker->worker.remote_has_memory = false;
	/* If the analysis fails, all sites stay on, which only costs speed. */
	if (chosen_group(memory, &program, &campaign->program.chosen.points_to, &err))
		campaign->is_focused = false;
}

/* Copies an area into zeroed memory and skips empty pages. */
static void memory_copy_area(struct worker *from, uint64_t offset, uint64_t bytes, void *to)
{
	uint64_t at = offset, length;

	while ((length = contract_block_next(&from->block, &at, offset + bytes)) != 0) {
		memcpy((char *)to + (at - offset), (char *)from->contract + at, length);
		at += length;
	}
}

void memory_copy_view(struct campaign *campaign, struct campaign_worker *worker)
{
	struct worker *owner = &campaign->workers[0].worker;
	const struct contract_memory *memory = contract_memory(owner->contract);
	struct contract *contract = worker->worker.contract;

	if (worker->has_memory &&
		contract_memory(contract)->points_version == memory->points_version)
		return;
	worker_kill(&worker->worker);
	contract_block_clear(
		&worker->worker.block, contract->memory_offset, contract->memory_bytes);
	memory_copy_area(owner, owner->contract->memory_offset, owner->contract->memory_bytes,
		contract_memory(contract));
	worker->worker.remote_has_memory = false;
	worker->has_memory = true;
}

void memory_write_view(const struct campaign *campaign, struct campaign_worker *worker)
{
	struct contract_memory *memory = contract_memory(worker->worker.contract);

	memory->mode = campaign->program.settings.memory_mode;
	if (campaign->options->memory)
		memory_view_apply(campaign->options->memory, memory);
	else if (campaign->options->variables)
		chosen_apply(&campaign->program.chosen, memory);
}
