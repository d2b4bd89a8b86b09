/* Variables: knowledge about eight aligned bytes, by name (contract_memory.variables) and by
 * address (contract_memory.known). The functions are on the path of every access: they use general
 * registers only, and the most frequent case is inline. They run in the moving thread. */
#pragma once

#include "engine/engine.h"
#include "runtime/memory.h"

#define GRANULE_BYTES 8

/* Returns the first variable of that name; NULL if unknown. */
struct memory_variable *memory_variable_of(struct contract_memory *memory, object_name object);
/* The slow path of memory_known_at(). */
struct memory_known *memory_known_find(struct contract_memory *memory, uintptr_t at,
	variable_name (*name_of)(const void *address), bool add);
/* Stores the address of a variable outside of the heap, if it is static data. */
void memory_note_static(struct memory_variable *variable, const void *address);
/* Returns NULL if the variable is no static data, or unknown. */
const void *memory_static_address(const struct memory_variable *variable);
/* Notes that a site touched the variable. `site`: its byte in the contract. */
void memory_note_group(
	struct contract_memory *memory, struct memory_known *known, const uint8_t *site);
/* Returns whether a thread has waited in a loop of reads, by the version of the run. */
bool memory_has_waited(const struct contract_memory *memory);
void memory_learn_more(struct contract_memory *memory, struct memory_known *known, bool is_write);

/* Returns whether this run has looked the address up, and the cache still holds it. */
static inline bool memory_is_cached(const struct contract_memory *memory, uintptr_t at)
{
	const uint64_t granule = at / GRANULE_BYTES;
	const struct memory_known *known = &memory->known[granule % MEMORY_KNOWN_MAX];

	return known->granule == granule && known->epoch == memory->known_epoch;
}

/* Returns NULL if name_of() has no name for the address. `add`: adds an unknown variable if the
 * table has room. The result is valid until the next call. */
static inline struct memory_known *memory_known_at(struct contract_memory *memory, uintptr_t at,
	variable_name (*name_of)(const void *address), bool add)
{
	if (memory_is_cached(memory, at))
		return &memory->known[at / GRANULE_BYTES % MEMORY_KNOWN_MAX];
	return memory_known_find(memory, at, name_of, add);
}

/* Records that the moving thread accesses the variable. */
static inline void memory_learn(
	struct contract_memory *memory, struct memory_known *known, bool is_write)
{
	const uint16_t access = is_write ? VARIABLE_WRITTEN : VARIABLE_READ;

	if (known->slot != MEMORY_NO_VARIABLE &&
		(!(known->flags & access) || known->thread != engine_current()->name))
		memory_learn_more(memory, known, is_write);
}
