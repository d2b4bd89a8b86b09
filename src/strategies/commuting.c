#include "strategies/commuting.h"

#include "base/bitset.h"
#include "base/hash.h"

void commuting_begin_run(struct commuting *commuting)
{
	commuting->count = 0;
	commuting->thread = UINT32_MAX;
	commuting->next.variable = COMMUTING_NO_POINT;
	commuting->is_stopped = commuting->has_gone_on = commuting->is_opaque = false;
}

void commuting_point(struct commuting *commuting, uint32_t variable, uint32_t ordinal)
{
	commuting->next.variable = variable;
	commuting->next.ordinal = ordinal;
}

void commuting_stop(struct commuting *commuting, struct thread_id thread)
{
	if (commuting->thread != thread.index)
		commuting->count = 0;
	commuting->thread = thread.index;
	commuting->is_stopped = true;
	commuting->next.variable = COMMUTING_NO_POINT;
	for (uint32_t i = 0; i < COMMUTING_BITS / 64; i++)
		commuting->written[i] = commuting->touched[i] = 0;
}

static uint32_t commuting_bit_of(object_name object)
{
	return (uint32_t)(hash_mix(object) % COMMUTING_BITS);
}

static void commuting_note_other(struct commuting *commuting, const struct pending_op *op)
{
	commuting->is_opaque |=
		op->flags & OP_WIDE || op_descriptions[op->kind].object == OBJECT_FUTEX;
	if (!op->object)
		return;
	bitset_add(commuting->touched, commuting_bit_of(op->object));
	if (!(op->flags & OP_READ))
		bitset_add(commuting->written, commuting_bit_of(op->object));
}

static bool commuting_is_plain_access(const struct pending_op *op)
{
	return op_descriptions[op->kind].object == OBJECT_MEMORY && op->object &&
	       !(op->flags & (OP_WIDE | OP_MAYBLOCK | OP_PAUSE));
}

void commuting_executed(
	struct commuting *commuting, const struct schedule_view *view, struct thread_id thread)
{
	const struct pending_op *op = &view->pending[thread.index];
	struct commuting_access access = commuting->next;

	commuting->next.variable = COMMUTING_NO_POINT;
	if (commuting->is_stopped) {
		commuting->has_gone_on |= thread.index == commuting->thread;
		if (!commuting->has_gone_on)
			commuting_note_other(commuting, op);
		return;
	}
	if (thread.index != commuting->thread || !commuting_is_plain_access(op))
		commuting->count = 0;
	if (commuting->count == COMMUTING_STRETCH) { /* discards the earlier half */
		commuting->count = COMMUTING_STRETCH / 2;
		for (uint32_t i = 0; i < COMMUTING_STRETCH / 2; i++)
			commuting->stretch[i] = commuting->stretch[COMMUTING_STRETCH / 2 + i];
	}
	commuting->thread = thread.index;
	access.object = op->object;
	access.is_read = op->flags & OP_READ;
	if (commuting_is_plain_access(op))
		commuting->stretch[commuting->count++] = access;
}

uint32_t commuting_first_same(const struct commuting *commuting)
{
	uint32_t first = commuting->count;

	if (!commuting->is_stopped || commuting->is_opaque)
		return first;
	for (; first; first--) {
		const struct commuting_access *access = &commuting->stretch[first - 1];
		const uint64_t *others = access->is_read ? commuting->written : commuting->touched;

		if (bitset_has(others, commuting_bit_of(access->object)))
			break;
	}
	return first;
}
