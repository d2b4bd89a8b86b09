#include "exchange/contract_block.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Rounds up to pages. Areas begin on pages, so that each can be cleared or left empty
 * separately. */
static uint64_t contract_block_take_area(uint64_t *end, uint64_t bytes)
{
	uint64_t start = (*end + 4095) & ~UINT64_C(4095);

	*end = start + bytes;
	return start;
}

static void contract_block_lay_out(struct contract *layout, const struct contract_sizes *sizes)
{
	uint64_t end = sizeof *layout;

	layout->threads_offset =
		contract_block_take_area(&end, THREAD_CAPACITY * sizeof(struct thread_record));
	layout->strategy_bytes = sizes->strategy_bytes;
	layout->strategy_offset = contract_block_take_area(&end, layout->strategy_bytes);
	layout->schedule_bytes =
		sizeof(struct schedule) + CONTRACT_SEGMENTS_MAX * sizeof(struct schedule_segment);
	layout->schedule_offset = contract_block_take_area(&end, layout->schedule_bytes);
	layout->trace_bytes = sizes->trace_events * sizeof(struct contract_event);
	layout->trace_offset = contract_block_take_area(&end, layout->trace_bytes);
	layout->memory_bytes = sizeof(struct contract_memory);
	layout->memory_offset = contract_block_take_area(&end, layout->memory_bytes);
	layout->detectors_bytes = sizes->detector_bytes;
	layout->detectors_offset = contract_block_take_area(&end, layout->detectors_bytes);
	layout->runs_offset =
		contract_block_take_area(&end, STRATEGY_ROUND_MOST * sizeof(struct contract_run));
	layout->record_bytes = sizes->record_bytes;
	layout->record_offset = contract_block_take_area(&end, layout->record_bytes);
	layout->bytes = (end + 4095) & ~UINT64_C(4095);
}

int contract_block_open(
	struct contract_block *block, const struct contract_sizes *sizes, struct error *err)
{
	struct contract layout = {0};
	void *memory;
	int file;

	contract_block_lay_out(&layout, sizes);
	file = memfd_create("raddle-contract", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (file < 0 || ftruncate(file, (off_t)layout.bytes) != 0) {
		error_set(err, ERROR_IO, "no shared memory for the runtime (%s); raise ulimit -f",
			strerror(errno));
		if (file >= 0)
			(void)close(file); /* memory only */
		return ERROR_IO;
	}
	/* Seals: a target that shrank the file would end the command with SIGBUS. */
	(void)fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
	memory = mmap(
		NULL, layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
	if (memory == MAP_FAILED) {
		error_set(err, ERROR_NOMEM,
			"no address space for the runtime's memory (%s); raise ulimit -v",
			strerror(errno));
		(void)close(file); /* memory only */
		return ERROR_NOMEM;
	}
	layout.magic = CONTRACT_MAGIC;
	layout.version = CONTRACT_VERSION;
	layout.host_pid = (uint32_t)getpid();
	*block = (struct contract_block){
		.contract = memory, .shared = memory, .bytes = layout.bytes, .file = file};
	memcpy(block->contract, &layout, sizeof layout);
	contract_schedule(block->contract)->capacity = CONTRACT_SEGMENTS_MAX;
	contract_block_name(block, getpid());
	return 0;
}

void contract_block_name(struct contract_block *block, pid_t process)
{
	(void)snprintf(
		block->path, sizeof block->path, "/proc/%d/fd/%d", (int)process, block->file);
}

uint64_t contract_block_next(struct contract_block *block, uint64_t *at, uint64_t end)
{
	const off_t from = lseek(block->file, (off_t)*at, SEEK_DATA);
	off_t hole;

	if (from < 0 || (uint64_t)from >= end)
		return 0;
	hole = lseek(block->file, from, SEEK_HOLE);
	*at = (uint64_t)from;
	return (hole < 0 || (uint64_t)hole > end ? end : (uint64_t)hole) - *at;
}

void contract_block_clear(struct contract_block *block, uint64_t offset, uint64_t bytes)
{
	/* The rest of the last page belongs to no other area. */
	const uint64_t whole = (bytes + 4095) & ~UINT64_C(4095);

	if (fallocate(block->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset,
		    (off_t)whole) != 0)
		memset((char *)block->shared + offset, 0, bytes);
}

void contract_block_close(struct contract_block *block)
{
	if (!block->contract)
		return;
	(void)munmap(block->contract, block->bytes); /* cannot fail: our own mapping */
	if (block->shared != block->contract)
		(void)munmap(block->shared, block->bytes);
	(void)close(block->file); /* memory only */
	*block = (struct contract_block){.file = -1};
}
