/*
 * Calls that go straight to the kernel are no scheduling points: file writes, path look-ups and
 * output carry no information to the program's other threads. But a thread may repeat such calls
 * until another thread stops it, by a flag that raddle does not see or by cancellation. So a thread
 * that makes many of them without a step yields. The calls are counted, not timed, and every run
 * yields at the same call.
 *
 * Runs in the target's moving thread, after the call. The state is restored with the run.
 */
#include "runtime/interpose.h"
#include "runtime/runtime.h"

/* Copying a file or printing a page needs fewer calls. */
#define CALLS_BEFORE_YIELD 256

static struct {
	uint64_t step; /* engine_step() at the last call */
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
