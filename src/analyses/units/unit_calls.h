/*
 * Tracks each thread's call stack: entered functions by the trace, inlined ones by debug
 * information.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyses/units/atomic_sets.h"
#include "model/event.h"

#define UNIT_CALLS_MOST 256

enum unit_ending {
	UNIT_RETURNED,
	UNIT_LEFT, /* left by an exception, longjmp or the end of its thread */
	UNIT_OPEN  /* still active at the end of the run */
};

struct unit_calls;

/* `sets` must outlive the result. */
struct unit_calls *unit_calls_new(struct atomic_sets *sets, uint32_t thread_count);
void unit_calls_free(struct unit_calls *calls);

/* Adds the next event of the run. Returns true if the event only enters or leaves a function. */
bool unit_calls_add(struct unit_calls *calls, const struct trace_event *event);
/* Call after the last event. */
void unit_calls_end(struct unit_calls *calls);

/* Returns the context hash of the innermost function that the thread is in; 0: none. */
uint32_t unit_calls_context(const struct unit_calls *calls, uint32_t thread);
/* Writes all active calls of the thread, outermost first, and returns their number. */
uint32_t unit_calls_list(
	const struct unit_calls *calls, uint32_t thread, struct atomic_call out[UNIT_CALLS_MOST]);
/* Returns how the call with this number ended. Requires unit_calls_end(). */
enum unit_ending unit_calls_ending(const struct unit_calls *calls, uint32_t activation);
