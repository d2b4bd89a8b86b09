#include "runtime/memory_variable.h"

#include "base/bitset.h"
#include "base/hot_state.h"
#include "runtime/main_locals.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "runtime/quick.h"

struct memory_variable *memory_variable_of(struct contract_memory *memory, object_name object)
{
	uint32_t slot = memory_variable_slot(object);

	while (memory->variables[slot].name && !memory_has_object(&memory->variables[slot], object))
		slot = (slot + 1) % MEMORY_VARIABLES_MAX;
	return memory->variables[slot].name ? &memory->variables[slot] : NULL;
}

/* Memory whose name may soon change (stacks), and variables that are not in the table. */
static HOT_STATE struct memory_known passing;

void memory_next_epoch(struct contract_memory *memory)
{
	if (!++memory->known_epoch)
		memory->known_epoch = 1;
}

/* A larger range invalidates the whole cache. */
#define RENAMED_BYTES_MOST ((size_t)16384)

void memory_renamed(uintptr_t start, size_t bytes)
{
	struct contract_memory *memory = sites_memory();
	const uint64_t first = start / GRANULE_BYTES;
	const uint64_t end = (start + bytes + GRANULE_BYTES - 1) / GRANULE_BYTES;

	if (!memory)
		return;
	quick_forget(start, bytes);
	if (memory->known_used != memory->known_epoch)
		return;
	if (bytes > RENAMED_BYTES_MOST) {
		memory_next_epoch(memory);
		return;
	}
	for (uint64_t granule = first; granule < end; granule++) {
		struct memory_known *known = &memory->known[granule % MEMORY_KNOWN_MAX];

		if (known->granule == granule)
			known->epoch = 0;
	}
}

struct memory_known *memory_known_find(struct contract_memory *memory, uintptr_t at,
	variable_name (*name_of)(const void *address), bool add)
{
	const uint64_t granule = at / GRANULE_BYTES;
	bool is_freed;
	variable_name name = memory_lasting_name((const void *)at, &is_freed);
	const bool is_lasting = name != 0;
	struct memory_variable *variable;
	struct memory_known *known = &passing;

	if (!name)
		name = name_of((const void *)at);
	if (!name)
		return NULL;
	variable = memory_find_variable(memory, name, add);
	/* An absence is cached only if it will last. */
	if (is_lasting && (variable || add || memory->is_frozen)) {
		known = &memory->known[granule % MEMORY_KNOWN_MAX];
		memory->known_used = memory->known_epoch;
	}
	*known = (struct memory_known){.granule = granule,
		.epoch = memory->known_epoch,
		.slot = MEMORY_NO_VARIABLE,
		.name = (object_name)name};
	if (variable) {
		known->slot = (uint32_t)(variable - memory->variables);
		known->thread = variable->thread;
		known->flags = variable->flags;
		known->allocated_at = variable->allocated_at;
	}
	if (is_freed)
		known->flags |= VARIABLE_FREED;
	return known;
}

void memory_note_static(struct memory_variable *variable, const void *address)
{
	const uint32_t depth = main_locals_depth(address);
	uint32_t module;
	uint64_t offset;

	if (depth) {
		variable->loop = MEMORY_OF_MAIN;
		variable->block_name = depth;
		return;
	}
	if (!engine_static_location(address, &module, &offset) || module >= MEMORY_OF_MAIN - 1 ||
		offset / GRANULE_BYTES > UINT32_MAX)
		return;
	variable->loop = (uint16_t)(module + 1);
	variable->block_name = (object_name)(offset / GRANULE_BYTES);
}

const void *memory_static_address(const struct memory_variable *variable)
{
	if (variable->allocated_at != MEMORY_NOT_ON_HEAP || !variable->loop)
		return NULL;
	if (variable->loop == MEMORY_OF_MAIN)
		return main_locals_address(variable->block_name);
	return engine_static_address(
		variable->loop - 1u, (uint64_t)variable->block_name * GRANULE_BYTES);
}

void memory_learn_more(struct contract_memory *memory, struct memory_known *known, bool is_write)
{
	struct memory_variable *variable = &memory->variables[known->slot];
	const thread_name self = engine_current()->name;
	const uint16_t before = variable->flags;

	if (!variable->thread)
		variable->thread = self;
	variable->flags |= is_write ? VARIABLE_WRITTEN : VARIABLE_READ;
	if (variable->thread != self)
		variable->flags |= VARIABLE_MANY;
	memory->newly_shared +=
		!memory_flags_shared(before) && memory_flags_shared(variable->flags);
	memory_note_news(memory, variable);
	known->thread = variable->thread;
	known->flags = variable->flags;
}

/* Notes that a site of the group accessed the variable; not if the group overlaps (focus.h) one that is
 * settled. */
static void memory_note_new_group(
	struct contract_memory *memory, struct memory_variable *variable, uint16_t group)
{
	uint32_t i;

	for (i = 0; i < variable->via_known; i++)
		if (bitset_has(memory->overlaps[variable->via[i] - 1], group - 1u))
			return;
	while (i < MEMORY_VIAS_MAX && variable->via[i] && variable->via[i] != group)
		i++;
	if (i < MEMORY_VIAS_MAX && variable->via[i])
		return;
	memory_note_news(memory, variable);
	if (i < MEMORY_VIAS_MAX)
		variable->via[i] = group;
	else
		variable->news |= VARIABLE_VIA_LOST;
}

void memory_note_group(
	struct contract_memory *memory, struct memory_known *known, const uint8_t *site)
{
	const uint16_t group = site ? memory->groups[site - memory->sites] : 0;
	struct memory_variable *variable;

	/* This group is known for the variable: avoids a cache miss. */
	if (known->slot == MEMORY_NO_VARIABLE || (group && known->group == group))
		return;
	known->group = group;
	variable = &memory->variables[known->slot];
	if (variable->news & VARIABLE_VIA_LOST || variable->via[0] == MEMORY_VIA_UNKNOWN)
		return;
	if (known == &passing) { /* stack memory has another variable in other runs */
		memory_note_news(memory, variable);
		variable->news |= VARIABLE_VIA_LOST;
	} else if (group) {
		memory_note_new_group(memory, variable, group);
	}
}

void memory_raced(const void *address)
{
	struct contract_memory *memory = sites_memory();
	struct memory_variable *variable;

	if (memory->is_frozen)
		return;
	variable = memory_find_variable(memory, memory_variable_name(address), true);
	if (!variable || variable->flags & VARIABLE_RACED)
		return;
	variable->flags |= VARIABLE_RACED;
	memory->newly_shared++;
	memory_note_news(memory, variable);
}
