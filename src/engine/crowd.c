/*
 * Groups of threads that wait for one object, for which ready() has a single common result. Each
 * lock and unlock would otherwise evaluate every waiter and dominate the run time. A thread with a
 * deadline or a pending signal waits alone.
 *
 * The wake_reason of a member is not valid; use engine_wake_reason().
 */
#include "engine/engine.h"
#include "engine/engine_internal.h"

static bool crowd_admits(const struct engine_thread *thread)
{
	const struct engine_op *op = thread->op;

	return op->is_alike && !op->is_shared && !op->is_timeout_only &&
	       op->deadline_ns == ENGINE_FOREVER &&
	       !(thread->signals_pending & ~thread->signals_blocked) &&
	       !thread->is_cancel_requested && !engine_must_drain(thread, op);
}

static struct engine_crowd *crowd_of(const void *address)
{
	for (unsigned i = 0; i < ENGINE_CROWDS; i++)
		if (engine.crowds[i].count && engine.crowds[i].address == address)
			return &engine.crowds[i];
	return NULL;
}

static void crowd_enable(const struct engine_crowd *crowd)
{
	engine.enabled_count += crowd->count;
	engine.has_woken |=
		crowd->count > (uint32_t)bitset_has(crowd->members, engine.current->id.index);
	for (uint32_t word = 0; word < BITSET_WORDS(engine.thread_count); word++)
		engine.was_enabled[word] |= engine.enabled[word] |= crowd->members[word];
}

static void crowd_disable(const struct engine_crowd *crowd)
{
	engine.enabled_count -= crowd->count;
	for (uint32_t word = 0; word < BITSET_WORDS(engine.thread_count); word++)
		engine.enabled[word] &= ~crowd->members[word];
}

static const struct engine_thread *crowd_first(const struct engine_crowd *crowd)
{
	uint32_t word = 0;

	while (!crowd->members[word])
		word++;
	return &engine.threads[word * 64 + (uint32_t)__builtin_ctzll(crowd->members[word])];
}

void engine_crowd_changed(const void *address)
{
	struct engine_crowd *crowd = crowd_of(address);
	const struct engine_thread *first;
	bool is_ready;

	if (!crowd)
		return;
	engine_settle();
	first = crowd_first(crowd);
	is_ready = first->op->ready(first->op, first);
	if (is_ready == crowd->is_ready)
		return;
	crowd->is_ready = is_ready;
	if (is_ready)
		crowd_enable(crowd);
	else
		crowd_disable(crowd);
}

static void crowd_add(struct engine_crowd *crowd, struct engine_thread *thread)
{
	thread->crowd = (uint8_t)(crowd - engine.crowds + 1);
	bitset_add(crowd->members, thread->id.index);
	crowd->count++;
}

bool engine_crowd_join(struct engine_thread *thread)
{
	struct engine_crowd *crowd = crowd_of(thread->op->address);

	if (!crowd || !crowd_admits(thread))
		return false;
	engine_settle();
	if (engine.changed_count) /* a deferred change may not be evaluated yet */
		engine_crowd_changed(crowd->address);
	crowd_add(crowd, thread);
	if (crowd->is_ready) {
		bitset_add(engine.enabled, thread->id.index);
		bitset_add(engine.was_enabled, thread->id.index);
		engine.enabled_count++;
		engine.has_woken |= thread != engine.current;
	}
	return true;
}

void engine_crowd_form(struct engine_thread *bucket, const void *address)
{
	struct engine_crowd *crowd = crowd_of(address);
	struct engine_thread *next;

	for (unsigned i = 0; !crowd && i < ENGINE_CROWDS; i++)
		if (!engine.crowds[i].count)
			crowd = &engine.crowds[i];
	if (!crowd)
		return;
	for (struct engine_thread *thread = bucket; thread; thread = next) {
		next = thread->object_next;
		if (thread->op->address != address || !crowd_admits(thread))
			continue;
		if (!crowd->count) {
			engine.crowd_count++;
			crowd->address = address;
			crowd->is_ready = thread->wake_reason;
		}
		engine_unlink(thread);
		crowd_add(crowd, thread);
	}
}

void engine_crowd_leave(struct engine_thread *thread)
{
	struct engine_crowd *crowd = &engine.crowds[thread->crowd - 1];

	thread->wake_reason = engine_wake_reason(thread);
	thread->crowd = 0;
	bitset_remove(crowd->members, thread->id.index);
	if (!--crowd->count)
		engine.crowd_count--;
}

uint8_t engine_wake_reason(const struct engine_thread *thread)
{
	if (!thread->crowd)
		return thread->wake_reason;
	return engine.crowds[thread->crowd - 1].is_ready ? WAKE_READY : 0;
}
