/*
 * Saved state of an exhaustive search, for --resume: the strategy's state, the view of memory, and
 * the tasks.
 *
 * A running task is saved as of its last synchronisation, or at the end of the campaign as it is. A
 * task with failures that are not investigated is saved without state and made again. A resumed
 * campaign treats saved tasks as complete.
 *
 * The contract of worker 0 holds the state and the view while that worker is idle. The file lies
 * beside the store. It is rewritten every few seconds under a temporary name and then renamed: a
 * complete file exists whenever the campaign is killed. The same release of raddle can read it, for
 * the same program.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/array.h"
#include "explore/services.h"
#include "explore/schemes/tasks.h"
#include "platform/platform.h"

#define STATE_MAGIC UINT64_C(0x6674617473646472) /* "rddstate" */
#define SAVE_EVERY_NS UINT64_C(2000000000)
/* Saving takes at most one part in SAVE_PART of the time: large states are saved less often. */
#define SAVE_PART 20

struct state_header {
	uint64_t magic;
	char release[64];
	uint64_t target; /* fingerprint of the program */
	uint64_t strategy_bytes, memory_bytes;
	uint64_t run; /* number of the next run */
	uint64_t shards;
	uint64_t features; /* those of the runs (model/feature.h) */
};

/* A non-empty extent of an area; bytes 0 ends the list. */
struct state_extent {
	uint64_t offset, bytes;
};

bool state_is_kept(const struct campaign *campaign, int64_t id)
{
	return store_state_exists(campaign->store, id);
}

static bool state_write_area(
	FILE *file, struct contract_block *block, uint64_t start, uint64_t size)
{
	const struct state_extent last = {0};
	uint64_t at = start, bytes;

	for (; (bytes = contract_block_next(block, &at, start + size)) != 0; at += bytes) {
		const struct state_extent extent = {at - start, bytes};

		if (fwrite(&extent, sizeof extent, 1, file) != 1 ||
			fwrite((const char *)block->contract + at, bytes, 1, file) != 1)
			return false;
	}
	return fwrite(&last, sizeof last, 1, file) == 1;
}

static bool state_read_area(FILE *file, void *area, uint64_t size)
{
	struct state_extent extent;

	while (fread(&extent, sizeof extent, 1, file) == 1) {
		if (!extent.bytes)
			return true;
		if (extent.offset > size || extent.bytes > size - extent.offset ||
			fread((char *)area + extent.offset, extent.bytes, 1, file) != 1)
			return false;
	}
	return false;
}

/* Header of a task, before the task's extents. Number 0 ends the list. */
struct state_task {
	uint64_t number;
	uint64_t has_state;
	struct contract_totals totals;
};

static bool state_write_task(const struct campaign *campaign, FILE *file,
	struct contract_block *scratch, const struct state_task *task, const void *state)
{
	const struct contract *contract = scratch->contract;

	if (fwrite(task, sizeof *task, 1, file) != 1)
		return false;
	if (!state)
		return true;
	/* A block knows which of its pages are empty. */
	contract_block_clear(scratch, contract->strategy_offset, contract->strategy_bytes);
	campaign->tasks->strategy->copy(contract_strategy(scratch->contract), state);
	return state_write_area(file, scratch, contract->strategy_offset, contract->strategy_bytes);
}

static bool state_write_worker(const struct campaign *campaign, FILE *file,
	struct contract_block *scratch, const struct campaign_worker *worker, bool is_last)
{
	const struct task *task = worker->task;
	struct state_task head = {.number = task->number};
	const void *state = NULL;

	if (is_last && !worker->is_busy) {
		state = contract_strategy(worker->worker.contract);
		head.totals = tasks_totals(worker);
	} else if (task->synchronised && !task->synchronised_failures) {
		state = task->synchronised;
		head.totals = task->synchronised_totals;
		tasks_add_totals(&head.totals, &worker->before, UINT64_MAX);
	}
	head.has_state = state != NULL;
	return state_write_task(campaign, file, scratch, &head, state);
}

static bool state_write_all(
	const struct campaign *campaign, FILE *file, struct contract_block *scratch, bool is_last)
{
	const struct tasks *const tasks = campaign->tasks;
	bool is_written = true;

	for (uint32_t i = 1; i < campaign->worker_count && is_written; i++)
		if (campaign->workers[i].task)
			is_written = state_write_worker(
				campaign, file, scratch, &campaign->workers[i], is_last);
	for (uint32_t i = 0; i < tasks->kept_count && is_written; i++) {
		const struct task *task = tasks->kept[i];
		const bool is_of_use = is_last || !task->failure_count;
		const struct state_task head = {task->number, is_of_use, task->totals};

		is_written = state_write_task(
			campaign, file, scratch, &head, is_of_use ? task->state : NULL);
	}
	return is_written;
}

