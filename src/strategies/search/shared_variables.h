/*
 * The users of each variable. A variable is a synchronisation object or eight bytes of memory. It
 * is *shared* when two threads have used it. Its number is its order of discovery. When half of the
 * capacity is used, further memory is grouped into *arrays*: one variable per heap block, and one
 * per code site for other memory. A plain value without pointers, empty when zeroed.
 */
#pragma once

#include "model/view.h"
#include "strategies/key_table.h"
#include "strategies/search/run_tree.h"

/* memory is grouped into arrays from this number on */
#define SHARED_VARIABLES_SINGLE (KEY_TABLE_CAPACITY / 2)

struct shared_variables {
	uint32_t shared_count;
	struct key_table objects, thread_names;
	/* 1 + the first thread that used each variable */
	uint16_t thread[KEY_TABLE_CAPACITY];
	struct run_variable variable[KEY_TABLE_CAPACITY];
};

static inline bool shared_variables_has(const struct pending_op *op)
{
	return op->object && op_descriptions[op->kind].object != OBJECT_THREAD;
}

/* KEY_TABLE_NONE: the table is full. */
uint32_t shared_variables_number(struct shared_variables *variables,
	const struct schedule_view *view, const struct pending_op *op);

void shared_variables_learn(struct shared_variables *variables, const struct schedule_view *view,
	struct thread_id thread);
