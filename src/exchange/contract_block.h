/*
 * The command's end of the contract: the shared memory block, made, laid out and cleared. Its areas
 * are generous and sparse: memory is used where somebody writes.
 */
#ifndef RADDLE_EXCHANGE_CONTRACT_BLOCK_H
#define RADDLE_EXCHANGE_CONTRACT_BLOCK_H

#include <stdint.h>

#include "base/error.h"
#include "abi/contract.h"
#include "abi/contract_memory.h"

/* Segments that a recorded schedule may have; a longer run is found by its seed only. */
#define CONTRACT_SEGMENTS_MAX (UINT32_C(4) << 20)

struct contract_block {
	struct contract *contract; /* what the command reads and writes */
	/* The header that the target sees: another mapping after contract_separate(), before it the same. */
	struct contract *shared;
	/* What contract_publish() published: the next results are checked against it. */
	struct contract_plan published_plan;
	struct contract_totals published_totals;
	uint64_t
		runs_received; /* of the batch: number of the last run whose log entry was copied */
	uint64_t bytes;
	int file;
	char path[64]; /* for RADDLE_CONTRACT: how the guest opens it */
};

/* Where separated blocks lie, and how far from each other. */
#define CONTRACT_REGION_START UINT64_C(0x200000000000)
#define CONTRACT_REGION_END UINT64_C(0x400000000000)
#define CONTRACT_DISTANCE (UINT64_C(1) << 38)

struct contract_sizes {
	uint64_t strategy_bytes; /* of the largest strategy state to come */
	uint64_t trace_events;	 /* 0: runs are not traced */
	uint64_t detector_bytes; /* of the states of all detectors */
	uint64_t noise_bytes;	 /* of struct contract_noise; 0: runs are controlled */
	uint64_t record_bytes;	 /* 0: runs are not recorded */
};

int contract_block_open(
	struct contract_block *block, const struct contract_sizes *sizes, struct error *err);
void contract_block_close(struct contract_block *block);
/* The next bytes that have been written to between *at, which moves there, and `end`; their number, 0: none. */
uint64_t contract_block_next(struct contract_block *block, uint64_t *at, uint64_t end);

/* To zeros, which take no memory where the kernel lets us; `offset` begins a page. */
void contract_block_clear(struct contract_block *block, uint64_t offset, uint64_t bytes);

/* An area of the block as the target sees it. */
static inline void *contract_shared_area(const struct contract_block *block, uint64_t offset)
{
	return contract_area(block->shared, offset);
}

static inline struct schedule *contract_schedule(struct contract *contract)
{
	return contract_area(contract, contract->schedule_offset);
}

static inline struct contract_thread *contract_threads(struct contract *contract)
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

#endif