static bool state_write_tasks(struct campaign *campaign, FILE *file, bool is_last)
{
	const struct contract_sizes sizes = {
		.strategy_bytes = campaign->workers[0].worker.contract->strategy_bytes};
	const struct state_task last = {0};
	struct contract_block scratch;
	bool is_written = true;
	struct error err; /* unused: an error means that no state is saved */

	if (campaign->tasks) {
		if (contract_block_open(&scratch, &sizes, &err) < 0)
			return false;
		is_written = state_write_all(campaign, file, &scratch, is_last);
		contract_block_close(&scratch);
	}
	return is_written && fwrite(&last, sizeof last, 1, file) == 1;
}

static bool state_read_task(struct campaign *campaign, FILE *file, const struct state_task *head)
{
	struct tasks *const tasks = campaign->tasks;
	struct worker *owner = &campaign->workers[0].worker;
	struct task *task;

	if (head->number > tasks->created)
		tasks->created = (uint32_t)head->number;
	if (!head->has_state) {
		tasks->strategy->leave(contract_strategy(owner->contract), (uint32_t)head->number);
		return true;
	}
	if (tasks->kept_count == TASKS_KEPT)
		return false;
	task = array_new(1, sizeof *task);
	task->number = (uint32_t)head->number;
	task->totals = head->totals;
	/* The earlier campaign has stored these counts. */
	memset(task->totals.known, 0, sizeof task->totals.known);
	task->state = tasks_map_state(campaign);
	if (!task->state || !state_read_area(file, task->state, owner->contract->strategy_bytes) ||
		!worker_is_valid_state(owner, task->state)) {
		tasks_release_task(campaign, task);
		return false;
	}
	/* The task's runs are subtracted in advance, because no worker of this campaign has counted
	 * them. */
	tasks_add_totals(&tasks->discarded, &task->totals, UINT64_MAX);
	tasks->kept[tasks->kept_count++] = task;
	return true;
}

/* Cancels the tasks that the resumed owner waits for: it makes its first run before it joins tasks.
 * Rarely needed. */
static void state_leave_awaited(struct campaign *campaign)
{
	struct tasks *const tasks = campaign->tasks;
	void *state = contract_strategy(campaign->workers[0].worker.contract);
	uint32_t number;

	while ((number = tasks->strategy->awaited(state)) != 0) {
		for (uint32_t i = 0; i < tasks->kept_count; i++)
			if (tasks->kept[i]->number == number)
				tasks_discard_kept(campaign, i);
		tasks->strategy->leave(state, number);
	}
}

static bool state_read_tasks(struct campaign *campaign, FILE *file)
{
	struct state_task head;

	if (!campaign->tasks)
		return true; /* one worker has no tasks to join */
	while (fread(&head, sizeof head, 1, file) == 1) {
		if (!head.number) {
			state_leave_awaited(campaign);
			return true;
		}
		if (!state_read_task(campaign, file, &head))
			return false;
	}
	return false;
}

static bool state_write(struct campaign *campaign, FILE *file, uint64_t run, bool is_last)
{
	struct worker *worker = &campaign->workers[0].worker;
	const struct contract *contract = worker->contract;
	struct state_header header = {.magic = STATE_MAGIC,
		.target = campaign->row.target,
		.strategy_bytes = worker->contract->strategy_bytes,
		.memory_bytes = worker->contract->memory_bytes,
		.run = run,
		.shards = campaign->options->shards,
		.features = verdict_features(campaign)};

	(void)snprintf(header.release, sizeof header.release, "%s", RADDLE_RELEASE);
	return fwrite(&header, sizeof header, 1, file) == 1 &&
	       state_write_area(
		       file, &worker->block, contract->strategy_offset, contract->strategy_bytes) &&
	       state_write_area(
		       file, &worker->block, contract->memory_offset, contract->memory_bytes) &&
	       state_write_tasks(campaign, file, is_last);
}

