/*
 * The command's private copy of what it shares with the target. The target may write over shared memory at any time, so
 * the command reads the contract's header and the results of runs from a copy: contract_receive() copies each word once
 * and checks the copy against the command's own layout and plan. The strategy's state, memory's and the detectors' stay shared:
 * they are far from all other mappings, and contract_fault.h ends the command where an index leads out of them.
 */
#ifndef RADDLE_EXCHANGE_CONTRACT_EXCHANGE_H
#define RADDLE_EXCHANGE_CONTRACT_EXCHANGE_H

#include <stdbool.h>

#include "base/error.h"
#include "exchange/contract_block.h"

/* block->contract becomes the private copy, followed by the shared areas; block->shared is the header that the target sees. */
int contract_separate(struct contract_block *block, struct error *err);

/* Copies the header to the target, which must stand still or not exist yet. */
void contract_publish(struct contract_block *block);

/* What contract_publish() remembers of the plan and the counters, to check results against. */
void contract_expect(struct contract_block *block);

/*
 * Takes over the header of a report of another rank, whose areas the block already has. Both are checked like those of a
 * target. Returns NULL, or the name of what is damaged.
 */
const char *contract_receive_report(struct contract_block *block, const struct contract *header);

/* May the process make a batch with a plan that another rank sent? Both ranks have the same options. */
bool contract_is_batch_plan(const struct contract *own, const struct contract_plan *plan);

/*
 * Copies header, threads, schedule, runs and trace from the target. Returns NULL, or the name of what is damaged; the
 * private copy is then as before.
 */
const char *contract_receive(struct contract_block *block);

/*
 * How many runs the target may count under this plan. A program that makes no thread ends while its server starts,
 * before any batch, and counts one run.
 */
uint64_t contract_runs_most(const struct contract_plan *plan);

/* While runs are under way: copies the words that tell their progress. Returns NULL, or the name of what is damaged. */
const char *contract_refresh(struct contract_block *block);

#endif
