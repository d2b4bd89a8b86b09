#include "base/slots.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void *slots_reserve(void *slots, uint64_t *capacity, size_t bytes, uint64_t count, uint64_t least)
{
	const uint64_t before = *capacity;
	void *larger;

	if (2 * (count + 1) <= before)
		return slots;
	*capacity = before ? 2 * before : least;
	larger = array_new(*capacity, bytes);
	for (uint64_t i = 0; i < before; i++) {
		const char *slot = (const char *)slots + i * bytes;

		if (*(const uint64_t *)slot)
			memcpy(slots_find(larger, *capacity, bytes, *(const uint64_t *)slot), slot,
				bytes);
	}
	free(slots);
	return larger;
}
