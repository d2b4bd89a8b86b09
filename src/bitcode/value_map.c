/* Open addressing with linear probing; keys are never removed. */
#include "bitcode/value_map.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/hash.h"

static struct value_map_slot *value_map_find(const struct value_map *map, const void *key)
{
	const uint32_t mask = map->capacity - 1;

	for (uint32_t i = (uint32_t)hash_mix((uintptr_t)key) & mask;; i = (i + 1) & mask)
		if (!map->slots[i].key || map->slots[i].key == key)
			return &map->slots[i];
}

void value_map_release(struct value_map *map)
{
	free(map->slots);
	*map = (struct value_map){0};
}

uint32_t value_map_get(const struct value_map *map, const void *key)
{
	const struct value_map_slot *slot = map->capacity ? value_map_find(map, key) : NULL;

	return slot && slot->key ? slot->number : VALUE_MAP_NONE;
}

static void value_map_grow(struct value_map *map)
{
	struct value_map larger = {
		.count = map->count, .capacity = map->capacity ? 2 * map->capacity : 1024};

	larger.slots = array_new(larger.capacity, sizeof *larger.slots);
	for (uint32_t i = 0; i < map->capacity; i++)
		if (map->slots[i].key)
			*value_map_find(&larger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = larger;
}

void value_map_set(struct value_map *map, const void *key, uint32_t number)
{
	struct value_map_slot *slot;

	if (4 * map->count >= 3 * map->capacity)
		value_map_grow(map);
	slot = value_map_find(map, key);
	map->count += !slot->key;
	*slot = (struct value_map_slot){.key = key, .number = number};
}
