/*
 * Limit of the weak choices of a run. With c11 a weak choice is a load of an old store, or a store
 * that precedes an executed one in modification order. With tso it is a read that passes a store in
 * its thread's buffer. A run without weak choices is sequentially consistent.
 */
#include "engine/c11.h"
#include "engine/engine_internal.h"
#include "engine/store_buffer.h"

bool engine_may_choose_weakly(void)
{
	if (engine.run.judged_model) /* a judged run is sequentially consistent */
		return false;
	if (!engine.run.weak_limit || engine.weak_choices + 1 < engine.run.weak_limit)
		return true;
	engine_note_feature(FEATURE_WEAK_CUT);
	return false;
}

void engine_note_weak_choice(void)
{
	if (!engine.run.weak_limit || ++engine.weak_choices + 1 < engine.run.weak_limit)
		return;
	/* From now on reads wait until the buffers of their threads are empty. */
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		struct engine_thread *thread = &engine.threads[i];

		if (thread->op && thread->store_buffer && thread->state == THREAD_ALIVE)
			engine_evaluate(thread);
	}
}

void engine_fence_all(void)
{
	if (!engine.is_live || (!c11_is_on() && !engine_has_store_buffers()))
		return;
	engine_drain_freed(NULL, UINTPTR_MAX);
	if (c11_is_on())
		c11_fence_all();
	engine_note_feature(FEATURE_BARRIER_CUT);
}
