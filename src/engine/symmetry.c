/* What a strategy needs to know about threads that a program cannot tell apart (schedule_view.equals_previous). */
#include <pthread.h>

#include "base/hash.h"
#include "engine/engine.h"
#include "engine/engine_internal.h"

static uint64_t symmetry_hash(const void *attributes)
{
	return attributes ? hash_bytes(attributes, sizeof(pthread_attr_t)) : 0;
}

void engine_compare_twin(struct engine_thread *thread, const void *attributes)
{
	struct engine_thread *parent = &engine.threads[thread->parent.index];
	struct engine_thread *previous = &engine.threads[parent->child.index];
	const uint64_t hash = hash_pair(symmetry_hash(attributes), parent->signals_blocked) | 1;
	const bool is_exchangeable =
		parent->child_attributes == hash && previous->start == thread->start &&
		previous->argument == thread->argument &&
		previous->parent.index == thread->parent.index && !engine.follows_priorities;

	parent->child_attributes = hash;
	parent->child = thread->id;
	bitset_remove(engine.equals_previous, thread->id.index);
	if (!is_exchangeable)
		return;
	bitset_add(engine.equals_previous, thread->id.index);
	thread->has_twin = previous->has_twin = true;
}

bool engine_is_common(uint32_t thread)
{
	const struct engine_op *op = engine.threads[thread].op;

	return op && op->address && engine.host.is_common && engine.host.is_common(op->address);
}

void engine_note_id_read(void)
{
	if (engine.is_live && engine.current->has_twin)
		engine_note_feature(FEATURE_THREAD_ID);
}

void engine_note_result_read(const struct engine_thread *thread)
{
	if (thread->has_twin && thread->result && thread->result != thread->argument)
		engine_note_feature(FEATURE_THREAD_RESULT);
}
