/*
 * Saved state of an exhaustive search, for --resume: the strategy's state, the view of memory, and
 * the tasks.
 *
 * The contract of worker 0 holds both while that worker is idle. The file lies beside the store. It
 * is rewritten every few seconds under a temporary name and then renamed, so a complete file exists
 * whenever the campaign is killed. Only the same release of raddle reads it, for the same program.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "explore/campaign_internal.h"
#include "platform/platform.h"

#define STATE_MAGIC UINT64_C(0x6674617473646472) /* "rddstate" */
#define SAVE_EVERY_NS UINT64_C(2000000000)
/* Saving takes at most one part in SAVE_PART of the time, so large states are saved less often. */
#define SAVE_PART 20

struct state_header {
	uint64_t magic;
	char release[64];
	uint64_t target; /* fingerprint of the program */
	uint64_t strategy_bytes, memory_bytes;
	uint64_t run; /* number of the next run */
	uint64_t shards;
};

/* A non-empty extent of an area of the contract; bytes 0 ends the list. */
struct state_extent {
	uint64_t is_memory; /* 1: in the memory area, 0: in the strategy's area */
	uint64_t offset, bytes;
};

bool state_is_kept(const struct campaign *campaign, int64_t id)
{
	return store_state_exists(campaign->store, id);
}

static bool write_area(FILE *file, struct worker *worker, bool is_memory)
{
	const struct contract *contract = worker->contract;
	const uint64_t start = is_memory ? contract->memory_offset : contract->strategy_offset;
	const uint64_t end =
		start + (is_memory ? contract->memory_bytes : contract->strategy_bytes);
	uint64_t at = start, bytes;

	while ((bytes = contract_block_next(&worker->block, &at, end)) != 0) {
		const struct state_extent extent = {is_memory, at - start, bytes};

		if (fwrite(&extent, sizeof extent, 1, file) != 1 ||
			fwrite((const char *)contract + at, bytes, 1, file) != 1)
			return false;
		at += bytes;
	}
	return true;
}

static bool write_state(struct campaign *campaign, FILE *file, uint64_t run, bool is_last)
{
	struct worker *worker = &campaign->workers[0].worker;
	const struct state_extent end = {0};
	struct state_header header = {.magic = STATE_MAGIC,
		.target = campaign->row.target,
		.strategy_bytes = worker->contract->strategy_bytes,
		.memory_bytes = worker->contract->memory_bytes,
		.run = run,
		.shards = campaign->options->shards};

	(void)snprintf(header.release, sizeof header.release, "%s", RADDLE_RELEASE);
	return fwrite(&header, sizeof header, 1, file) == 1 && write_area(file, worker, false) &&
	       write_area(file, worker, true) && fwrite(&end, sizeof end, 1, file) == 1 &&
	       state_write_parts(campaign, file, is_last);
}

static uint64_t next_run(const struct campaign *campaign)
{
	return campaign->row.run_first + parts_runs_done(campaign);
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
		(!is_last && began_ns < campaign->state_due_ns))
		return;
	if (strategy->search.is_exhausted(
		    contract_strategy(campaign->workers[0].worker.contract))) {
		store_state_remove(campaign->store, campaign->row.id);
		if (campaign->resumed_id)
			store_state_remove(campaign->store, campaign->resumed_id);
		return;
	}
	fd = store_state_create(campaign->store, campaign->row.id);
	/*
	 * store_state_publish() reads the file through `fd` to seal it, so fclose() must not close
	 * `fd`.
	 */
	file = fd < 0 ? NULL : fdopen(dup(fd), "wb");
	if (file) {
		is_whole = write_state(campaign, file, next_run(campaign), is_last);
		is_whole &= fclose(file) == 0;
	}
	/* A failure is not reported here: a later --resume reports that the campaign has no state. */
	if (fd >= 0 && store_state_publish(campaign->store, campaign->row.id, fd, is_whole) &&
		campaign->resumed_id)
		store_state_remove(campaign->store, campaign->resumed_id);
	campaign->state_due_ns = platform_monotonic_ns() +
				 (platform_monotonic_ns() - began_ns) * SAVE_PART + SAVE_EVERY_NS;
}

