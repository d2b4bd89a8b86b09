/*
 * Variables: what is known of eight aligned bytes of memory, by name (contract_memory.variables) and by
 * address (contract_memory.known). On the path of every access: general registers only, and the way
 * that most accesses take is inline. Runs in the moving thread.
 */
#ifndef RADDLE_RUNTIME_MEMORY_VARIABLE_H
#define RADDLE_RUNTIME_MEMORY_VARIABLE_H

#include "engine/engine.h"
#include "runtime/memory.h"

#define GRANULE_BYTES 8

/* The variable of that name, the first of several; NULL: it is not known. */
struct memory_variable *memory_variable_of(struct contract_memory *memory, object_name object);
/* memory_known_at() of an address that is not remembered. */
struct memory_known *memory_known_find(struct contract_memory *memory, uintptr_t at,
	variable_name (*name_of)(const void *address), bool add);
/* The variable there is not on the heap: if it is static data, it is kept where it lies. */
void memory_note_static(struct memory_variable *variable, const void *address);
/* Where it lies, as far as is known; NULL: it is no static data. */
const void *memory_static_address(const struct memory_variable *variable);
/* A site, by its byte in the contract, has touched the variable. */
void memory_note_group(
	struct contract_memory *memory, struct memory_known *known, const uint8_t *site);
/* Other processes that make runs of this round are to know of it in the next. */
void memory_note_news(struct contract_memory *memory, struct memory_variable *variable);
/* memory_learn() of something new. */
void memory_learn_more(struct contract_memory *memory, struct memory_known *known, bool is_write);

/*
 * What lies at an address. NULL: name_of() has no name for it. `add`: a variable that is not in the table is
 * added where there is room. Valid until the next call.
 */
static inline struct memory_known *memory_known_at(struct contract_memory *memory, uintptr_t at,
	variable_name (*name_of)(const void *address), bool add)
{
	const uint64_t granule = at / GRANULE_BYTES;
	struct memory_known *known = &memory->known[granule % MEMORY_KNOWN_MAX];

	if (known->granule == granule && known->epoch == memory->known_epoch)
		return known;
	return memory_known_find(memory, at, name_of, add);
}

/* The moving thread accesses the variable. */
static inline void memory_learn(
	struct contract_memory *memory, struct memory_known *known, bool is_write)
{
	const uint16_t way = is_write ? VARIABLE_WRITTEN : VARIABLE_READ;

	if (known->slot != MEMORY_NO_VARIABLE &&
		(!(known->flags & way) || known->thread != engine_current()->name))
		memory_learn_more(memory, known, is_write);
}

#endif
