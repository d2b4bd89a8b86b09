/* The engine's events for the recorder: steps, thread switches, performed operations. */
#include "runtime/record.h"

#include "model/op.h"
#include "runtime/record/record_internal.h"
#include "runtime/runtime.h"

static bool record_ops_is_memory(uint8_t kind)
{
	return op_descriptions[kind].object == OBJECT_MEMORY || kind == OP_FENCE;
}

/* Advances the run's position, and returns its distance from the thread's last one. */
static uint64_t record_next_position(struct record_thread *thread)
{
	const uint64_t position = record_state.area->position++;
	const uint64_t difference = position - thread->position;

	thread->position = position;
	return difference;
}

/* Cuts the record: no thread records anything more, as if the area were full. */
static void record_cut(void)
{
	struct record_area *area = record_state.area;
	struct record_moving *moving = record_state.moving;

	moving->thread->predicted += (uint64_t)(moving->mark - moving->left);
	moving->mark = moving->left;
	for (uint32_t i = 0; i < THREAD_CAPACITY; i++) {
		area->threads[i].predicted_at_cut = area->threads[i].predicted;
		record_close(&area->threads[i]);
	}
	record_close(&area->ops);
	area->is_cut = area->is_full = 1;
}

void record_stand(const struct engine_op *op)
{
	struct record_moving *moving = record_state.moving;

	if (!moving->pending)
		return;
	if (op && record_is_inside(op->site)) {
		record_flush();
		return;
	}
	/* Code without bitcode is spinning. The thread's next report settles the write. */
	if (op && op->kind == OP_SPIN)
		return;
	record_drop_pending();
	record_state.parked[moving->index].has_dropped = true;
}

/* Writes an op's entry; short if step and position have both grown by one. */
static void record_sync(uint32_t index, uint64_t step)
{
	struct record_thread *own = &record_state.area->threads[index];
	struct record_parked *parked = &record_state.parked[index];
	const bool has_dropped = parked->has_dropped;
	const uint64_t steps = step - own->step;

	parked->has_dropped = false;
	if (steps == 1 && record_state.area->position - own->position == 1) {
		if (!record_entry(own, has_dropped ? RECORD_NEXT_OUTSIDE : RECORD_NEXT))
			return;
		(void)record_next_position(own); /* is one */
	} else {
		if (!record_entry(own, has_dropped ? RECORD_SYNC_OUTSIDE : RECORD_SYNC))
			return;
		record_number(own, steps);
		record_number(own, record_next_position(own));
	}
	own->step = step;
}

void record_step(const struct engine_thread *thread, const struct engine_op *op, uint64_t step)
{
	const struct record_area *area = record_state.area;
	const uint32_t index = thread->id.index;

	if (runtime.is_forked_child) /* the record belongs to the parent */
		return;
	if (area->points_most && area->position >= area->points_most && !area->is_cut)
		record_cut();
	record_stand(index == record_state.moving->index ? op : engine_current()->op);
	if (!record_ops_is_memory(op->kind))
		record_sync(index, step);
}

void record_resume(void)
{
	struct record_thread *thread = record_state.moving->thread;

	record_state.parked[record_state.moving->index].has_dropped = false;
	if (record_entry(thread, RECORD_TURN))
		record_number(thread, record_next_position(thread));
}

void record_performed(const struct engine_performed *performed)
{
	struct record_thread *ops = &record_state.area->ops;
	const struct record_op op = {.step = performed->step,
		.address = (uint64_t)(uintptr_t)performed->address,
		.argument = performed->argument,
		.site = performed->site,
		.thread = performed->thread.index,
		.other = performed->other.index,
		.kind = performed->kind,
		.flags = (uint8_t)((performed->has_failed ? RECORD_OP_FAILED : 0) |
				   (performed->is_last ? RECORD_OP_LAST : 0))};

	if (record_ops_is_memory(performed->kind) || !record_room(ops))
		return;
	ops->at = op_stream_write(&record_state.ops, &op, ops->at);
}
