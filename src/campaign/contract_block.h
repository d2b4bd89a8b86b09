/*
 * The command's end of the contract: the shared memory block, made, laid out and cleared. Its areas
 * are generous and sparse: memory is used where somebody writes.
 */
#ifndef RADDLE_CAMPAIGN_CONTRACT_BLOCK_H
#define RADDLE_CAMPAIGN_CONTRACT_BLOCK_H

#include <stdint.h>

#include "base/error.h"
#include "runtime/contract.h"
#include "runtime/contract_memory.h"

/* Segments that a recorded schedule may have; a longer run is found by its seed only. */
#define CONTRACT_SEGMENTS_MAX (UINT32_C(4) << 20)

struct contract_block {
	struct contract *contract;
	uint64_t bytes;
	int file;
	char path[64]; /* for RADDLE_CONTRACT: how the guest opens it */
};

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
