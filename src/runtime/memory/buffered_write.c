/* Writes of a run with store buffers (engine/store_buffer.h). */
#include "engine/store_buffer.h"

#include "runtime/memory/memory_internal.h"
#include "runtime/runtime.h"
#include "runtime/spinning.h"

bool memory_write_is_direct(const struct memory_access *access)
{
	return access->kind != SITE_STORE &&
	       (access->kind != SITE_ATOMIC_STORE || access->order == SITE_SEQUENTIAL);
}

__attribute__((noinline)) static bool buffered_write_perform(const struct memory_visit *visit)
{
	const struct memory_access *access = &visit->access;
	/* The runtime's own frames may lie where a local of the moving thread lay. */
	const bool is_own = memory_is_own_stack(access->address);
	struct engine_op op;

	if (!visit->point && (is_own || !engine_has_buffered()))
		return false;
	if (visit->point || visit->may_be_gone)
		memory_check_freed(access, OUTCOME_USE_AFTER_FREE);
	op = memory_engine_op(access, visit->point);
	op.next_object = visit->next;
	if (!is_own && !memory_write_is_direct(access) && engine_buffer_store(&op, visit->point)) {
		engine_note_access(&op);
		if (visit->point)
			runtime_trace_buffered(&op);
		spinning_note(access);
		return true;
	}
	if (visit->point)
		return false; /* its scheduling point drains the buffer */
	(void)engine_perform(&op);
	return true;
}

bool memory_buffer_write(const struct memory_visit *visit)
{
	return engine_has_store_buffers() && site_kind_writes(visit->access.kind) &&
	       buffered_write_perform(visit);
}
