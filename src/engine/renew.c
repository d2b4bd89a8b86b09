/* Resets the engine to the start of a run, for hosts without a memory image. */
#include "engine/engine.h"

#include <string.h>

#include "engine/engine_internal.h"

static void renew_main(void)
{
	struct engine_thread *thread = &engine.threads[0];

	*thread = (struct engine_thread){
		.context.thread_base = thread->context.thread_base,
		.state = THREAD_ALIVE,
		.id = thread->id,
		.name = thread->name,
		.parent = THREAD_NONE,
		.signals_pending = thread->signals_pending,
		.signals_blocked = thread->signals_blocked,
		.executor_part = thread->executor_part,
		.handle = thread->handle,
		.kernel_id = thread->kernel_id,
	};
	engine.current = thread;
}

void engine_renew(void)
{
	bool has_pending = engine.threads[0].op;

	engine_withdraw(&engine.threads[0]);
	for (uint32_t i = 1; i < engine.thread_count; i++) {
		struct engine_thread *thread = &engine.threads[i];

		has_pending |= thread->op != NULL;
		engine_withdraw(thread);
		if (thread->state == THREAD_ALIVE || thread->state == THREAD_DONE)
			engine_thread_reap(thread);
	}
	/* Pending ops lie on stacks that a failed run may have corrupted, so the lists of ops are
	 * cleared without reading them. */
	if (has_pending)
		memset(engine.buckets, 0, sizeof engine.buckets);
	renew_main();
	bitset_each (slot, engine.named, ENGINE_NAME_CACHE)
		engine.name_cache[slot].address = NULL;
	for (unsigned word = 0; word < BITSET_WORDS(ENGINE_NAME_CACHE); word++)
		engine.named[word] = 0;
	for (unsigned queue = 0; queue < ENGINE_FUTEX_QUEUES; queue++)
		engine.futex_queues[queue] = (struct engine_futex_queue){0};
	engine.run = (struct engine_run){.step_limit = UINT64_MAX};
	engine.zombies = NULL;
	engine.is_live = engine.is_ending = false;
	engine.thread_count = engine.live_count = 1;
	engine.yielder_count = 0;
	engine.spin_count = 0;
	engine.step = 0;
	engine.lease_given = 0;
	engine.changed_count = 0;
	engine.clock_ns = engine.clock_reads = engine.clock_step = 0;
	engine_clock_begin_patience();
	engine.earliest_deadline = ENGINE_FOREVER;
	engine.performed.kind = OP_NONE;
}
