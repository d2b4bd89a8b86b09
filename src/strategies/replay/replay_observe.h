/*
 * Operations of a run that strategy `replay` observes (replay.h, REPLAY_OBSERVE).
 *
 * The block lies at the end of the state of `replay`, and contains no pointers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/view.h"
#include "strategies/replay/replay.h"

/* A wait on a condition variable, and the return from it, are operations on a mutex, too. */
struct replay_op {
	uint64_t site; /* same as in struct pending_op */
	object_name object;
	uint16_t thread; /* index in the run */
	bool is_read;
};

struct replay_observed {
	/* Of more operations than the capacity, the last ones are kept, as in a ring. Those that are
	 * pending at the end of the run come last. */
	uint32_t op_count, op_capacity;
	struct replay_op ops[];
};

static inline size_t replay_observe_bytes(uint32_t op_capacity)
{
	return sizeof(struct replay_observed) + op_capacity * sizeof(struct replay_op) +
	       sizeof(uint64_t);
}

/* Appends the block to a state that replay_state_init() has laid out. */
void replay_state_set_observed(struct replay_state *state, uint32_t op_capacity);

static inline struct replay_observed *replay_observed(struct replay_state *state)
{
	return (struct replay_observed *)((char *)state + state->observed_offset);
}

/* For replay.c: notes the pending operation of the thread. */
void replay_observe_note(
	struct replay_observed *observed, const struct schedule_view *view, uint32_t thread);
