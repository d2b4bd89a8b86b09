#include "detectors/sync_table.h"

#include <string.h>

#include "base/hash.h"

#define OBJECTS_MOST (SYNC_OBJECTS - SYNC_OBJECTS / 4)

void sync_table_clear(struct sync_table *table)
{
	if (!++table->generation) {
		memset(table->objects, 0, sizeof table->objects);
		table->generation = 1;
	}
	table->count = 0;
}

struct sync_object *sync_table_find(struct sync_table *table, uint32_t kind, uint64_t address)
{
	uint32_t slot = (uint32_t)hash_mix(address * 16 + kind) % SYNC_OBJECTS;
	struct sync_object *object = &table->objects[slot];

	while (object->generation == table->generation &&
		(object->address != address || object->kind != kind)) {
		slot = (slot + 1) % SYNC_OBJECTS;
		object = &table->objects[slot];
	}
	if (object->generation == table->generation)
		return object;
	if (table->count == OBJECTS_MOST)
		return NULL;
	table->count++;
	*object = (struct sync_object){
		.address = address, .generation = table->generation, .kind = kind};
	return object;
}
