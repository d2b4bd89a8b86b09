/* Map from 64-bit keys other than 0, such as addresses, to numbers. All zero: empty. */
#pragma once

#include <stdint.h>

#include "base/slots.h"

#define NUMBER_MAP_NONE UINT32_MAX

struct number_map {
	struct slots slots;
};

void number_map_release(struct number_map *map);
/* Returns the number of the key; NUMBER_MAP_NONE: the key is absent. */
uint32_t number_map_get(const struct number_map *map, uint64_t key);
/* Replaces the number of an existing key. */
void number_map_set(struct number_map *map, uint64_t key, uint32_t number);
