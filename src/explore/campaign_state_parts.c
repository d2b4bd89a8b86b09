/*
 * Tasks in the saved state (campaign_state.c). Without them a resumed campaign would repeat the
 * runs of all other workers that the leader had not joined.
 *
 * A running task is saved as of its last synchronisation, or at the end of the campaign as it is. A
 * task with failures that are not investigated is saved without state and made again. A resumed
 * campaign treats saved tasks as complete.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/bug.h"
#include "explore/campaign_internal.h"

/* Header of a task, before its extents. Number 0 ends the list. */
struct state_part {
	uint64_t number;
	uint64_t has_state;
	struct contract_totals totals;
};

/* A non-empty extent of the task's state; bytes 0 ends the list. */
struct state_stretch {
	uint64_t offset, bytes;
};

/*
 * Writes the non-empty pages of a state. The state is copied into a contract block first, because
 * that block knows which of its pages are empty.
 */
static bool write_stretches(const struct campaign *campaign, FILE *file,
	struct contract_block *scratch, const void *state)
{
	const struct contract *contract = scratch->contract;
	const uint64_t start = contract->strategy_offset, end = start + contract->strategy_bytes;
	const struct state_stretch last = {0};
	uint64_t at = start, bytes;

	contract_block_clear(scratch, start, contract->strategy_bytes);
	campaign->parts.strategy->copy(contract_strategy(scratch->contract), state);
	for (; (bytes = contract_block_next(scratch, &at, end)) != 0; at += bytes) {
		const struct state_stretch stretch = {at - start, bytes};

		if (fwrite(&stretch, sizeof stretch, 1, file) != 1 ||
			fwrite((const char *)contract + at, bytes, 1, file) != 1)
			return false;
	}
	return fwrite(&last, sizeof last, 1, file) == 1;
}

static bool write_part(const struct campaign *campaign, FILE *file, struct contract_block *scratch,
	const struct state_part *part, const void *state)
{
	return fwrite(part, sizeof *part, 1, file) == 1 &&
	       (!state || write_stretches(campaign, file, scratch, state));
}

static bool write_worker(const struct campaign *campaign, FILE *file,
	struct contract_block *scratch, const struct campaign_worker *worker, bool is_last)
{
	const struct campaign_part *part = worker->part;
	struct state_part head = {.number = part->number};
	const void *state = NULL;

	if (is_last && !worker->is_busy) {
		state = contract_strategy(worker->worker.contract);
		head.totals = parts_totals(worker);
	} else if (part->told && !part->told_failures) {
		state = part->told;
		head.totals = part->told_totals;
		parts_add_totals(&head.totals, &worker->before, UINT64_MAX);
	}
	head.has_state = state != NULL;
	return write_part(campaign, file, scratch, &head, state);
}

static bool campaign_state_parts_write_parts(
	const struct campaign *campaign, FILE *file, struct contract_block *scratch, bool is_last)
{
	const struct campaign_parts *parts = &campaign->parts;
	bool is_written = true;

	for (uint32_t i = 1; i < campaign->worker_count && is_written; i++)
		if (campaign->workers[i].part)
			is_written = write_worker(
				campaign, file, scratch, &campaign->workers[i], is_last);
	for (uint32_t i = 0; i < parts->kept_count && is_written; i++) {
		const struct campaign_part *part = parts->kept[i];
		const bool is_of_use = is_last || !part->failure_count;
		const struct state_part head = {part->number, is_of_use, part->totals};

		is_written =
			write_part(campaign, file, scratch, &head, is_of_use ? part->state : NULL);
	}
	return is_written;
}

bool state_write_parts(struct campaign *campaign, FILE *file, bool is_last)
{
	const struct contract_sizes sizes = {
		.strategy_bytes = campaign->workers[0].worker.contract->strategy_bytes};
	const struct state_part last = {0};
	struct contract_block scratch;
	bool is_written = true;
	struct error err; /* unused: an error means that no state is saved */

	if (campaign->parts.strategy) {
		if (contract_block_open(&scratch, &sizes, &err) < 0)
			return false;
		is_written = campaign_state_parts_write_parts(campaign, file, &scratch, is_last);
		contract_block_close(&scratch);
	}
	return is_written && fwrite(&last, sizeof last, 1, file) == 1;
}

/* ---- reading ---- */

static bool read_stretches(FILE *file, char *state, uint64_t bytes)
{
	struct state_stretch stretch;

	while (fread(&stretch, sizeof stretch, 1, file) == 1) {
		if (!stretch.bytes)
			return true;
		if (stretch.offset > bytes || stretch.bytes > bytes - stretch.offset ||
			fread(state + stretch.offset, stretch.bytes, 1, file) != 1)
			return false;
	}
	return false;
}

static bool read_part(struct campaign *campaign, FILE *file, const struct state_part *head)
{
	struct campaign_parts *parts = &campaign->parts;
	struct worker *leader = &campaign->workers[0].worker;
	struct campaign_part *part;

	if (head->number > parts->numbers)
		parts->numbers = (uint32_t)head->number;
	if (!head->has_state) {
		parts->strategy->leave(contract_strategy(leader->contract), (uint32_t)head->number);
		return true;
	}
	if (parts->kept_count == CAMPAIGN_PARTS_KEPT)
		return false;
	part = calloc(1, sizeof *part);
	BUG_ON(!part);
	part->number = (uint32_t)head->number;
	part->totals = head->totals;
	part->state = mmap(NULL, leader->contract->strategy_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (part->state == MAP_FAILED ||
		!read_stretches(file, part->state, leader->contract->strategy_bytes)) {
		/* our own mapping */
		if (part->state != MAP_FAILED)
			(void)munmap(part->state, leader->contract->strategy_bytes);
		free(part);
		return false;
	}
	/*
	 * The workers of this campaign have not counted these runs, so the totals are subtracted in
	 * advance.
	 */
	parts_add_totals(&parts->dropped, &part->totals, UINT64_MAX);
	parts->kept[parts->kept_count++] = part;
	return true;
}

/*
 * Returns an awaited task to the leader, because the resumed leader makes its first run before it
 * joins tasks. Such a task is rare: the leader waits only until the worker of the task stops.
 */
static void leave_awaited(struct campaign *campaign)
{
	struct campaign_parts *parts = &campaign->parts;
	void *state = contract_strategy(campaign->workers[0].worker.contract);
	uint32_t number;

	while ((number = parts->strategy->awaited(state)) != 0) {
		for (uint32_t i = 0; i < parts->kept_count; i++)
			if (parts->kept[i]->number == number)
				parts_forget_kept(campaign, i);
		parts->strategy->leave(state, number);
	}
}

bool state_read_parts(struct campaign *campaign, FILE *file)
{
	struct state_part head;

	if (!campaign->parts.strategy)
		return true; /* one worker joins no tasks */
	while (fread(&head, sizeof head, 1, file) == 1) {
		if (!head.number) {
			leave_awaited(campaign);
			return true;
		}
		if (!read_part(campaign, file, &head))
			return false;
	}
	return false;
}
