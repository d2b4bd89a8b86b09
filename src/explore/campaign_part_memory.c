/* Copies the view of shared memory from the leader to the other workers. */
#include "explore/campaign_internal.h"

#include <string.h>

/* Copies the non-empty pages of an area of a contract into zeroed memory. */
static void copy_area(struct worker *from, uint64_t offset, uint64_t bytes, void *to)
{
	uint64_t at = offset, length;

	while ((length = contract_block_next(&from->block, &at, offset + bytes)) != 0) {
		memcpy((char *)to + (at - offset), (char *)from->contract + at, length);
		at += length;
	}
}

void parts_teach_memory(struct campaign *campaign, struct campaign_worker *worker)
{
	struct worker *leader = &campaign->workers[0].worker;
	const struct contract_memory *memory = contract_memory(leader->contract);
	struct contract *contract = worker->worker.contract;

	if (worker->has_memory && worker->points == memory->points_known)
		return;
	worker_kill(&worker->worker);
	contract_block_clear(
		&worker->worker.block, contract->memory_offset, contract->memory_bytes);
	copy_area(leader, leader->contract->memory_offset, leader->contract->memory_bytes,
		contract_memory(contract));
	worker->worker.remote_has_memory = false;
	worker->has_memory = true;
	worker->points = memory->points_known;
}

void campaign_tell_memory(const struct campaign *campaign, struct campaign_worker *worker)
{
	struct contract_memory *memory = contract_memory(worker->worker.contract);

	memory->mode = campaign->settings.memory_mode;
	if (campaign->options->memory)
		memory_view_apply(campaign->options->memory, memory);
	else if (campaign->options->variables)
		chosen_apply(&campaign->chosen, memory);
}
