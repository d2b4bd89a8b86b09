/* clang writes no .debug_aranges for libdw: all units' ranges are read once per module. */
#include <stdlib.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/search.h"
#include "symbols/symbols_internal.h"

struct unit_range {
	uint64_t start, end; /* addresses in the layout */
	Dwarf_Die unit;
};

struct unit_index {
	Dwfl_Module *module;
	struct unit_range *ranges; /* sorted by start */
	size_t count;
	UT_hash_handle hh;
};

static const struct unit_index *units_index_of(struct symbols *symbols, Dwfl_Module *module)
{
	struct unit_index *index;
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	HASH_FIND_PTR(symbols->units, &module, index);
	if (index)
		return index;
	index = array_new(1, sizeof *index);
	index->module = module;
	/* Frames of system libraries are named by symbols: decompressing their debug files takes
	 * longer than a campaign. */
	while (!symbols_module_is_system(module) &&
		(unit = dwfl_module_nextcu(module, unit, &bias))) {
		Dwarf_Addr base, start, end;
		ptrdiff_t at = 0;

		while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
			ARRAY_APPEND(index->ranges, index->count,
				((struct unit_range){start + bias, end + bias, *unit}));
		}
	}
	if (index->count)
		qsort(index->ranges, index->count, sizeof *index->ranges, compare_numbers);
	HASH_ADD_PTR(symbols->units, module, index);
	return index;
}

void symbols_forget_units(struct symbols *symbols)
{
	HASH_FREE_EACH(symbols->units, index, free(index->ranges));
}

bool symbols_unit_at(
	struct symbols *symbols, Dwfl_Module *module, uint64_t address, Dwarf_Die *unit)
{
	const struct unit_index *index = units_index_of(symbols, module);
	/* the last range that starts at or before the address */
	size_t low;

	SEARCH(low, 0, index->count, index->ranges[low].start <= address);
	if (!low || address >= index->ranges[low - 1].end)
		return false;
	*unit = index->ranges[low - 1].unit;
	return true;
}
