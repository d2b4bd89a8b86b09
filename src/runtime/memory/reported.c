/* Accesses to shared variables that are no scheduling points. Runs in the moving thread, with general
 * registers only (CMakeLists.txt). */
#include "runtime/heap.h"
#include "runtime/memory/memory_internal.h"
#include "runtime/quick.h"

/* Reports the access granule by granule. Returns false if some part needs the full path. */
static bool memory_report_quickly(struct contract_memory *memory, const struct memory_visit *visit)
{
	const uintptr_t end = (uintptr_t)visit->access.address + visit->access.bytes;
	struct memory_access part = visit->access;
	uintptr_t at = (uintptr_t)visit->access.address;

	/* Vector accesses fit into this size; longer accesses are named one by one anyway. */
	if (visit->access.bytes > QUICK_BYTES_MOST)
		return false;
	for (uintptr_t next; at < end; at = next) {
		const struct memory_known *known;

		next = (at | (GRANULE_BYTES - 1)) + 1;
		part.address = (const void *)at;
		part.bytes = (next < end ? next : end) - at;
		known = memory_known_at(memory, at, memory_quick_name, false);
		if (!known || !known->name ||
			!runtime_detect_quickly(&part, memory_op(part.kind), known->name))
			return false;
	}
	return true;
}

bool memory_may_be_gone(const void *address)
{
	struct heap_free freed;

	return memory_is_on_stack(address) || heap_was_freed(address, &freed);
}

bool memory_must_report(struct contract_memory *memory, const struct memory_visit *visit)
{
	return visit->reported &&
	       (memory_may_be_gone(visit->access.address) ||
		       (quick_has_reports() && !memory_report_quickly(memory, visit)));
}
