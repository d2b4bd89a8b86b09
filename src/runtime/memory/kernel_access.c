/* Accesses of the kernel to memory in system calls that are ops. Runs in the moving thread. */
#include "runtime/memory/memory_internal.h"
#include "runtime/sites.h"

uint16_t memory_note_kernel_access(const void *address, bool writes)
{
	const uintptr_t at = (uintptr_t)address & ~(uintptr_t)(GRANULE_BYTES - 1);
	struct contract_memory *memory;
	struct memory_known *known;

	if (!memory_is_watched() || !runtime.contract->has_memory_sites)
		return 0;
	memory = sites_memory();
	known = memory_known_at(memory, at, memory_variable_name, !memory->is_frozen);
	memory_learn_access(memory, known, at, writes);
	return op_second(known->name);
}
