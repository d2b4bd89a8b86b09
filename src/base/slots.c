#include "base/slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define SLOTS_FIRST 256

void slots_grow(struct slots *slots, size_t bytes)
{
	struct slots larger = {.count = slots->count,
		.capacity = slots->capacity ? 2 * slots->capacity : SLOTS_FIRST};

	larger.items = array_new(larger.capacity, bytes);
	for (uint64_t i = 0; i < slots->capacity; i++) {
		const char *slot = (const char *)slots->items + i * bytes;
		const uint64_t key = *(const uint64_t *)(const void *)slot;

		if (key)
			memcpy(slots_find(&larger, bytes, key), slot, bytes);
	}
	free(slots->items);
	*slots = larger;
}

void slots_release(struct slots *slots)
{
	free(slots->items);
	*slots = (struct slots){0};
}
