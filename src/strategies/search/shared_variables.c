#include "strategies/search/shared_variables.h"

/* These bits distinguish arrays from variables, whose keys have 32 bits. */
#define KEY_BLOCK (UINT64_C(1) << 62)
#define KEY_POSITION (UINT64_C(1) << 63)

static bool shared_variables_find_position(
	const struct schedule_view *view, const struct pending_op *op, struct heap_position *out)
{
	*out = (struct heap_position){0};
	return op->second && view->heap_position &&
	       op_descriptions[op->kind].object == OBJECT_MEMORY &&
	       view->heap_position(op->object, out);
}

uint32_t shared_variables_number(struct shared_variables *variables,
	const struct schedule_view *view, const struct pending_op *op)
{
	const uint32_t known = variables->objects.count;
	uint32_t number = key_table_find(&variables->objects, op->object);
	uint64_t key = op->object;
	struct heap_position position;

	if (number != KEY_TABLE_NONE)
		return number;
	if (known >= SHARED_VARIABLES_SINGLE && op_descriptions[op->kind].object == OBJECT_MEMORY)
		key = shared_variables_find_position(view, op, &position)
			      ? KEY_BLOCK | position.block
			      : KEY_POSITION | op->site;
	number = key_table_add(&variables->objects, key);
	if (variables->objects.count == known)
		return number;
	if (shared_variables_find_position(view, op, &position))
		variables->variable[number].loop = (uint16_t)position.loop;
	/* Users of arrays are not tracked, but other threads access scheduling points. */
	if (key != op->object) {
		variables->variable[number].is_shared = true;
		variables->shared_count++;
	}
	return number;
}

void shared_variables_learn(struct shared_variables *variables, const struct schedule_view *view,
	struct thread_id thread)
{
	const struct pending_op *op = &view->pending[thread.index];
	uint32_t number, name;

	if (!shared_variables_has(op))
		return;
	number = shared_variables_number(variables, view, op);
	name = key_table_add(&variables->thread_names, view->names[thread.index]);
	if (number == KEY_TABLE_NONE || name == KEY_TABLE_NONE)
		return;
	variables->variable[number].users |= UINT64_C(1) << name % 64;
	if (!variables->thread[number])
		variables->thread[number] = (uint16_t)(name + 1);
	if (variables->thread[number] == name + 1 || variables->variable[number].is_shared)
		return;
	variables->variable[number].is_shared = true;
	variables->shared_count++;
}
