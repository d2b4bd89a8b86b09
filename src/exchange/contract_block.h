/* The contract's shared memory block. Areas are large and sparse: only written pages use memory. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "abi/contract.h"
#include "abi/contract_memory.h"

/* Maximum number of segments in a recorded schedule. A longer run can be repeated by its seed
 * only. */
#define CONTRACT_SEGMENTS_MAX (UINT32_C(4) << 20)

struct contract_block {
	struct contract *contract; /* read and written by the command */
	/* The header that the target sees: a mapping of its own after contract_separate(). */
	struct contract *shared;
	/* Plan and totals at the last contract_publish(). The next results are checked against
	 * them. */
	struct contract_plan published_plan;
	struct contract_totals published_totals;
	uint64_t runs_received; /* number of the last run of the batch whose log entry was copied */
	uint64_t bytes;
	int file;
	char path[64]; /* path by which the guest opens the block (RADDLE_CONTRACT) */
};

/* Address range of separated blocks, and the distance between two of these blocks. */
#define CONTRACT_REGION_START UINT64_C(0x200000000000)
#define CONTRACT_REGION_END UINT64_C(0x400000000000)
#define CONTRACT_DISTANCE (UINT64_C(1) << 38)

struct contract_sizes {
	uint64_t strategy_bytes; /* size of the largest strategy state */
	uint64_t trace_events;	 /* 0: runs are not traced */
	uint64_t detector_bytes; /* size of the states of all detectors */
	uint64_t record_bytes;	 /* 0: runs are not recorded */
};

/* Creates a block. Leaves nothing open on failure. */
int contract_block_open(
	struct contract_block *block, const struct contract_sizes *sizes, struct error *err);
/* Sets the path of the block to that of a process which has the same file with the same number. */
void contract_block_name(struct contract_block *block, pid_t process);
void contract_block_close(struct contract_block *block);
/* Moves *at to the next non-empty extent before `end`, and returns its length in bytes; 0: none. */
uint64_t contract_block_next(struct contract_block *block, uint64_t *at, uint64_t end);

/* Clears a part of the block, and frees its memory if the kernel supports that. `offset` must be
 * page-aligned. */
void contract_block_clear(struct contract_block *block, uint64_t offset, uint64_t bytes);

static inline void *contract_shared_area(const struct contract_block *block, uint64_t offset)
{
	return contract_area(block->shared, offset);
}

static inline struct schedule *contract_schedule(struct contract *contract)
{
	return contract_area(contract, contract->schedule_offset);
}

static inline struct thread_record *contract_threads(struct contract *contract)
{
	return contract_area(contract, contract->threads_offset);
}

static inline struct contract_memory *contract_memory(struct contract *contract)
{
	return contract_area(contract, contract->memory_offset);
}

static inline void *contract_strategy(struct contract *contract)
{
	return contract_area(contract, contract->strategy_offset);
}
