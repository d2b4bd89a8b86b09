/* See replay_observe.h. */
#include "strategies/replay/replay_observe.h"

void replay_state_set_observed(struct replay_state *state, uint32_t op_capacity)
{
	state->observed_offset = (state->bytes + 7) / 8 * 8;
	state->bytes = state->observed_offset + replay_observe_bytes(op_capacity);
	replay_observed(state)->op_capacity = op_capacity;
}

/* The mutex of a wait is known by a hash, so that hash stands for a mutex everywhere. */
static uint32_t replay_observe_objects(const struct pending_op *op, object_name *objects)
{
	const uint8_t class = op_descriptions[op->kind].object;
	uint32_t count = 0;

	if (op->object)
		objects[count++] = class == OBJECT_MUTEX ? op_second(op->object) : op->object;
	if (op->second && class == OBJECT_COND)
		objects[count++] = op->second;
	return count;
}

void replay_observe_note(
	struct replay_observed *observed, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];
	object_name objects[2];
	const uint32_t count = replay_observe_objects(op, objects);

	for (uint32_t i = 0; i < count; i++)
		observed->ops[observed->op_count++ % observed->op_capacity] =
			(struct replay_op){.site = op->site,
				.object = objects[i],
				.thread = (uint16_t)thread,
				.is_read = op->flags & OP_READ};
}
