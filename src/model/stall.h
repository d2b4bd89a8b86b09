/*
 * A stall: a machine keeps threads from running while time passes, so that a sleep or timed wait
 * ends although other threads could move. A schedule marks the step at which a
 * stall ends (SEGMENT_STALLS). The runtime records here which threads a run stalls, and for how long.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

/* The limit of the stalls of a run, if any wait may end early. */
#define STALL_ANY UINT64_MAX
/* Standard limit of all stalls of a run together. The limit is longer than most sleeps that a test
 * uses as synchronisation, and shorter than a generous limit of a wait. */
#define STALL_STANDARD_NS UINT64_C(2000000000)

/* A failure depends on time if its stalls together are longer than this. Any machine delays a
 * thread by some microseconds. */
#define STALL_NOTABLE_NS UINT64_C(10000)

/* One run in STALL_RUNS has stalls, unless any wait may end early in every run. */
#define STALL_RUNS 5

#define STALLS_MOST 8	     /* recorded stalls of a run */
#define STALL_THREADS_MOST 4 /* recorded threads of a stall */

struct stalled_thread {
	struct thread_id thread;
	uint16_t op; /* enum op_kind of its pending op */
	uint32_t reserved;
	uint64_t site;	     /* location of its pending op */
	uint64_t last_moved; /* equal in consecutive stalls: the thread did not move in between */
};

struct stall {
	struct thread_id waiter; /* its wait ends */
	uint16_t op;		 /* enum op_kind of that wait */
	uint32_t thread_count;	 /* valid entries in threads[] */
	uint64_t site;		 /* location of that wait */
	uint64_t duration_ns;
	struct stalled_thread threads[STALL_THREADS_MOST];
};

struct stalls {
	uint32_t count;	       /* may exceed the number of items[] */
	uint32_t thread_count; /* sum of the stalled threads of all stalls */
	uint64_t total_ns;
	struct stall items[STALLS_MOST];
};

static inline uint32_t stalls_recorded(const struct stalls *stalls)
{
	return stalls->count < STALLS_MOST ? stalls->count : STALLS_MOST;
}
