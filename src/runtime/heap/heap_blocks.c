/* Log of a traced run's allocations, live and freed, from which the command names addresses after
 * the run. It lies in the shared contract, so a forked child does nothing here. */

#include "base/hash.h"
#include "engine/engine.h"
#include "runtime/heap/heap_internal.h"
#include "runtime/callers.h"
#include "runtime/runtime.h"

#define HEADS (2 * MEMORY_BLOCKS_MAX)

/* The newest entry of a start address. Mapped at the first block. */
struct heap_block_index {
	uint32_t heads[HEADS];		   /* newest entry + 1, by hash of the start; 0: none */
	uint32_t older[MEMORY_BLOCKS_MAX]; /* next older entry of the same hash chain */
};

static struct {
	struct heap_block_index *index;
	uint32_t count; /* entries of this process; the contract has a copy */
} blocks;

static struct contract_memory *heap_blocks_memory(void)
{
	struct contract *contract = runtime.contract;

	if (!contract || !contract->plan.is_traced || runtime.is_forked_child ||
		contract->memory_bytes < sizeof(struct contract_memory))
		return NULL;
	return contract_area(contract, contract->memory_offset);
}

static uint32_t *heap_blocks_head(uintptr_t start)
{
	return &blocks.index->heads[hash_mix(start) % HEADS];
}

void heap_blocks_made(const struct heap_block *block, uint8_t kind)
{
	struct contract_memory *memory = heap_blocks_memory();
	struct memory_block *entry;
	uint32_t *head;

	if (!memory)
		return;
	if (!blocks.index)
		blocks.index = platform_map(sizeof *blocks.index, false);
	memory->block_count = blocks.count + 1;
	if (!blocks.index || blocks.count++ >= MEMORY_BLOCKS_MAX)
		return;
	entry = &memory->blocks[blocks.count - 1];
	*entry = (struct memory_block){.start = block->start,
		.bytes = block->bytes,
		.site = block->site,
		.made_step = engine_is_live() ? engine_step() : 0,
		.freed_step = UINT64_MAX,
		.ordinal = block->ordinal,
		.thread = block->thread,
		.kind = kind};
	runtime_note_callers(engine_current(), block->site, entry->callers,
		sizeof entry->callers / sizeof *entry->callers);
	head = heap_blocks_head(block->start);
	blocks.index->older[blocks.count - 1] = *head;
	*head = blocks.count;
}

void heap_blocks_freed(uintptr_t start)
{
	struct contract_memory *memory = heap_blocks_memory();

	if (!memory || !blocks.index)
		return;
	for (uint32_t at = *heap_blocks_head(start); at; at = blocks.index->older[at - 1]) {
		struct memory_block *entry = &memory->blocks[at - 1];

		if (entry->start != start)
			continue;
		if (entry->freed_step == UINT64_MAX)
			entry->freed_step = engine_is_live() ? engine_step() : 0;
		return;
	}
}