void state_save(struct campaign *campaign, bool is_last)
{
	const uint64_t began_ns = platform_monotonic_ns();
	const struct strategy *strategy = strategies[campaign->options->strategy];
	bool is_whole = false;
	FILE *file;
	int fd;

	if (!strategy_is_sequential(strategy) || campaign->workers[0].is_busy ||
		!campaign->has_started || campaign->listener->more_runs ||
		(!is_last && began_ns < campaign->times.state_due_ns))
		return;
	if (strategy->search.is_exhausted && strategy->search.is_exhausted(contract_strategy(
						     campaign->workers[0].worker.contract))) {
		store_state_remove(campaign->store, campaign->row.id);
		if (campaign->runs.resumed_id)
			store_state_remove(campaign->store, campaign->runs.resumed_id);
		return;
	}
	fd = store_state_create(campaign->store, campaign->row.id);
	/* store_state_publish() reads through `fd`: fclose() must not close it. */
	file = fd < 0 ? NULL : fdopen(dup(fd), "wb");
	if (file) {
		is_whole =
			state_write(campaign, file, campaign->scheme->runs_made(campaign), is_last);
		is_whole &= fclose(file) == 0;
	}
	/* Without this file, a later --resume reports that the campaign has no state. */
	if (fd >= 0 && store_state_publish(campaign->store, campaign->row.id, fd, is_whole) &&
		campaign->runs.resumed_id)
		store_state_remove(campaign->store, campaign->runs.resumed_id);
	campaign->times.state_due_ns = platform_monotonic_ns() +
				       (platform_monotonic_ns() - began_ns) * SAVE_PART +
				       SAVE_EVERY_NS;
}

static int state_read_header(
	const struct campaign *campaign, FILE *file, struct state_header *header, struct error *err)
{
	if (fread(header, sizeof *header, 1, file) != 1 || header->magic != STATE_MAGIC)
		return error_set(err, ERROR_FORMAT,
			"the state of campaign %" PRId64
			" is damaged; start again without --resume",
			campaign->runs.resumed_id);
	header->release[sizeof header->release - 1] = '\0';
	if (strcmp(header->release, RADDLE_RELEASE) != 0)
		return error_set(err, ERROR_VERSION,
			"campaign %" PRId64
			" was made by raddle %s, which has another format; start again without --resume",
			campaign->runs.resumed_id, header->release);
	if (header->shards != campaign->options->shards)
		return error_set(err, ERROR_USAGE,
			"campaign %" PRId64 " made one of %" PRIu64
			" parts; give the same --shard, or start again without --resume",
			campaign->runs.resumed_id, header->shards ? header->shards : 1);
	return 0;
}

static int state_open(const struct campaign *campaign, FILE **file, struct state_header *header,
	struct error *err)
{
	uint64_t size;
	int fd;
	int status = store_state_open(campaign->store, campaign->runs.resumed_id, &fd, &size, err);

	if (status < 0)
		return status;
	*file = fdopen(fd, "rb");
	BUG_ON(!*file);
	status = state_read_header(campaign, *file, header, err);
	if (status < 0)
		(void)fclose(*file);
	return status;
}

int state_find(const struct campaign *campaign, uint64_t *run, struct error *err)
{
	struct state_header header;
	FILE *file;
	const int status = state_open(campaign, &file, &header, err);

	if (status < 0)
		return status;
	(void)fclose(file);
	*run = header.run;
	return 0;
}

int state_load(struct campaign *campaign, struct error *err)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];
	struct worker *worker = &campaign->workers[0].worker;
	struct state_header header;
	bool is_read;
	FILE *file;
	int status = state_open(campaign, &file, &header, err);

	if (status < 0)
		return status;
	is_read =
		header.strategy_bytes == worker->contract->strategy_bytes &&
		header.memory_bytes == worker->contract->memory_bytes &&
		state_read_area(file, contract_strategy(worker->contract), header.strategy_bytes) &&
		worker_is_valid_state(worker, contract_strategy(worker->contract)) &&
		state_read_area(file, contract_memory(worker->contract), header.memory_bytes) &&
		state_read_tasks(campaign, file);
	(void)fclose(file);
	if (!is_read)
		return error_set(err, ERROR_FORMAT,
			"the state of campaign %" PRId64
			" is damaged; start again without --resume",
			campaign->runs.resumed_id);
	worker->is_strategy_fresh = false;
	worker->contract->plan.is_fresh_state = false;
	worker->contract->features |= (uint32_t)header.features;
	/* a campaign with one worker makes the runs of all tasks again */
	if (strategy->search.tasks && !campaign->tasks)
		strategy->search.tasks->leave(contract_strategy(worker->contract), 0);
	if (strategy->search.is_exhausted &&
		strategy->search.is_exhausted(contract_strategy(worker->contract)))
		return error_set(err, ERROR_USAGE,
			"campaign %" PRId64 " has made all schedules; there are no more",
			campaign->runs.resumed_id);
	return 0;
}
