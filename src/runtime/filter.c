/* See filter.h. */
#include "runtime/filter.h"

#include <string.h>

#include "engine/engine.h"
#include "runtime/heap.h"
#include "runtime/memory_variable.h"

#define LINE_BYTES (1u << FILTER_LINE_BITS)
/* An access that begins so many bytes before a variable may touch it: of those that site_thunk.S looks at. */
#define BYTES_BEFORE 15

/* Of this run. Written as it begins and as blocks are made. */
static struct {
	bool is_on;
	bool wants_blocks;
	const struct contract_memory *memory;
	uint8_t lines[FILTER_LINES];
} filter;

static void filter_add(uintptr_t start, size_t bytes)
{
	const uintptr_t first = (start - BYTES_BEFORE) / LINE_BYTES;
	const uintptr_t last = (start + (bytes ? bytes - 1 : 0)) / LINE_BYTES;

	if (last - first >= FILTER_LINES) {
		memset(filter.lines, 1, sizeof filter.lines);
		return;
	}
	for (uintptr_t line = first; line <= last; line++)
		filter.lines[line % FILTER_LINES] = 1;
}

static bool filter_wants_block(const struct heap_block *block)
{
	const struct contract_memory *memory = filter.memory;
	const uint16_t place = memory_allocating_place(block->site);

	for (uint32_t i = 0; i < memory->focused_place_count; i++)
		if (memory->focused_places[i] == place)
			return true;
	for (uint32_t i = 0; i < memory->focused_count; i++) {
		const struct memory_variable *variable = &memory->variables[memory->focused[i]];

		if (variable->allocated_at == place && variable->block_name == block->name)
			return true;
	}
	return false;
}

void filter_add_block(const struct heap_block *block)
{
	if (filter.wants_blocks && filter_wants_block(block))
		filter_add(block->start, block->bytes);
}

/* False: nobody knows where it lies. */
static bool filter_add_variable(const struct memory_variable *variable)
{
	const void *address;

	if (memory_is_on_heap(variable)) {
		filter.wants_blocks = true;
		return true;
	}
	address = memory_static_address(variable);
	if (!address || engine_static_name(address) != variable->name)
		return false;
	filter_add((uintptr_t)address, GRANULE_BYTES);
	return true;
}

void filter_begin_run(const struct contract_memory *memory, bool is_filtered)
{
	filter.is_on = filter.wants_blocks = false;
	filter_lines = filter_all;
	if (!is_filtered)
		return;
	filter.memory = memory;
	filter.wants_blocks = memory->focused_place_count != 0;
	memset(filter.lines, 0, sizeof filter.lines);
	for (uint32_t i = 0; i < memory->focused_count; i++)
		if (!filter_add_variable(&memory->variables[memory->focused[i]]))
			return;
	if (filter.wants_blocks)
		heap_each(filter_add_block);
	filter.is_on = true;
	filter_lines = filter.lines;
}

void filter_suspend(void)
{
	filter_lines = filter_all;
}

void filter_resume(void)
{
	if (filter.is_on)
		filter_lines = filter.lines;
}

bool filter_misses(uintptr_t start, size_t bytes)
{
	const uintptr_t last = (start + (bytes ? bytes - 1 : 0)) / LINE_BYTES;
	const uint8_t *lines = filter_lines;

	if (lines == filter_all || last - start / LINE_BYTES >= FILTER_LINES)
		return false;
	for (uintptr_t line = start / LINE_BYTES; line <= last; line++)
		if (lines[line % FILTER_LINES])
			return false;
	return true;
}
