/* See shared_variables.h. */
#include "strategies/shared_variables.h"

/* Keeps blocks apart from places of the code, which are addresses of users. */
#define PLACE_BLOCK (UINT64_C(1) << 63)

static void join_groups(struct shared_variables *variables, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; from != to && i < variables->objects.count; i++)
		if (variables->variable[i].group == from)
			variables->variable[i].group = (uint16_t)to;
}

static void learn_place(struct shared_variables *variables, const struct schedule_view *view,
	const struct pending_op *op, uint32_t number)
{
	struct run_variable *variable = &variables->variable[number];
	const uint32_t known = variables->places.count;
	struct object_place place = {0};
	uint32_t at;

	/* A block's variables have its number from the first access on. */
	if (op->second && (variable->loop || !view->place || !view->place(op->object, &place)))
		return;
	variable->loop = (uint16_t)(place.loop < UINT16_MAX ? place.loop : UINT16_MAX);
	at = key_table_add(&variables->places, op->second ? PLACE_BLOCK | place.block : op->site);
	if (at == KEY_TABLE_NONE)
		return;
	if (variables->places.count > known)
		variables->place_group[at] = variable->group;
	join_groups(variables, variable->group, variables->place_group[at]);
	variables->place_group[at] = variable->group;
}

void shared_variables_learn(struct shared_variables *variables, const struct schedule_view *view,
	struct thread_id thread, bool has_places)
{
	const struct pending_op *op = &view->pending[thread.index];
	uint32_t number, name;

	if (!shared_variables_has(op))
		return;
	number = shared_variables_number(variables, op);
	name = key_table_add(&variables->thread_names, view->names[thread.index]);
	if (number == KEY_TABLE_NONE || name == KEY_TABLE_NONE)
		return;
	if (!variables->thread[number]) {
		variables->thread[number] = (uint16_t)(name + 1);
		variables->variable[number].group = (uint16_t)number;
	}
	if (op_descriptions[op->kind].object == OBJECT_MEMORY && (has_places || op->second))
		learn_place(variables, view, op, number);
	if (variables->thread[number] == name + 1 || variables->variable[number].is_shared)
		return;
	variables->variable[number].is_shared = true;
	variables->shared_count++;
}

bool shared_variables_have_groups(const struct shared_variables *variables)
{
	for (uint32_t i = 0; i < variables->objects.count; i++)
		if (variables->variable[i].is_shared && variables->variable[i].group != i)
			return true;
	return false;
}
