/*
 * Who uses which variable: learnt by bounded from the ops of a campaign. A variable is an object of
 * synchronisation or eight bytes of memory; it is *shared* once two threads have used it. Its number
 * is its order of arrival. When half of the room is used, what comes is an *array*: all of a block of
 * the heap is one variable then, and so is all other memory that one place of the code accesses. A plain
 * value without pointers, empty when zeroed.
 */
#ifndef RADDLE_STRATEGIES_SEARCH_SHARED_VARIABLES_H
#define RADDLE_STRATEGIES_SEARCH_SHARED_VARIABLES_H

#include "model/view.h"
#include "strategies/key_table.h"
#include "strategies/search/run_tree.h"

#define SHARED_VARIABLES_SINGLE (KEY_TABLE_CAPACITY / 2) /* then arrays */

struct shared_variables {
	uint32_t shared_count;
	struct key_table objects, thread_names;
	uint16_t thread[KEY_TABLE_CAPACITY]; /* the first that used it, + 1; by variable */
	struct run_variable variable[KEY_TABLE_CAPACITY];
};

/* Is the op about a variable at all? */
static inline bool shared_variables_has(const struct pending_op *op)
{
	return op->object && op_descriptions[op->kind].object != OBJECT_THREAD;
}

/* KEY_TABLE_NONE: there is no room. */
uint32_t shared_variables_number(struct shared_variables *variables,
	const struct schedule_view *view, const struct pending_op *op);

/* The thread performs its op. */
void shared_variables_learn(struct shared_variables *variables, const struct schedule_view *view,
	struct thread_id thread);

#endif
