#include "branches/solve/shifts.h"

#include <stdlib.h>

#include "base/bug.h"

void shifts_add(struct shifts *shifts, struct event_id behind, int by)
{
	if (shifts->count == shifts->capacity) {
		shifts->capacity = shifts->capacity ? 2 * shifts->capacity : 8;
		shifts->items = realloc(shifts->items, shifts->capacity * sizeof *shifts->items);
		BUG_ON(!shifts->items);
	}
	shifts->items[shifts->count++] = (struct shift){behind, by};
}

uint64_t shifts_apply(const struct shifts *shifts, struct event_id event, uint64_t steps)
{
	int64_t by = 0;

	for (uint32_t i = 0; i < shifts->count; i++)
		if (shifts->items[i].behind.thread == event.thread &&
			shifts->items[i].behind.index < event.index)
			by += shifts->items[i].by;
	return steps + (uint64_t)by;
}

void shifts_release(struct shifts *shifts)
{
	free(shifts->items);
	*shifts = (struct shifts){0};
}