static int campaign_state_read_header(
	const struct campaign *campaign, FILE *file, struct state_header *header, struct error *err)
{
	if (fread(header, sizeof *header, 1, file) != 1 || header->magic != STATE_MAGIC)
		return error_set(err, ERROR_FORMAT,
			"the state of campaign %" PRId64 " is damaged; start anew "
			"without --resume",
			campaign->resumed_id);
	header->release[sizeof header->release - 1] = '\0';
	if (strcmp(header->release, RADDLE_RELEASE) != 0)
		return error_set(err, ERROR_VERSION,
			"campaign %" PRId64
			" was made by raddle %s, which keeps other states; begin "
			"anew without --resume",
			campaign->resumed_id, header->release);
	if (header->shards != campaign->options->shards)
		return error_set(err, ERROR_USAGE,
			"campaign %" PRId64 " made one of %" PRIu64
			" parts; give the same --shard, or begin anew without --resume",
			campaign->resumed_id, header->shards ? header->shards : 1);
	return 0;
}

static int open_state(const struct campaign *campaign, FILE **file, struct state_header *header,
	struct error *err)
{
	uint64_t size;
	int fd;
	int status = store_state_open(campaign->store, campaign->resumed_id, &fd, &size, err);

	if (status < 0)
		return status;
	*file = fdopen(fd, "rb");
	BUG_ON(!*file);
	status = campaign_state_read_header(campaign, *file, header, err);
	if (status < 0)
		(void)fclose(*file); /* only read from */
	return status;
}

int state_find(const struct campaign *campaign, uint64_t *run, struct error *err)
{
	struct state_header header;
	FILE *file;
	const int status = open_state(campaign, &file, &header, err);

	if (status < 0)
		return status;
	(void)fclose(file); /* only read from */
	*run = header.run;
	return 0;
}

static bool read_areas(FILE *file, struct contract *contract)
{
	struct state_extent extent;

	while (fread(&extent, sizeof extent, 1, file) == 1) {
		const uint64_t start =
			extent.is_memory ? contract->memory_offset : contract->strategy_offset;
		const uint64_t bytes =
			extent.is_memory ? contract->memory_bytes : contract->strategy_bytes;

		if (!extent.bytes)
			return true;
		if (extent.offset > bytes || extent.bytes > bytes - extent.offset ||
			fread((char *)contract + start + extent.offset, extent.bytes, 1, file) != 1)
			return false;
	}
	return false;
}

int state_load(struct campaign *campaign, struct error *err)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];
	struct worker *worker = &campaign->workers[0].worker;
	struct state_header header;
	bool is_read;
	FILE *file;
	int status = open_state(campaign, &file, &header, err);

	if (status < 0)
		return status;
	is_read = header.strategy_bytes == worker->contract->strategy_bytes &&
		  header.memory_bytes == worker->contract->memory_bytes &&
		  read_areas(file, worker->contract) && state_read_parts(campaign, file);
	(void)fclose(file); /* only read from */
	if (!is_read)
		return error_set(err, ERROR_FORMAT,
			"the state of campaign %" PRId64 " is damaged; start anew "
			"without --resume",
			campaign->resumed_id);
	worker->is_strategy_fresh = false;
	worker->contract->plan.is_fresh_state = false;
	/* one worker makes the runs of all tasks */
	if (strategy->search.parts && !campaign->parts.strategy)
		strategy->search.parts->leave(contract_strategy(worker->contract), 0);
	if (strategy->search.is_exhausted(contract_strategy(worker->contract)))
		return error_set(err, ERROR_USAGE,
			"campaign %" PRId64 " has made all schedules; there are no more",
			campaign->resumed_id);
	return 0;
}
