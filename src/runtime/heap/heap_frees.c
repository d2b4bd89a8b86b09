/* Evidence of a use after free: where and by which thread a block was freed. Blocks that share a
 * entry in the table overwrite each other. */
#include "engine/engine.h"
#include "runtime/heap/heap_internal.h"

/* Entries of the table (16 kB). Most uses after free occur soon, and few freed blocks are
 * shared. */
#define ENTRIES 512

static struct {
	struct heap_free entries[ENTRIES];
	uint32_t run; /* run of the latest free; 0: none */
} frees;

static struct heap_free *heap_frees_entry(uintptr_t start)
{
	return &frees.entries[start / 16 % ENTRIES];
}

void heap_frees_note(uintptr_t start, uint64_t site, uint32_t run)
{
	if (!engine_is_live())
		return;
	*heap_frees_entry(start) = (struct heap_free){.start = start,
		.site = site,
		.step = engine_step(),
		.thread = engine_current()->id,
		.run = run};
	frees.run = run;
}

bool heap_frees_any(uint32_t run)
{
	return frees.run == run;
}

bool heap_frees_find(uintptr_t start, uint32_t run, struct heap_free *out)
{
	const struct heap_free *entry = heap_frees_entry(start);

	if (entry->start != start || entry->run != run)
		return false;
	*out = *entry;
	return true;
}
