/*
 * Calls that go straight to the kernel are no scheduling points: file writes, path look-ups and
 * output carry no information between threads. A thread may nevertheless repeat such calls until
 * another thread stops it, by a flag that raddle does not see or by cancellation. A thread that
 * makes many calls without a step therefore yields. The calls are counted, not timed: every run
 * yields at the same call. The state is restored with the run.
 */
#include "runtime/interpose.h"

/* Number of calls without a step after which the thread yields. Copying a file or printing a page
 * needs fewer. */
#define CALLS_BEFORE_YIELD 256

static struct {
	uint64_t step; /* engine's step at the last call */
	uint32_t calls;
} passing;

void runtime_pass(uint64_t site)
{
	if (!engine_is_live())
		return;
	if (passing.step != engine_step()) {
		passing.step = engine_step();
		passing.calls = 0;
	}
	if (++passing.calls < CALLS_BEFORE_YIELD)
		return;
	engine_clock_note_calls(CALLS_BEFORE_YIELD);
	runtime_yield(site);
}
