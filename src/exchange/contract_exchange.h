/*
 * The command's private, checked copy of the memory it shares with the target.
 *
 * The target may overwrite shared memory at any time, by a bug or on purpose. Therefore the command
 * reads the contract's header and the results of runs only from a copy. contract_receive() copies
 * each word once and checks the copy against the command's own layout and plan.
 *
 * The states of the strategy, of memory and of the detectors stay shared, far from all other
 * mappings; contract_fault.h ends the command if a damaged index leads outside of them.
 * docs/security.md has the trust model.
 */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "exchange/contract_block.h"

/* block->contract becomes a private copy; block->shared stays the header that the target sees. */
int contract_separate(struct contract_block *block, struct error *err);

/* Copies the header to the target, which must be idle or not exist yet. */
void contract_publish(struct contract_block *block);

/* Remembers plan and counters, against which later results are checked. Part of
 * contract_publish(). */
void contract_expect(struct contract_block *block);

/*
 * Checks a report from another rank, whose areas are already in the block, like one of a target.
 * Returns NULL, or the name of the damaged part.
 */
const char *contract_receive_report(struct contract_block *block, const struct contract *header);

/* Returns whether a batch with a plan of another rank may be executed. Both have the same
 * options. */
bool contract_is_batch_plan(const struct contract *own, const struct contract_plan *plan);

/*
 * Copies header, threads, schedule, runs and trace from the target. Returns NULL, or the name of
 * the damaged part; the private header is unchanged then.
 */
const char *contract_receive(struct contract_block *block);

/* Returns the most runs that the target may count under this plan. A program without threads counts
 * one run although it ends before any batch. */
uint64_t contract_runs_most(const struct contract_plan *plan);

/* Copies the words that show progress, during runs. Returns NULL, or the name of the damaged
 * part. */
const char *contract_refresh(struct contract_block *block);
