#include "investigate/minimise/coalesce.h"

#include <string.h>

#define BLOCK_LEAST 2

/* Blocks of one size are tried from the end: the indices of earlier segments remain valid. */
static bool coalesce_location(struct coalesce_block *block, uint32_t end)
{
	block->end = end;
	block->start = end > block->size ? end - block->size : 0;
	return end - block->start >= BLOCK_LEAST;
}

bool coalesce_first(const struct failure *failure, struct coalesce_block *block)
{
	*block = (struct coalesce_block){.size = failure->segment_count};
	return coalesce_location(block, failure->segment_count);
}

bool coalesce_next(const struct failure *failure, struct coalesce_block *block, bool is_taken)
{
	block->has_joined |= is_taken;
	if (coalesce_location(block, block->start))
		return true;
	if (!block->has_joined && block->size <= BLOCK_LEAST)
		return false;
	if (block->size > failure->segment_count)
		block->size = failure->segment_count;
	block->size = block->size > 2 * BLOCK_LEAST ? (block->size + 1) / 2 : BLOCK_LEAST;
	block->has_joined = false;
	return coalesce_location(block, failure->segment_count);
}

/* Value choices keep their order, and stalls their location. */
static bool coalesce_is_fixed(const struct schedule_segment *segment)
{
	return segment->flags & (SEGMENT_VALUE | SEGMENT_STALLS);
}

struct probe_plan coalesce_plan(
	struct failure *out, const struct failure *failure, const struct coalesce_block *block)
{
	uint32_t locations
		[THREAD_CAPACITY]; /* valid from `first` on: where the thread's steps are */
	uint32_t first = block->start;
	struct probe_plan plan;

	memset(locations, 0, sizeof locations);
	failure_copy(out, failure);
	out->segment_count = block->start;
	for (uint32_t i = block->start; i < failure->segment_count; i++) {
		const struct schedule_segment *segment = &failure->segments[i];
		const uint32_t location = locations[segment->thread % THREAD_CAPACITY];
		struct schedule_segment *joined = &out->segments[location];

		if (i < block->end && !coalesce_is_fixed(segment)) {
			if (location >= first && location < out->segment_count &&
				!coalesce_is_fixed(joined) && joined->thread == segment->thread) {
				joined->count += segment->count;
				continue;
			}
			locations[segment->thread % THREAD_CAPACITY] = out->segment_count;
		} else {
			first = out->segment_count + 1;
		}
		out->segments[out->segment_count++] = *segment;
	}
	plan = probe_plan_exact(out);
	plan.skips_disabled = true;
	return plan;
}
