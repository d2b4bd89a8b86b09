/*
 * Groups of threads that wait for one object, for which ready() has a single common result. Each
 * lock and unlock would otherwise evaluate every waiter and dominate the run time. A thread with a
 * deadline or a pending signal waits alone.
 *
 * The wake_reason of a member is not valid; use engine_wake_reason().
 */
#include "engine/engine.h"
#include "engine/engine_internal.h"

static bool wait_group_admits(const struct engine_thread *thread)
{
	const struct engine_op *op = thread->op;

	return op->has_common_result && !op->is_shared && !op->is_timeout_only &&
	       op->deadline_ns == ENGINE_FOREVER &&
	       !(thread->signals_pending & ~thread->signals_blocked) &&
	       !thread->is_cancel_requested && !engine_must_drain(thread, op);
}

static struct engine_wait_group *wait_group_of(const void *address)
{
	for (unsigned i = 0; i < ENGINE_WAIT_GROUPS; i++)
		if (engine.wait_groups[i].count && engine.wait_groups[i].address == address)
			return &engine.wait_groups[i];
	return NULL;
}

static void wait_group_enable(const struct engine_wait_group *group)
{
	engine.enabled_count += group->count;
	engine.has_woken |=
		group->count > (uint32_t)bitset_has(group->members, engine.current->id.index);
	for (uint32_t word = 0; word < BITSET_WORDS(engine.thread_count); word++)
		engine.was_enabled[word] |= engine.enabled[word] |= group->members[word];
}

static void wait_group_disable(const struct engine_wait_group *group)
{
	engine.enabled_count -= group->count;
	for (uint32_t word = 0; word < BITSET_WORDS(engine.thread_count); word++)
		engine.enabled[word] &= ~group->members[word];
}

static const struct engine_thread *wait_group_first(const struct engine_wait_group *group)
{
	uint32_t word = 0;

	while (!group->members[word])
		word++;
	return &engine.threads[word * 64 + (uint32_t)__builtin_ctzll(group->members[word])];
}

void engine_wait_group_changed(const void *address)
{
	struct engine_wait_group *group = wait_group_of(address);
	const struct engine_thread *first;
	bool is_ready;

	if (!group)
		return;
	engine_settle();
	first = wait_group_first(group);
	is_ready = first->op->ready(first->op, first);
	if (is_ready == group->is_ready)
		return;
	group->is_ready = is_ready;
	if (is_ready)
		wait_group_enable(group);
	else
		wait_group_disable(group);
}

static void wait_group_add(struct engine_wait_group *group, struct engine_thread *thread)
{
	thread->wait_group = (uint8_t)(group - engine.wait_groups + 1);
	bitset_add(group->members, thread->id.index);
	group->count++;
}

bool engine_wait_group_join(struct engine_thread *thread)
{
	struct engine_wait_group *group = wait_group_of(thread->op->address);

	if (!group || !wait_group_admits(thread))
		return false;
	engine_settle();
	if (engine.changed_count) /* a deferred change may not be evaluated yet */
		engine_wait_group_changed(group->address);
	wait_group_add(group, thread);
	if (group->is_ready) {
		bitset_add(engine.enabled, thread->id.index);
		bitset_add(engine.was_enabled, thread->id.index);
		engine.enabled_count++;
		engine.has_woken |= thread != engine.current;
	}
	return true;
}

void engine_wait_group_form(struct engine_thread *bucket, const void *address)
{
	struct engine_wait_group *group = wait_group_of(address);
	struct engine_thread *next;

	for (unsigned i = 0; !group && i < ENGINE_WAIT_GROUPS; i++)
		if (!engine.wait_groups[i].count)
			group = &engine.wait_groups[i];
	if (!group)
		return;
	for (struct engine_thread *thread = bucket; thread; thread = next) {
		next = thread->object_next;
		if (thread->op->address != address || !wait_group_admits(thread))
			continue;
		if (!group->count) {
			engine.wait_group_count++;
			group->address = address;
			group->is_ready = thread->wake_reason;
		}
		engine_unlink(thread);
		wait_group_add(group, thread);
	}
}

void engine_wait_group_leave(struct engine_thread *thread)
{
	struct engine_wait_group *group = &engine.wait_groups[thread->wait_group - 1];

	thread->wake_reason = engine_wake_reason(thread);
	thread->wait_group = 0;
	bitset_remove(group->members, thread->id.index);
	if (!--group->count)
		engine.wait_group_count--;
}
