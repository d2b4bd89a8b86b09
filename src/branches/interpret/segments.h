/*
 * What creation and joins alone order. A thread's *segment* ends where it creates another, or has joined one; all of a
 * segment comes before all of another, or behind it, or neither. Under every schedule that makes the same operations
 * this is the same.
 */
#ifndef RADDLE_BRANCHES_INTERPRET_SEGMENTS_H
#define RADDLE_BRANCHES_INTERPRET_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "branches/record/run_record.h"

struct segments {
	uint32_t thread_count;
	uint32_t *first;  /* by thread, and one more: the number of its first segment among all */
	uint64_t *begins; /* by segment: the step of the run that it begins with */
	uint16_t *
		before; /* by segment and thread: how many segments of that one have ended before */
	uint16_t *
		tried; /* by thread: from this segment on, an operation may have had another outcome */
	uint16_t *creator; /* by thread; UINT16_MAX: not known */
	uint16_t *created; /* by thread: the creator's segment that ended so */
};

/* NULL: there are too many. The caller's to free. */
struct segments *segments_new(const struct run_record *record);
void segments_free(struct segments *segments);

static inline uint32_t segments_count(const struct segments *segments, uint16_t thread)
{
	return segments->first[thread + 1] - segments->first[thread];
}

/* The thread's segment of this step. It is not before `segment`. */
static inline uint16_t segments_at(
	const struct segments *segments, uint16_t thread, uint16_t segment, uint64_t step)
{
	while (segment + 1u < segments_count(segments, thread) &&
		segments->begins[segments->first[thread] + segment + 1] <= step)
		segment++;
	return segment;
}

/* Does `segment` of the one thread come before `other` of the other one? */
static inline bool segments_are_ordered(const struct segments *segments, uint16_t thread,
	uint16_t segment, uint16_t other_thread, uint16_t other)
{
	const uint64_t row = segments->first[other_thread] + other;

	return segment < segments->before[row * segments->thread_count + thread];
}

#endif
