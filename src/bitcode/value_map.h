/* From values of the bitcode, or any other addresses, to numbers. */
#ifndef RADDLE_BITCODE_VALUE_MAP_H
#define RADDLE_BITCODE_VALUE_MAP_H

#include <stdint.h>

#define VALUE_MAP_NONE UINT32_MAX

struct value_map_slot {
	const void *key; /* NULL: free */
	uint32_t number;
};

/* All zero: empty. */
struct value_map {
	struct value_map_slot *slots;
	uint32_t count, capacity; /* capacity: 0 or a power of two */
};

void value_map_release(struct value_map *map);
/* VALUE_MAP_NONE: the key is not there. */
uint32_t value_map_get(const struct value_map *map, const void *key);
/* A key that is there already gets the new number. */
void value_map_set(struct value_map *map, const void *key, uint32_t number);

#endif
