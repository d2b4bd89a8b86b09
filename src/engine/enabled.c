/* Which threads are enabled: the pending op of each, and its evaluation after a change of its object.
 * Runs in the target's moving thread. */
#include "engine/engine.h"
#include "engine/engine_internal.h"

static inline void enabled_set(struct engine_thread *thread, uint8_t reason)
{
	if (!thread->wake_reason != !reason) {
		if (reason) {
			bitset_add(engine.enabled, thread->id.index);
			bitset_add(engine.was_enabled, thread->id.index);
			engine.enabled_count++;
			engine.has_woken |= thread != engine.current;
		} else {
			bitset_remove(engine.enabled, thread->id.index);
			engine.enabled_count--;
		}
	}
	thread->wake_reason = reason;
}

/* A signal or a cancellation interrupts the op: this step runs handlers, and does not perform the op. */
static inline void enabled_note_interruption(
	struct pending_op *pending, const struct engine_op *op, bool is_interrupted)
{
	const uint8_t flag = is_interrupted ? OP_INTERRUPTION
					    : op_descriptions[op->kind].flags & OP_INTERRUPTION;

	pending->flags = (uint8_t)((pending->flags & ~OP_INTERRUPTION) | flag);
}

void engine_evaluate(struct engine_thread *thread)
{
	const struct engine_op *op = thread->op;
	uint8_t reason = 0;

	engine_settle();
	if (!op)
		return;
	if (thread->wait_group) {
		engine_wait_group_leave(thread);
		engine_link(thread);
	}
	if (engine_must_drain(thread, op)) {
		enabled_set(thread, 0);
		return;
	}
	if (op->is_timeout_only ? false : !op->ready || op->ready(op, thread))
		reason |= WAKE_READY;
	if (op->deadline_ns != ENGINE_FOREVER && engine_clock_has_expired(thread, op))
		reason |= WAKE_DEADLINE;
	if (thread->signals_pending & ~thread->signals_blocked)
		reason |= WAKE_SIGNAL;
	if (thread->is_cancel_requested && !thread->is_cancel_disabled && !thread->is_exiting &&
		!(op->interruptions & INTERRUPT_NEVER) &&
		(op->interruptions & INTERRUPT_CANCEL || thread->is_cancel_asynchronous))
		reason |= WAKE_CANCEL;
	enabled_note_interruption(
		&engine.pending[thread->id.index], op, (reason & (WAKE_SIGNAL | WAKE_CANCEL)) != 0);
	enabled_set(thread, reason);
}

/* Fills the fields of a pending op that strategies read only of memory accesses and fences. */
static inline void enabled_describe_access(const struct engine_op *op, struct pending_op *pending)
{
	if (op->awaits_value) {
		pending->flags |= OP_MAYBLOCK;
		engine.awaiting_count++;
	}
	/* A write to the other location enables or disables the op; an op has no second object for it. */
	if (((uintptr_t)op->address & 7) + op->bytes > 8 || op->awaits_either || op->is_wide)
		pending->flags |= OP_WIDE;
	else if (op->bytes && op_descriptions[op->kind].object == OBJECT_MEMORY &&
		 engine.run.memory_model !=
			 MEMORY_MODEL_C11) /* whose histories are of whole words */
		pending->untouched = op_untouched((uintptr_t)op->address, op->bytes);
	if (op->order == ORDER_SEQUENTIAL && engine.run.memory_model == MEMORY_MODEL_C11)
		pending->flags |= OP_SEQUENTIAL;
}

