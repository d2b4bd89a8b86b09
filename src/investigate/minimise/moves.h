/*
 * Changes of a schedule for minimising. One segment moves to another position, or is dropped:
 * move_first() and move_next() make these changes in their order. Or another thread makes some
 * steps before a stall.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "investigate/probe/failure.h"
#include "investigate/probe/probe.h"

/* Segment `from` moves to the position of segment `to`, or is dropped. */
struct segment_move {
	uint32_t from;
	uint32_t to; /* segment count: to the end */
	bool is_drop;
};

/* Return false if no change is left. move_first() starts at the zero of *move. */
bool move_first(const struct failure *failure, struct segment_move *move);
bool move_next(const struct failure *failure, struct segment_move *move);

/* The schedule after the change, in *out. The replay follows the plan as far as it is possible. */
struct probe_plan move_plan(
	struct failure *out, const struct failure *failure, const struct segment_move *move);

/* Tried numbers of steps before a stall: from 1, and as many as the thread makes until it blocks. */
#define BEFORE_STALL_STEPS 16
/* The schedule in which `thread` makes up to `steps` steps before segment `stall`. If the failure
 * still shows, the thread need not be stalled there. */
struct probe_plan move_plan_before_stall(struct failure *out, const struct failure *failure,
	uint32_t stall, uint16_t thread, uint32_t steps);
