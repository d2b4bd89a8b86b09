/* Blocks outside of the brk heap, few enough for a sorted array: glibc's mappings for large
 * requests, and the program's own mappings. */
#include <string.h>

#include "base/search.h"
#include "runtime/heap/heap_internal.h"

static struct {
	struct heap_outside *blocks; /* sorted by start, disjoint */
	uint32_t count;
} outside;

void heap_outside_set_up(struct heap_outside *table)
{
	outside.blocks = table;
}

/* Returns the index of the first block that ends after the address. */
static uint32_t heap_outside_at(uintptr_t address)
{
	uint32_t low;

	SEARCH(low, 0, outside.count,
		outside.blocks[low].start + outside.blocks[low].bytes <= address);
	return low;
}

static void outside_remove(uint32_t index)
{
	outside.count--;
	memmove(&outside.blocks[index], &outside.blocks[index + 1],
		(outside.count - index) * sizeof *outside.blocks);
}

void heap_outside_add(const struct heap_outside *block)
{
	uint32_t index = heap_outside_at(block->start);

	/* Blocks in this range have been unmapped without a call that the runtime saw. */
	while (index < outside.count && outside.blocks[index].start < block->start + block->bytes)
		outside_remove(index);
	if (outside.count == HEAP_OUTSIDE_MAX)
		return;
	memmove(&outside.blocks[index + 1], &outside.blocks[index],
		(outside.count - index) * sizeof *outside.blocks);
	outside.blocks[index] = *block;
	outside.count++;
}

struct heap_outside *heap_outside_find(uintptr_t address)
{
	const uint32_t index = heap_outside_at(address);

	return index < outside.count && outside.blocks[index].start <= address
		       ? &outside.blocks[index]
		       : NULL;
}

const struct heap_outside *heap_outside_all(uint32_t *count)
{
	*count = outside.count;
	return outside.blocks;
}

void heap_outside_remove(uintptr_t start)
{
	const uint32_t index = heap_outside_at(start);

	if (index < outside.count && outside.blocks[index].start == start)
		outside_remove(index);
}

void heap_unmapped(const void *start, size_t bytes)
{
	const uintptr_t from = (uintptr_t)start, end = from + bytes;

	memory_renamed(0, SIZE_MAX);
	for (uint32_t index = heap_outside_at(from);
		index < outside.count && outside.blocks[index].start < end;) {
		struct heap_outside *block = &outside.blocks[index];

		/* A part behind the unmapped range is no longer recorded */
		if (block->start < from) {
			block->bytes = from - block->start;
			index++;
			continue;
		}
		heap_blocks_freed(block->start);
		outside_remove(index);
	}
}
