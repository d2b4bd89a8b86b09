#include <errno.h>

#include "base/hot_state.h"
#include "engine/c11.h"
#include "engine/engine.h"
#include "engine/engine_internal.h"
#include "engine/futex.h"
#include "model/thread_name.h"

HOT_STATE void (*engine_thread_body)(struct engine_thread *thread);

/* Pending op of every thread that has not begun; read-only. */
static struct engine_op begin_op = {.kind = OP_THREAD_BEGIN, .deadline_ns = ENGINE_FOREVER};

struct engine_thread *engine_current(void)
{
	return engine.current;
}

void engine_set_main(uintptr_t handle, int kernel_id)
{
	engine.handles[0] = engine.threads[0].handle = handle;
	engine.threads[0].kernel_id = kernel_id;
}

uint32_t engine_enabled_count(void)
{
	return engine.enabled_count;
}

uint32_t engine_thread_count(void)
{
	return engine.thread_count;
}

struct engine_thread *engine_thread(uint32_t index)
{
	return &engine.threads[index];
}

uint32_t engine_live_count(void)
{
	return engine.live_count;
}

struct engine_thread *engine_thread_by_handle(uintptr_t handle)
{
	if (engine.current->handle == handle)
		return engine.current;
	for (uint32_t i = 0; i < engine.thread_count; i++) {
		const uint32_t index = (engine.handle_found + 1 + i) % engine.thread_count;

		if (engine.handles[index] == handle &&
			engine.threads[index].state != THREAD_REAPED) {
			engine.handle_found = index;
			return &engine.threads[index];
		}
	}
	return NULL;
}

struct engine_thread *engine_thread_that_had(uintptr_t handle)
{
	struct engine_thread *thread = engine_thread_by_handle(handle);

	for (uint32_t i = engine.thread_count; !thread && i-- > 1;)
		if (engine.threads[i].handle == handle)
			thread = &engine.threads[i];
	return thread;
}

uintptr_t engine_lowest_handle(void)
{
	return engine.lowest_handle;
}

uintptr_t engine_highest_handle(void)
{
	return engine.highest_handle;
}

static void threads_engine_note_handle(const struct engine_thread *thread)
{
	engine.handles[thread->id.index] = thread->handle;
	if (thread->handle - 1 < engine.lowest_handle - 1)
		engine.lowest_handle = thread->handle;
	if (thread->handle > engine.highest_handle)
		engine.highest_handle = thread->handle;
}

/* Finds a free entry. If all indices are used, takes the lowest index of a reaped thread. */
struct engine_thread *engine_thread_slot(void)
{
	if (engine.thread_count < THREAD_CAPACITY) {
		struct engine_thread *thread = &engine.threads[engine.thread_count];

		*thread = (struct engine_thread){.id.index = (uint16_t)engine.thread_count};
		engine.pending[engine.thread_count++].kind = OP_NONE;
		return thread;
	}
	for (uint32_t i = 1; i < THREAD_CAPACITY; i++)
		if (engine.threads[i].state == THREAD_REAPED) {
			struct thread_id id = engine.threads[i].id;

			engine.threads[i] = (struct engine_thread){.id = id};
			return &engine.threads[i];
		}
	return NULL;
}

static void threads_engine_reap_zombies(void)
{
	while (engine.zombies) {
		struct engine_thread *zombie = engine.zombies;

		engine.zombies = zombie->queue_next;
		engine_thread_reap(zombie);
	}
}

int engine_thread_create(struct engine_thread **out, void *(*start)(void *), void *argument,
	const void *attributes, uint64_t site)
{
	struct engine_thread *parent = engine.current;
	struct engine_thread *thread;
	int error;

	threads_engine_reap_zombies();
	thread = engine_thread_slot();
	if (!thread) {
		engine_failed();
		return EAGAIN;
	}
	thread->start = start;
	thread->argument = argument;
	thread->create_site = site;
	/* The entry is set before spawn(), which may allocate memory: the strategy must then know
	 * the new thread. */
	thread->parent = parent->id;
	thread->ordinal = parent->children;
	thread->name = thread_name_child(parent->name, thread->ordinal);
	engine.names[thread->id.index] = thread->name;
	error = engine.host.executor->spawn(thread, attributes);
	if (error) {
		thread->state = THREAD_REAPED;
		engine_failed();
		return error;
	}
	parent->children++;
	thread->signals_blocked = parent->signals_blocked;
	engine_settle();
	thread->last_moved = engine.step;
	thread->state = THREAD_ALIVE;
	threads_engine_note_handle(thread);
	engine.live_count++;
	engine_announce(thread, &begin_op);
	engine_compare_twin(thread, attributes);
	c11_begin_thread(thread->id);
	engine_note_other(thread->id);
	*out = thread;
	return 0;
}

void engine_thread_set_base(struct engine_thread *thread, uintptr_t thread_base)
{
	thread->context.thread_base = thread->handle = thread_base;
	threads_engine_note_handle(thread);
}

void engine_thread_main(struct engine_thread *thread)
{
	engine_withdraw(thread);
	engine_note(OP_THREAD_BEGIN, thread, 0);
	if (engine_thread_body)
		engine_thread_body(thread);
	else
		thread->result = thread->start(thread->argument);
	engine_thread_finish();
}

void engine_thread_finish(void)
{
	struct engine_thread *self = engine.current;

	self->is_exiting = true;
	engine_point(OP_THREAD_EXIT, self, 0);
	if (self->clear_at_end)
		futex_clear_point(self->clear_at_end);
	self->state = THREAD_DONE;
	engine_end_slice(self);
	/* A scheduling point must not follow: a waiter on this word may reuse this stack. */
	if (self->clear_at_end) {
		*self->clear_at_end = 0;
		(void)futex_wake_now(self->clear_at_end, 1, FUTEX_ANY);
	}
	if (--engine.live_count == 0 && engine.host.last_thread_ended)
		engine.host.last_thread_ended();
	if (self->is_detached) {
		self->queue_next = engine.zombies;
		engine.zombies = self;
	}
	engine_changed(self);
	engine_leave_processor();
}

void engine_thread_reap(struct engine_thread *thread)
{
	engine.host.executor->reap(thread);
	thread->state = THREAD_REAPED;
	engine.handles[thread->id.index] = 0;
}
