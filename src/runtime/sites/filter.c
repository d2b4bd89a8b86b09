#include "runtime/filter.h"

#include <string.h>

#include "base/hot_state.h"
#include "runtime/heap.h"
#include "abi/instrument_abi.h"
#include "runtime/interpose.h"
#include "runtime/memory_variable.h"

#define LINE_BYTES (1u << FILTER_LINE_BITS)
/* site_thunk.S tests only an access's first byte, which may lie this far before the variable. */
#define BYTES_BEFORE 15

/* Written when the run begins and when a block is allocated. */
static HOT_STATE struct {
	bool is_on;
	bool wants_blocks;
	const struct contract_memory *memory;
	struct wanted_memory wanted; /* the static variables and heap blocks of interest */
} filter;

/* filter_lines while the filter is on. */
static uint8_t lines_wanted[FILTER_LINES];

static const struct wanted_memory wanted_nothing = {
	.parts = {{.start = UINT64_MAX}, {.start = UINT64_MAX}}};
static const struct wanted_memory wanted_all = {
	.parts = {{.end = UINT64_MAX}, {.start = UINT64_MAX}}};

/* Read by compiled loops (instrument_abi.h). Encloses every line that the filter wants. */
EXPORT HOT_STATE struct wanted_memory raddle_wanted_v5 = {
	.parts = {{.end = UINT64_MAX}, {.start = UINT64_MAX}}};

enum filter_part { PART_STATIC, PART_HEAP };

static void filter_widen(enum filter_part part, uintptr_t start, size_t bytes)
{
	const uint64_t first = start / GRANULE_BYTES * GRANULE_BYTES;
	const uint64_t end = (start + bytes + GRANULE_BYTES - 1) / GRANULE_BYTES * GRANULE_BYTES;

	if (first < filter.wanted.parts[part].start)
		filter.wanted.parts[part].start = first;
	if (end > filter.wanted.parts[part].end)
		filter.wanted.parts[part].end = end;
}

static void filter_add(uintptr_t start, size_t bytes)
{
	const uintptr_t first = (start - BYTES_BEFORE) / LINE_BYTES;
	const uintptr_t last = (start + (bytes ? bytes - 1 : 0)) / LINE_BYTES;

	if (last - first >= FILTER_LINES) {
		memset(lines_wanted, 1, sizeof lines_wanted);
		return;
	}
	for (uintptr_t line = first; line <= last; line++)
		lines_wanted[line % FILTER_LINES] = 1;
}

static bool filter_wants_block(const struct heap_block *block)
{
	const struct contract_memory *memory = filter.memory;
	const uint16_t allocation_site = memory_allocation_site(block->site);

	for (uint32_t i = 0; i < memory->focused_allocation_count; i++)
		if (memory->focused_allocations[i] == allocation_site)
			return true;
	for (uint32_t i = 0; i < memory->focused_count; i++) {
		const struct memory_variable *variable = &memory->variables[memory->focused[i]];

		if (variable->allocated_at == allocation_site &&
			variable->block_name == block->name)
			return true;
	}
	return false;
}

void filter_add_block(const struct heap_block *block)
{
	if (!filter.wants_blocks || !filter_wants_block(block))
		return;
	filter_add(block->start, block->bytes);
	filter_widen(PART_HEAP, block->start, block->bytes);
	if (filter.is_on && filter_lines == lines_wanted)
		raddle_wanted_v5 = filter.wanted;
}

/* Returns false if its address is unknown, and the filter cannot be used. */
static bool filter_add_variable(const struct memory_variable *variable)
{
	const void *address;

	if (memory_is_on_heap(variable)) {
		filter.wants_blocks = true;
		return true;
	}
	address = memory_static_address(variable);
	if (!address || memory_quick_name(address) != variable->name)
		return false;
	filter_add((uintptr_t)address, GRANULE_BYTES);
	filter_widen(PART_STATIC, (uintptr_t)address, GRANULE_BYTES);
	return true;
}

void filter_begin_run(const struct contract_memory *memory, bool is_filtered)
{
	filter.is_on = filter.wants_blocks = false;
	filter_suspend();
	if (!is_filtered)
		return;
	filter.memory = memory;
	filter.wants_blocks = memory->focused_allocation_count != 0;
	memset(lines_wanted, 0, sizeof lines_wanted);
	filter.wanted = wanted_nothing;
	for (uint32_t i = 0; i < memory->focused_count; i++)
		if (!filter_add_variable(&memory->variables[memory->focused[i]]))
			return;
	if (filter.wants_blocks)
		heap_each(filter_add_block);
	filter.is_on = true;
	filter_resume();
}

void filter_suspend(void)
{
	filter_lines = filter_all;
	raddle_wanted_v5 = wanted_all;
}

void filter_resume(void)
{
	if (!filter.is_on)
		return;
	filter_lines = lines_wanted;
	raddle_wanted_v5 = filter.wanted;
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
