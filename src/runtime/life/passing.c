/*
 * Calls that go straight to the kernel are no scheduling points: what is written to a file, looked up by a
 * path, or printed, tells the program's other threads nothing. But a thread may make them in a loop until
 * another one stops it, by a flag that we do not see or by cancelling it. So who has made very many with no
 * step between gives way, as one that yields. Counted, not timed: the same in every run.
 *
 * Runs in the target's moving thread, after the call and with nothing half done. Restored with the run.
 */
#include "runtime/interpose.h"
#include "runtime/runtime.h"

/* A file is copied, and a page printed, with fewer. */
#define CALLS_BEFORE_YIELD 256

static struct {
	uint64_t step; /* the engine's, when the last one passed */
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
