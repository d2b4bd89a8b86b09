/*
 * A set of 64-bit keys, each with a dense index in order of insertion: a plain value without
 * pointers, of fixed capacity, empty when zeroed. Keys are never removed individually.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"

#define KEY_TABLE_CAPACITY 8192
/* half of the slots stay free, so that searches end */
#define KEY_TABLE_SLOTS (2 * KEY_TABLE_CAPACITY)
#define KEY_TABLE_NONE UINT32_MAX

struct key_table {
	uint32_t count;
	uint16_t slots[KEY_TABLE_SLOTS]; /* index + 1; 0: free */
	uint64_t keys[KEY_TABLE_CAPACITY];
};

static inline uint32_t key_table_slot(const struct key_table *table, uint64_t key)
{
	uint32_t slot = (uint32_t)hash_mix(key) & (KEY_TABLE_SLOTS - 1);

	while (table->slots[slot] && table->keys[table->slots[slot] - 1] != key)
		slot = (slot + 1) & (KEY_TABLE_SLOTS - 1);
	return slot;
}

static inline uint32_t key_table_find(const struct key_table *table, uint64_t key)
{
	const uint32_t slot = key_table_slot(table, key);

	return table->slots[slot] ? table->slots[slot] - 1u : KEY_TABLE_NONE;
}

/* Inserts `key` if necessary (index: the old count); KEY_TABLE_NONE: the table is full. */
static inline uint32_t key_table_add(struct key_table *table, uint64_t key)
{
	const uint32_t slot = key_table_slot(table, key);

	if (table->slots[slot])
		return table->slots[slot] - 1u;
	if (table->count == KEY_TABLE_CAPACITY)
		return KEY_TABLE_NONE;
	table->keys[table->count++] = key;
	table->slots[slot] = (uint16_t)table->count;
	return table->count - 1;
}

/* Checks a table from a file or another process: searches in it end, and find its keys. */
static inline bool key_table_is_valid(const struct key_table *table)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < KEY_TABLE_SLOTS; i++) {
		if (table->slots[i] > table->count)
			return false;
		used += table->slots[i] != 0;
	}
	return table->count <= KEY_TABLE_CAPACITY && used == table->count;
}

/* With more keys than this, clearing all slots is faster than finding those of the keys. */
#define KEY_TABLE_FEW 128u

static inline void key_table_clear(struct key_table *table)
{
	if (table->count > KEY_TABLE_FEW) {
		for (uint32_t i = 0; i < KEY_TABLE_SLOTS; i++)
			table->slots[i] = 0;
		table->count = 0;
	}
	/* The last key is removed first, so that a search for an earlier key never ends at a cleared slot. */
	for (; table->count; table->count--)
		table->slots[key_table_slot(table, table->keys[table->count - 1])] = 0;
}

/* Existing keys keep their index: `to` must be empty or an earlier state of `from`. */
static inline void key_table_copy(struct key_table *to, const struct key_table *from)
{
	/* cannot fail: both tables have the same capacity */
	while (to->count < from->count)
		(void)key_table_add(to, from->keys[to->count]);
}
