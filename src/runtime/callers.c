/*
 * Who called the caller: for traced runs, where a call into us comes from a wrapper that was not
 * inlined. Follows frame pointers from our own frames, which have them, through the interposed
 * function (recognised by its return address, the site) into the target's, which may not: every
 * word is read through the kernel, so that garbage ends the walk and nothing else.
 *
 * Runs in the moving thread, for a thread that has announced its op.
 */
#include <sys/syscall.h>
#include <sys/uio.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"

/* Our own frames below the interposed function are fewer. */
#define CALLERS_FRAMES_MAX 24
/* Place of rbp in the frame that a context switch leaves; see platform/context.S. */
#define SAVED_RBP 6

struct call_frame {
	uint64_t outer; /* frame pointer of the caller */
	uint64_t return_address;
};

static bool callers_read(uint64_t address, void *to, size_t size)
{
	struct iovec local = {.iov_base = to, .iov_len = size};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};

	return platform_call(SYS_process_vm_readv, platform_call(SYS_getpid), &local, 1, &remote, 1,
		       0) == (long)size;
}

/* Innermost frame pointer of the thread: the caller's own, or what its suspension saved. */
static uint64_t callers_start(const struct engine_thread *thread)
{
	const uint64_t *saved = thread->context.stack_pointer;
	uint64_t start;

	if (thread == engine_current())
		return (uint64_t)(uintptr_t)__builtin_frame_address(0);
	if (!saved || !callers_read((uint64_t)(uintptr_t)(saved + SAVED_RBP), &start, sizeof start))
		return 0;
	return start;
}

void runtime_note_callers(
	const struct engine_thread *thread, uint64_t site, uint64_t *callers, unsigned count)
{
	uint64_t at = callers_start(thread);
	bool is_past_site = false;
	struct call_frame frame;

	for (unsigned i = 0; i < CALLERS_FRAMES_MAX && count && at; i++) {
		if (!callers_read(at, &frame, sizeof frame))
			return;
		if (is_past_site) {
			*callers++ = frame.return_address;
			count--;
		}
		is_past_site |= frame.return_address == site;
		/* Stacks grow downwards: an outer frame lies above. */
		if (frame.outer <= at)
			return;
		at = frame.outer;
	}
}
