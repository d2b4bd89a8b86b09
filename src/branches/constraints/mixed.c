/* Overlapping accesses of several sizes: one access per part between two bounds of accesses. */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "branches/constraints/solver.h"

/* Limit of accesses times parts: a large buffer may be read in many overlapping pieces. */
#define COST_MOST 100000

/* Returns the bounds of the accesses, sorted and unique. The caller frees the list. */
static uint64_t *mixed_find_bounds(
	const struct location_access *items, uint32_t count, uint32_t *bounds)
{
	uint64_t *list = array_new(2 * (uint64_t)count + 1, sizeof *list);
	for (uint32_t i = 0; i < count; i++) {
		list[2 * i] = items[i].address;
		list[2 * i + 1] = items[i].address + items[i].bytes;
	}
	qsort(list, 2 * (size_t)count, sizeof *list, compare_numbers);
	*bounds = 0;
	for (uint32_t i = 0; i < 2 * count; i++)
		if (!*bounds || list[*bounds - 1] != list[i])
			list[(*bounds)++] = list[i];
	return list;
}

/* Collects the accesses that cover the part, cut down to it. Returns their number. */
static uint32_t mixed_collect(const struct location_access *items, uint32_t count, uint64_t begin,
	uint64_t end, struct location_access *out)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < count && items[i].address < end; i++) {
		if (items[i].address + items[i].bytes < end)
			continue;
		out[found] = items[i];
		out[found].from = (uint8_t)(begin - items[i].address);
		out[found].address = begin;
		out[found++].bytes = (uint8_t)(end - begin);
	}
	return found;
}

void solver_add_mixed(struct solver *solver, const struct location_access *items, uint32_t count)
{
	uint32_t bounds;
	FREE_SCOPED uint64_t *list = mixed_find_bounds(items, count, &bounds);
	FREE_SCOPED struct location_access *part = array_new(count, sizeof *part);
	if ((uint64_t)bounds * count > COST_MOST) {
		solver_keep_reads(solver, items, count);
		bounds = 0;
	}
	for (uint32_t i = 0; i + 1 < bounds && !solver_is_late(solver); i++) {
		const uint32_t found = mixed_collect(items, count, list[i], list[i + 1], part);

		if (hidden_has(solver->order, list[i], (uint32_t)(list[i + 1] - list[i])))
			solver_keep_reads(solver, part, found);
		else if (found)
			solver_add_location(solver, part, found);
	}
}
