/*
 * Who called the caller: for traced runs, where a call into us comes from a wrapper that was not
 * inlined. Follows frame pointers from our own frames, which have them, through the interposed
 * function (recognised by its return address, the site) into the target's, which may not: every
 * word is read with care, so that garbage ends the walk and nothing else.
 *
 * Runs in the moving thread, for a thread that has announced its op.
 */
#include <string.h>

#include "runtime/guarded_read.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"

/* Our own frames below the interposed function are fewer. */
#define CALLERS_FRAMES_MAX 24
/* Bytes of a frame: what is more is no frame pointer. */
#define CALLERS_FRAME_MOST (UINT64_C(1) << 24)
/* Place of rbp in the frame that a context switch leaves; see platform/context.S. */
#define SAVED_RBP 6

struct call_frame {
	uint64_t outer; /* frame pointer of the caller */
	uint64_t return_address;
};

/* Whole words. A call of the kernel for each would be most of what a traced run costs. */
static bool callers_read(uint64_t address, void *to, size_t size)
{
	char *out = to;

	for (size_t done = 0; done < size; done += sizeof(uint64_t)) {
		uint64_t word;

		if (!guarded_read((const void *)(uintptr_t)(address + done), sizeof word, &word))
			return false;
		memcpy(out + done, &word, sizeof word);
	}
	return true;
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

/*
 * Does a call end right before this address? What lies where a frame pointer was not kept may be any
 * number, a process id among them, which would make equal runs give different traces.
 */
static bool callers_is_return_address(uint64_t address)
{
	static const unsigned char indirect_lengths[] = {2, 3, 4, 6, 7};
	unsigned char bytes[8]; /* before it */
	const unsigned char *code = bytes + 1;

	if (!callers_read(address - sizeof bytes, bytes, sizeof bytes))
		return false;
	if (code[2] == 0xe8) /* call rel32 */
		return true;
	for (unsigned i = 0; i < sizeof indirect_lengths; i++) {
		const unsigned char *start = bytes + sizeof bytes - indirect_lengths[i];

		if (start[0] == 0xff && (start[1] & 0x38) == 0x10) /* call r/m64 */
			return true;
	}
	return false;
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
			if (!callers_is_return_address(frame.return_address))
				return;
			*callers++ = frame.return_address;
			count--;
		}
		is_past_site |= frame.return_address == site;
		/* Stacks grow downwards: an outer frame lies above, and not far. */
		if (frame.outer <= at || frame.outer - at > CALLERS_FRAME_MOST || frame.outer % 8)
			return;
		at = frame.outer;
	}
}
