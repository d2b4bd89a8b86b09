#include "investigate/minimise/moves.h"

#include <string.h>

#include "base/array.h"

/* Up to this many segments each is tried at every position: some thousand runs. */
#define MOVES_SEGMENTS_MAX 48

static void moves_append(struct failure *out, struct schedule_segment segment)
{
	struct schedule_segment *last = out->segments + out->segment_count - 1;

	if (out->segment_count && !((last->flags | segment.flags) & SEGMENT_VALUE) &&
		!(segment.flags & SEGMENT_STALLS) && last->thread == segment.thread)
		last->count += segment.count;
	else
		out->segments[out->segment_count++] = segment;
}

struct probe_plan move_plan(
	struct failure *out, const struct failure *failure, const struct segment_move *move)
{
	failure_release(out);
	failure_copy(out, failure);
	out->segment_count = 0;
	for (uint32_t i = 0; i <= failure->segment_count; i++) {
		if (i == move->to && !move->is_drop)
			moves_append(out, failure->segments[move->from]);
		if (i < failure->segment_count && i != move->from)
			moves_append(out, failure->segments[i]);
	}
	return probe_plan_exact(out);
}

static bool moves_is_of_thread(const struct failure *failure, uint32_t segment, uint16_t thread)
{
	return segment < failure->segment_count &&
	       !(failure->segments[segment].flags & SEGMENT_VALUE) &&
	       failure->segments[segment].thread == thread;
}

/* A segment of a long schedule only moves next to one of the same thread, so that they join. */
static bool moves_is_promising(const struct failure *failure, const struct segment_move *move)
{
	uint16_t thread = failure->segments[move->from].thread;

	if (move->is_drop)
		return true;
	if (move->to == move->from || move->to == move->from + 1)
		return false; /* the move changes nothing */
	return failure->segment_count <= MOVES_SEGMENTS_MAX ||
	       moves_is_of_thread(failure, move->to, thread) ||
	       (move->to > 0 && moves_is_of_thread(failure, move->to - 1, thread));
}

static bool moves_is_tried(const struct failure *failure, const struct segment_move *move)
{
	return !(failure->segments[move->from].flags & SEGMENT_VALUE) &&
	       moves_is_promising(failure, move);
}

bool move_next(const struct failure *failure, struct segment_move *move)
{
	do {
		if (move->is_drop) {
			move->from++;
			move->to = 0;
		} else {
			move->to++;
		}
		move->is_drop = move->to == failure->segment_count + 1;
	} while (move->from < failure->segment_count && !moves_is_tried(failure, move));
	return move->from < failure->segment_count;
}

bool move_first(const struct failure *failure, struct segment_move *move)
{
	*move = (struct segment_move){0};
	return failure->segment_count &&
	       (moves_is_tried(failure, move) || move_next(failure, move));
}

struct probe_plan move_plan_before_stall(struct failure *out, const struct failure *failure,
	uint32_t stall, uint16_t thread, uint32_t steps)
{
	struct probe_plan plan;

	failure_release(out);
	failure_copy(out, failure);
	out->segments =
		array_resize(out->segments, failure->segment_count + 1, sizeof *out->segments);
	memmove(out->segments + stall + 1, failure->segments + stall,
		(failure->segment_count - stall) * sizeof *out->segments);
	out->segments[stall] = (struct schedule_segment){.thread = thread, .count = steps};
	out->segment_count++;
	plan = probe_plan_exact(out);
	plan.skips_disabled = true;
	return plan;
}
