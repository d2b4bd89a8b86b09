/* Map from LLVM values, or any other addresses, to numbers. */
#pragma once

#include <stdint.h>

#define VALUE_MAP_NONE UINT32_MAX

struct value_map_slot {
	const void *key; /* NULL in a free slot */
	uint32_t number;
};

/* An all-zero struct is an empty map. */
struct value_map {
	struct value_map_slot *slots;
	uint32_t count, capacity; /* capacity: 0 or a power of two */
};

void value_map_release(struct value_map *map);
/* Returns the number of the key; VALUE_MAP_NONE: the key is absent. */
uint32_t value_map_get(const struct value_map *map, const void *key);
/* Replaces the number of an existing key. */
void value_map_set(struct value_map *map, const void *key, uint32_t number);
