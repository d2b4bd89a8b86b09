/*
 * Joins segments of a schedule. In a *block* of consecutive segments each thread's steps are
 * put together, in the order in which the threads first appear. A failure that needs few
 * preemptions keeps showing if the block contains none of these. Blocks are tried from the whole
 * schedule down to two segments, so the number of runs grows with the logarithm of the length.
 */
#pragma once

#include "investigate/probe/failure.h"
#include "investigate/probe/probe.h"

struct coalesce_block {
	uint32_t start, end;
	uint32_t size;	 /* size of the blocks of this pass */
	bool has_joined; /* a block of this size was accepted */
};

/* Returns false for a schedule of one segment. */
bool coalesce_first(const struct failure *failure, struct coalesce_block *block);
/* `is_taken`: the run with the block joined has become `failure`. Returns false after the last
 * block. */
bool coalesce_next(const struct failure *failure, struct coalesce_block *block, bool is_taken);
/* The plan refers to *out. */
struct probe_plan coalesce_plan(
	struct failure *out, const struct failure *failure, const struct coalesce_block *block);
