/* Map from LLVM values, or any other addresses, to numbers. */
#pragma once

#include "base/number_map.h"

static inline uint32_t value_map_get(const struct number_map *map, const void *key)
{
	return number_map_get(map, (uintptr_t)key);
}

static inline void value_map_set(struct number_map *map, const void *key, uint32_t number)
{
	number_map_set(map, (uintptr_t)key, number);
}
