/*
 * Names objects for all runs of one program. An object that is static, or was allocated before the
 * first thread, has the same address in every run. A later object is named by the thread that allocated it, the
 * source location of the allocation, and how many objects that thread had allocated there before.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/search.h"
#include "commands/predict/predict_internal.h"
#include "model/op.h"

/* Maximum number of examined blocks. Blocks overlap because memory is reused; the right one is
 * rarely far away. */
#define BLOCKS_LOOKED_AT 64

static int predict_objects_compare_blocks(const void *first, const void *second)
{
	const struct memory_block *a = first, *b = second;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->made_step > b->made_step) - (a->made_step < b->made_step);
}

/* Returns the block that contained the address at that step; NULL if unknown. */
static const struct memory_block *predict_objects_find_block(
	const struct memory_block *blocks, uint32_t count, uint64_t address, uint64_t step)
{
	uint32_t low;

	SEARCH(low, 0, count, blocks[low].start <= address);
	for (uint32_t i = 0; i < BLOCKS_LOOKED_AT && low; i++) {
		const struct memory_block *block = &blocks[--low];

		if (address - block->start < block->bytes && block->made_step <= step &&
			step <= block->freed_step)
			return block;
	}
	return NULL;
}

static uint64_t predict_objects_lasting_name(
	const struct memory_block *blocks, uint32_t count, const struct trace_event *event)
{
	const struct memory_block *block =
		predict_objects_find_block(blocks, count, event->address, event->step);
	uint64_t name;

	if (!block || !block->made_step)
		return hash_mix(event->address);
	name = hash_pair(hash_pair(block->site, block->thread), block->ordinal);
	for (unsigned i = 0; i < MEMORY_BLOCK_CALLERS; i++)
		name = hash_pair(name, block->callers[i]);
	return hash_pair(name, event->address - block->start);
}

void predict_name_objects(const struct recorded_run *run, struct trace_event *events)
{
	FREE_SCOPED struct memory_block *blocks = array_new(run->block_count + 1u, sizeof *blocks);

	memcpy(blocks, run->blocks, run->block_count * sizeof *blocks);
	qsort(blocks, run->block_count, sizeof *blocks, predict_objects_compare_blocks);
	for (uint64_t i = 0; i < run->event_count; i++)
		if (events[i].address &&
			op_descriptions[events[i].kind].flags & (OP_ACQUIRE | OP_RELEASE))
			events[i].object = (object_name)predict_objects_lasting_name(
						   blocks, run->block_count, &events[i]) |
					   1; /* 0: no name */
}

object_name predict_object_of(const struct predict *predict, uint32_t run, uint64_t step)
{
	const struct recorded_run *recorded = &predict->runs[run];
	uint64_t low;

	SEARCH(low, 0, recorded->event_count, recorded->events[low].step < step);
	return low < recorded->event_count && recorded->events[low].step == step
		       ? recorded->events[low].object
		       : 0;
}