void engine_announce(struct engine_thread *thread, struct engine_op *op)
{
	struct pending_op *pending = &engine.pending[thread->id.index];
	const object_name object = op->object	 ? op->object
				   : op->address ? engine_object_name(op->address)
						 : 0;
	const uint16_t second =
		op->kind == OP_COND_WAIT
			? op_second(engine_object_name((const void *)(uintptr_t)op->argument))
			: op->second;

	thread->op = op;
	*pending = (struct pending_op){.kind = op->kind,
		.flags = (uint8_t)(op_descriptions[op->kind].flags | (op->is_read ? OP_READ : 0)),
		.second = second,
		.object = object,
		.site = op->site,
		.untouched = op->untouched};
	if (op->bytes || op->awaits_value || op->order || op->is_wide)
		enabled_describe_access(op, pending);
	if (__builtin_expect(engine.host.context != NULL, 0))
		engine.contexts[thread->id.index] = engine.host.context(thread->id);
	if (!op->ready && op->deadline_ns == ENGINE_FOREVER && !op->interruptions &&
		!(thread->signals_pending & ~thread->signals_blocked)) {
		enabled_set(thread, engine_must_drain(thread, op) ? 0 : WAKE_READY);
		return;
	}
	if (op->deadline_ns != ENGINE_FOREVER)
		engine_clock_begin_wait(thread, op);
	if (engine.wait_group_count && engine_wait_group_join(thread))
		return;
	if (op->ready)
		engine_link(thread);
	engine_evaluate(thread);
}

void engine_withdraw(struct engine_thread *thread)
{
	const struct engine_op *op = thread->op;

	if (!op)
		return;
	if (thread->wait_group)
		engine_wait_group_leave(thread);
	else if (op->ready)
		engine_unlink(thread);
	engine.awaiting_count -= op->awaits_value;
	thread->op = NULL;
	engine.pending[thread->id.index].kind = OP_NONE;
	enabled_set(thread, 0);
}

void engine_changed(const void *address)
{
	struct engine_thread *next;
	uint32_t count = 0;

	if (engine.wait_group_count)
		engine_wait_group_changed(address);
	for (struct engine_thread *thread = *engine_bucket(address); thread; thread = next) {
		next = thread->object_next;
		if (thread->op->address == address) {
			engine_evaluate(thread);
			count++;
		}
	}
	if (__builtin_expect(count >= ENGINE_WAIT_GROUP_LEAST, 0))
		engine_wait_group_form(*engine_bucket(address), address);
}

/* Evaluates the threads in waiting loops again. A store to memory does not call engine_changed(),
 * as an unlock does, so their memory is read before each choice, each thread's in its own view. */
static void enabled_evaluate_awaited(void)
{
	uint32_t left = engine.awaiting_count;

	for (uint32_t i = 0; left; i++) {
		const struct engine_op *op = engine.threads[i].op;

		if (!op || !op->awaits_value)
			continue;
		engine_exchange_views(engine.current, &engine.threads[i]);
		engine_evaluate(&engine.threads[i]);
		engine_exchange_views(&engine.threads[i], engine.current);
		left--;
	}
}

void engine_evaluate_pending_changes(void)
{
	while (engine.changed_count)
		engine_changed(engine.changed[--engine.changed_count]);
	if (__builtin_expect(engine.awaiting_count, 0))
		enabled_evaluate_awaited();
}

void engine_change_deferred(const void *address)
{
	if (!*engine_bucket(address) && !engine.wait_group_count)
		return;
	if (!engine.run.defers_changes) {
		engine_changed(address);
		return;
	}
	for (uint32_t i = 0; i < engine.changed_count; i++)
		if (engine.changed[i] == address)
			return;
	if (engine.changed_count == ENGINE_CHANGED_MOST)
		engine_evaluate_changed();
	engine.changed[engine.changed_count++] = address;
}

void engine_redirect(struct engine_thread *thread, const struct engine_op *replacement)
{
	struct engine_op *op = thread->op;

	engine_withdraw(thread);
	*op = *replacement;
	engine_announce(thread, op);
}

void engine_changed_kind(enum op_kind kind)
{
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (engine.threads[i].op && engine.threads[i].op->kind == kind)
			engine_evaluate(&engine.threads[i]);
}

void engine_changed_shared(void)
{
	for (uint32_t i = 0; i < engine.thread_count; i++)
		if (engine.threads[i].op && engine.threads[i].op->is_shared)
			engine_evaluate(&engine.threads[i]);
}
