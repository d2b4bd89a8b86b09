#include "branches/values/objects.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/search.h"
#include "base/slots.h"

static int objects_compare_times(struct object_time a, struct object_time b)
{
	if (a.position != b.position)
		return a.position < b.position ? -1 : 1;
	return a.count < b.count ? -1 : a.count > b.count;
}

static int objects_compare(const void *left, const void *right)
{
	const struct object *a = left, *b = right;
	const int order = objects_compare_times(a->time, b->time);

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (order)
		return order;
	return a->order < b->order ? -1 : a->order > b->order;
}

void objects_add(
	struct object_table *table, uint64_t address, uint64_t bytes, struct object_time time)
{
	BUG_ON(table->is_complete);
	ARRAY_APPEND(table->items, table->count,
		(struct object){
			.address = address, .bytes = bytes, .time = time, .order = table->count});
}

void objects_complete(struct object_table *table)
{
	if (table->count && !table->is_complete)
		qsort(table->items, table->count, sizeof *table->items, objects_compare);
	for (uint64_t i = 0; i < table->count && !table->is_complete; i++) {
		const uint64_t address = table->items[i].address;
		struct object_range *location;

		if (!address)
			continue;
		location = slots_add(&table->locations, sizeof *location, address);
		if (!location->count++)
			location->first = i;
	}
	table->is_complete = true;
}

uint64_t objects_bytes(const struct object_table *table, uint64_t address, struct object_time time)
{
	const struct object_range *location =
		slots_get(&table->locations, sizeof *location, address);
	uint64_t first;

	if (!location)
		return 0;
	SEARCH(first, location->first, location->first + location->count,
		objects_compare_times(table->items[first].time, time) <= 0);
	return first > location->first ? table->items[first - 1].bytes : 0;
}

void objects_release(struct object_table *table)
{
	free(table->items);
	slots_release(&table->locations);
	*table = (struct object_table){0};
}
