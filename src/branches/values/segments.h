/*
 * The happens-before order that thread creation and joins alone impose. A thread's *segment* ends
 * where the thread creates another thread or has joined one. Two segments of different threads are
 * either ordered as a whole or unordered. Every schedule that performs the same operations has the
 * same order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "branches/record/run_record.h"

struct segments {
	uint32_t thread_count;
	/* By thread, plus one entry: index of its first segment in the arrays by segment */
	uint32_t *first;
	uint64_t *begins; /* by segment: the step of the run at which it begins */
	uint16_t *
		before; /* by segment and thread: number of that thread's segments that end before this one begins */
	uint16_t *
		tried; /* by thread: first segment in which an operation may have had another outcome (try-lock) */
	uint16_t *creator; /* by thread: the creating thread; UINT16_MAX: unknown */
	uint16_t *created; /* by thread: the creator's segment that ends with the creation */
};

/* Finds the segments of a run; the caller calls segments_free(). Returns NULL if there are too
 * many. */
struct segments *segments_new(const struct run_record *record);
void segments_free(struct segments *segments);

static inline uint32_t segments_count(const struct segments *segments, uint16_t thread)
{
	return segments->first[thread + 1] - segments->first[thread];
}

/* `segment` is a lower bound from an earlier call. */
static inline uint16_t segments_at(
	const struct segments *segments, uint16_t thread, uint16_t segment, uint64_t step)
{
	while (segment + 1u < segments_count(segments, thread) &&
		segments->begins[segments->first[thread] + segment + 1] <= step)
		segment++;
	return segment;
}

/* Returns whether `segment` of `thread` happens before segment `other` of `other_thread`. */
static inline bool segments_are_ordered(const struct segments *segments, uint16_t thread,
	uint16_t segment, uint16_t other_thread, uint16_t other)
{
	const uint64_t row = segments->first[other_thread] + other;

	return segment < segments->before[row * segments->thread_count + thread];
}
