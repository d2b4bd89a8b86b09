/*
 * The functions of a compile unit by address. All of them are read once per unit: a unit with the headers of
 * C++ libraries has hundreds of thousands of DIEs, and a finding has hundreds of addresses.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/hash_table.h"
#include "base/search.h"
#include "symbols/symbols_internal.h"

/* Nesting of namespaces, classes, functions and blocks. */
#define DEPTH_MAX 64

struct function_range {
	uint64_t start, end;
	Dwarf_Die function;
};

struct function_index {
	void *unit;		       /* the unit's DIE in the mapped debug information */
	struct function_range *ranges; /* sorted by start */
	size_t count;
	UT_hash_handle hh;
};

/* Returns whether DIEs of this tag may contain functions. The member functions of a class that is local to a function,
 * such as that of a lambda, are DIEs inside that function's, although their code lies elsewhere. */
static bool functions_is_open(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type;
}

static void functions_add_children(struct function_index *index, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Addr base, start, end;
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(parent, &child))
		return;
	do {
		const int tag = dwarf_tag(&child);
		ptrdiff_t at = 0;

		while (tag == DW_TAG_subprogram &&
			(at = dwarf_ranges(&child, at, &base, &start, &end)) > 0)
			ARRAY_APPEND(index->ranges, index->count,
				((struct function_range){start, end, child}));
		if (functions_is_open(tag))
			functions_add_children(index, &child, depth + 1);
	} while (!dwarf_siblingof(&child, &child));
}

static const struct function_index *functions_index_of(struct symbols *symbols, Dwarf_Die *unit)
{
	struct function_index *index;

	HASH_FIND_PTR(symbols->functions, &unit->addr, index);
	if (index)
		return index;
	index = array_new(1, sizeof *index);
	index->unit = unit->addr;
	functions_add_children(index, unit, 0);
	if (index->count)
		qsort(index->ranges, index->count, sizeof *index->ranges, compare_numbers);
	HASH_ADD_PTR(symbols->functions, unit, index);
	return index;
}

void symbols_forget_functions(struct symbols *symbols)
{
	HASH_FREE_EACH(symbols->functions, index, free(index->ranges));
}

/* Adds the inlined functions around the address, outermost first. dwarf_getscopes() fails on members
 * inlined by clang. */
static void functions_add_inlined(
	Dwarf_Die *parent, Dwarf_Addr address, unsigned depth, struct chain *chain)
{
	Dwarf_Die child;

	if (depth > DEPTH_MAX || dwarf_child(parent, &child))
		return;
	do {
		const bool is_inlined = dwarf_tag(&child) == DW_TAG_inlined_subroutine;

		if ((!is_inlined && dwarf_tag(&child) != DW_TAG_lexical_block) ||
			dwarf_haspc(&child, address) <= 0)
			continue;
		if (is_inlined && chain->count < CHAIN_MAX)
			chain->functions[chain->count++] = child;
		functions_add_inlined(&child, address, depth + 1, chain);
		return;
	} while (!dwarf_siblingof(&child, &child));
}

void symbols_fill_chain(
	struct symbols *symbols, Dwarf_Die *unit, Dwarf_Addr address, struct chain *chain)
{
	const struct function_index *index = functions_index_of(symbols, unit);
	/* the last range that starts at or before the address */
	size_t low;

	chain->count = 0;
	SEARCH(low, 0, index->count, index->ranges[low].start <= address);
	if (!low || address >= index->ranges[low - 1].end)
		return;
	chain->functions[chain->count++] = index->ranges[low - 1].function;
	functions_add_inlined(&chain->functions[0], address, 0, chain);
}
