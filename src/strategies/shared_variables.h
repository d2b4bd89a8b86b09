/*
 * Who uses which variable: learnt by bounded from the ops of a campaign. A variable is an object of
 * synchronisation or eight bytes of memory; it is *shared* once two threads have used it. Its number
 * is its order of arrival. Those of one array, a block of the heap or static memory that one place of
 * the code accesses, are a *group*. A plain value without pointers, empty when zeroed.
 */
#ifndef RADDLE_STRATEGIES_SHARED_VARIABLES_H
#define RADDLE_STRATEGIES_SHARED_VARIABLES_H

#include "model/view.h"
#include "strategies/key_table.h"
#include "strategies/run_tree.h"

struct shared_variables {
	uint32_t shared_count;
	struct key_table objects, thread_names, places;
	uint16_t thread[KEY_TABLE_CAPACITY]; /* the first that used it, + 1; by variable */
	struct run_variable variable[KEY_TABLE_CAPACITY];
	uint16_t place_group[KEY_TABLE_CAPACITY]; /* of the variables seen at the place */
};

/* Is the op about a variable at all? */
static inline bool shared_variables_has(const struct pending_op *op)
{
	return op->object && op_descriptions[op->kind].object != OBJECT_THREAD;
}

/* KEY_TABLE_NONE: there is no room. */
static inline uint32_t shared_variables_number(
	struct shared_variables *variables, const struct pending_op *op)
{
	return key_table_add(&variables->objects, op->object);
}

/* The thread performs its op. `has_places`: groups are learnt as well. */
void shared_variables_learn(struct shared_variables *variables, const struct schedule_view *view,
	struct thread_id thread, bool has_places);

/* Are there groups of more than one shared variable? */
bool shared_variables_have_groups(const struct shared_variables *variables);

#endif
