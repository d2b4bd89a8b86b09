#include "runtime/main_locals.h"

#include "runtime/memory_variable.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"

extern void *__libc_stack_end;

/* Written before the first run; part of a rewind's image. */
static struct {
	uint32_t count;
	bool is_overfull; /* too many locals, or main was called again */
	struct {
		uint32_t site; /* index in contract_memory.sites */
		uintptr_t address;
	} locals[MEMORY_LOCALS_MAX];
} main_locals;

void main_locals_note(const struct site_record *record, uintptr_t address)
{
	const uint32_t site = site_index(record);

	if (site == UINT32_MAX)
		return;
	for (uint32_t i = 0; i < main_locals.count; i++)
		if (main_locals.locals[i].site == site)
			main_locals.is_overfull = true;
	if (main_locals.is_overfull || main_locals.count == MEMORY_LOCALS_MAX) {
		main_locals.is_overfull = true;
		return;
	}
	main_locals.locals[main_locals.count].site = site;
	main_locals.locals[main_locals.count++].address = address;
}

/* The address from which depths count. It makes them equal in all layouts of memory. */
static uintptr_t main_stack_end(void)
{
	return (runtime.main_base ? runtime.main_base : (uintptr_t)__libc_stack_end) &
	       ~(uintptr_t)(GRANULE_BYTES - 1);
}

/* Returns whether the address lies at or above a reported local. */
static bool main_locals_is_reported_of(uintptr_t address)
{
	for (uint32_t i = 0; i < main_locals.count; i++)
		if (address + GRANULE_BYTES > main_locals.locals[i].address)
			return true;
	return false;
}

uint32_t main_locals_depth(const void *address)
{
	const uintptr_t at = (uintptr_t)address & ~(uintptr_t)(GRANULE_BYTES - 1);
	const uintptr_t end = main_stack_end();

	if (main_locals.is_overfull || at >= end || (end - at) / GRANULE_BYTES > UINT32_MAX ||
		!main_locals_is_reported_of(at))
		return 0;
	return (uint32_t)((end - at) / GRANULE_BYTES);
}

const void *main_locals_address(uint32_t depth)
{
	return (const void *)(main_stack_end() - (uintptr_t)depth * GRANULE_BYTES);
}

static const struct memory_object *main_locals_find(
	const struct contract_memory *memory, uint32_t site)
{
	for (uint32_t i = 0; i < memory->local_count; i++)
		if (memory->locals[i].start == site)
			return &memory->locals[i];
	return NULL;
}

const struct memory_object *main_locals_at(
	const struct contract_memory *memory, uintptr_t address, uint32_t number)
{
	for (uint32_t i = 0; i < main_locals.count && !main_locals.is_overfull; i++) {
		const struct memory_object *local =
			main_locals_find(memory, main_locals.locals[i].site);
		const uintptr_t start = main_locals.locals[i].address;

		if (!local || address + GRANULE_BYTES <= start || address >= start + local->bytes)
			continue;
		if (!number--)
			return local;
	}
	return NULL;
}
