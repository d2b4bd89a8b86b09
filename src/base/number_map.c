#include "base/number_map.h"

struct number_map_slot {
	uint64_t key; /* of slots.h */
	uint32_t number;
};

void number_map_release(struct number_map *map)
{
	slots_release(&map->slots);
}

uint32_t number_map_get(const struct number_map *map, uint64_t key)
{
	const struct number_map_slot *slot = slots_get(&map->slots, sizeof *slot, key);

	return slot ? slot->number : NUMBER_MAP_NONE;
}

void number_map_set(struct number_map *map, uint64_t key, uint32_t number)
{
	struct number_map_slot *slot = slots_add(&map->slots, sizeof *slot, key);

	slot->number = number;
}
