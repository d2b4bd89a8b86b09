/*
 * A schedule in memory: the choices of a run in order, run-length encoded. trace/ defines the text
 * form.
 *
 * A step segment means that a thread performs `count` ops in a row. A value segment means that the
 * next value choice (the waiter that a signal wakes, raddle_choose) is `thread` out of `count`
 * possibilities. A value segment follows the step whose op requested the value.
 *
 * The runtime records the schedule of each run in shared memory, where it survives a crash. A full
 * recorder sets is_truncated and keeps a true prefix of the run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

enum schedule_flag {
	SEGMENT_VALUE = 1, /* a value choice, not steps */
	/* preemption: the previously running thread was enabled at this context switch */
	SEGMENT_PREEMPTS = 2,
	/* the first step ends a timed wait early: the enabled threads are stalled (stall.h) */
	SEGMENT_STALLS = 4
};

/* Scheduling points of a run at locations where no operation needs one (docs/decisions/0030). */
enum interruption_points {
	INTERRUPTION_POINTS_NONE,
	INTERRUPTION_POINTS_FILES, /* before calls that use the file system */
	/* also after operations of an unmodified binary that wake another thread */
	INTERRUPTION_POINTS_ALL,
	/* of no run: the number of the run and its strategy decide (runtime/life/run.c) */
	INTERRUPTION_POINTS_IN_PART
};

struct schedule_segment {
	uint16_t thread; /* index, or the chosen value */
	uint16_t flags;
	uint32_t count; /* steps, or the number of possibilities */
};

/* A recorder; the caller provides the memory. */
struct schedule {
	uint32_t capacity;
	uint32_t count;
	uint64_t step_count;
	bool is_truncated; /* the capacity was exhausted: the segments are a prefix of the run */
	struct schedule_segment segments[];
};

static inline void schedule_clear(struct schedule *schedule)
{
	schedule->count = 0;
	schedule->step_count = 0;
	schedule->is_truncated = false;
}

static inline void schedule_append(
	struct schedule *schedule, uint16_t thread, uint16_t flags, uint32_t count)
{
	if (schedule->count == schedule->capacity) {
		schedule->is_truncated = true;
		return;
	}
	schedule->segments[schedule->count++] =
		(struct schedule_segment){.thread = thread, .flags = flags, .count = count};
}

static inline void schedule_add_steps(
	struct schedule *schedule, struct thread_id thread, unsigned flags, uint32_t count)
{
	struct schedule_segment *last = schedule->segments + schedule->count - 1;

	schedule->step_count += count;
	if (schedule->count && last->thread == thread.index && !(last->flags & SEGMENT_VALUE) &&
		!(flags & SEGMENT_STALLS) && last->count <= UINT32_MAX - count &&
		!schedule->is_truncated)
		last->count += count;
	else
		schedule_append(schedule, thread.index, (uint16_t)flags, count);
}

static inline void schedule_add_value(
	struct schedule *schedule, uint16_t value, uint32_t possibilities)
{
	schedule_append(schedule, value, SEGMENT_VALUE, possibilities);
}

/* Position of a replay in a schedule. All zero: the start. */
struct schedule_cursor {
	uint32_t segment;
	uint32_t used; /* steps of that segment that are already replayed */
};

/* Counts the context switches: step segments that follow one of another thread. */
static inline uint32_t schedule_switch_count(const struct schedule *schedule, uint32_t *preemptions)
{
	uint32_t switches = 0;
	uint32_t last = UINT32_MAX;

	*preemptions = 0;
	for (uint32_t i = 0; i < schedule->count; i++) {
		const struct schedule_segment *segment = &schedule->segments[i];

		if (segment->flags & SEGMENT_VALUE || segment->thread == last)
			continue;
		switches += last != UINT32_MAX;
		*preemptions += (segment->flags & SEGMENT_PREEMPTS) != 0;
		last = segment->thread;
	}
	return switches;
}
