/*
 * The calls that each thread of a run is in, event by event: of functions that the trace tells
 * (runtime/contexts.h), and of those that were inlined into them, told by debug information.
 */
#ifndef RADDLE_ANALYSES_UNIT_CALLS_H
#define RADDLE_ANALYSES_UNIT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyses/atomic_sets.h"
#include "model/event.h"

#define UNIT_CALLS_MOST 256

enum unit_ending {
	UNIT_RETURNED,
	UNIT_LEFT, /* by an exception, longjmp or the end of its thread */
	UNIT_OPEN  /* the run ended before */
};

struct unit_calls;

/* `sets` must outlive it. */
struct unit_calls *unit_calls_new(struct atomic_sets *sets, uint32_t thread_count);
void unit_calls_free(struct unit_calls *calls);

/* The next event of the run. True: it only tells that a function is entered or left. */
bool unit_calls_add(struct unit_calls *calls, const struct trace_event *event);
/* The run is over. */
void unit_calls_end(struct unit_calls *calls);

/* Of the innermost function that the thread is in; 0: it is in none. */
uint32_t unit_calls_context(const struct unit_calls *calls, uint32_t thread);
/* All calls that the thread is in, outermost first; how many. */
uint32_t unit_calls_list(
	const struct unit_calls *calls, uint32_t thread, struct atomic_call out[UNIT_CALLS_MOST]);
/* How the call with this number ended; after unit_calls_end(). */
enum unit_ending unit_calls_ending(const struct unit_calls *calls, uint32_t activation);

#endif
