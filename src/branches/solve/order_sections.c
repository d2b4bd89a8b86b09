#include "branches/solve/order_sections.h"

#include <stdlib.h>

#include "base/bug.h"
#include "branches/solve/order.h"

void order_sections_build(struct order_sections *index, const struct order_section *sections,
	uint32_t count, uint32_t thread_count)
{
	uint32_t *at = calloc(thread_count + 1u, sizeof *at);

	index->items = calloc(count + 1u, sizeof *index->items);
	index->reach = calloc(count + 1u, sizeof *index->reach);
	index->first = calloc(thread_count + 1u, sizeof *index->first);
	BUG_ON(!at || !index->items || !index->reach || !index->first);
	for (uint32_t i = 0; i < count; i++)
		index->first[sections[i].thread + 1]++;
	for (uint32_t i = 0; i < thread_count; i++) {
		index->first[i + 1] += index->first[i];
		at[i] = index->first[i];
	}
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t thread = sections[i].thread, here = at[thread]++;

		index->items[here] = i;
		index->reach[here] = sections[i].end;
		if (here > index->first[thread] && index->reach[here - 1] > sections[i].end)
			index->reach[here] = index->reach[here - 1];
	}
	free(at);
}

void order_sections_release(struct order_sections *index)
{
	free(index->items);
	free(index->reach);
	free(index->first);
	*index = (struct order_sections){0};
}

uint32_t order_sections_from(const struct order_sections *index, uint32_t thread, uint32_t event)
{
	uint32_t low = index->first[thread], high = index->first[thread + 1];

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (index->reach[middle] < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
