#include "base/number_map.h"

#include <stdlib.h>

#include "base/slots.h"

#define SLOTS_FIRST 64

void number_map_release(struct number_map *map)
{
	free(map->slots);
	*map = (struct number_map){0};
}

uint32_t number_map_get(const struct number_map *map, uint64_t key)
{
	const struct number_map_slot *slot =
		map->capacity ? slots_find(map->slots, map->capacity, sizeof *slot, key) : NULL;

	return slot && slot->key ? slot->number : NUMBER_MAP_NONE;
}

void number_map_set(struct number_map *map, uint64_t key, uint32_t number)
{
	struct number_map_slot *slot;

	map->slots = slots_reserve(
		map->slots, &map->capacity, sizeof *map->slots, map->count, SLOTS_FIRST);
	slot = slots_find(map->slots, map->capacity, sizeof *slot, key);
	map->count += !slot->key;
	*slot = (struct number_map_slot){.key = key, .number = number};
}
