/*
 * Who called the caller: for traced runs, where a call into us comes from a wrapper that was not
 * inlined. Follows frame pointers from our own frames, which have them, through the interposed
 * function (recognised by its return address, the site) into the target's, which may not: every
 * word is read through the kernel, so that garbage ends the walk and nothing else; but not those of a
 * stack page that has been read before, nor code that has been looked at: that would be most of what a
 * traced run costs. (A fault of our own cannot be survived everywhere: a sanitizer may own SIGSEGV.)
 *
 * Runs in the moving thread, for a thread that has announced its op.
 */
#include <string.h>
#include <sys/syscall.h>

#include "base/hash.h"
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

#define PAGE_BYTES 4096

/* Words of a stack that are searched for the frame of a library function: those that call the runtime are small. */
#define CALLERS_LIBRARY_WORDS 24
/* Largest code size, in bytes, assumed for one function. */
#define CALLERS_FUNCTION_MOST (UINT64_C(1) << 16)

/* Verdicts about return addresses, by hash: the address, and a bit that says it is none. */
#define VERDICTS 2048
static uint64_t verdicts[VERDICTS]; /* written by the moving thread; only ever a short cut */

static bool callers_read(uint64_t address, void *to, size_t size)
{
	return platform_read((const void *)(uintptr_t)address, to, size);
}

/* `page`: one that can be read; the next one is kept there. */
static bool callers_read_frame(uint64_t address, struct call_frame *frame, uint64_t *page)
{
	if (address / PAGE_BYTES == *page && (address + sizeof *frame - 1) / PAGE_BYTES == *page) {
		memcpy(frame, (const void *)(uintptr_t)address, sizeof *frame);
		return true;
	}
	if (!callers_read(address, frame, sizeof *frame))
		return false;
	*page = address / PAGE_BYTES;
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
static bool callers_follows_call(uint64_t address)
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

static bool callers_is_return_address(uint64_t address)
{
	uint64_t *verdict = &verdicts[hash_mix(address) % VERDICTS];

	if (!address)
		return false; /* what an unused verdict looks like */
	if (*verdict >> 1 != address)
		*verdict = address << 1 | !callers_follows_call(address);
	return !(*verdict & 1);
}

/* The target of the direct call before a return address; 0: the call is indirect. */
static uint64_t callers_call_target(uint64_t return_address)
{
	unsigned char call[5];
	int32_t distance;

	if (!callers_read(return_address - sizeof call, call, sizeof call) || call[0] != 0xe8)
		return 0;
	memcpy(&distance, call + 1, sizeof distance);
	return return_address + (uint64_t)(int64_t)distance;
}

static bool callers_is_program(uint64_t address)
{
	return address - runtime.program_start < runtime.program_end - runtime.program_start;
}

/* True for code of the runtime, whose frames belong to no function of the program. */
static bool callers_is_own(uint64_t address)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern const char etext[] __attribute__((visibility("hidden")));

	return address - (uint64_t)(uintptr_t)__ehdr_start <
	       (uint64_t)((uintptr_t)etext - (uintptr_t)__ehdr_start);
}

/* True when the function that contains `site` returns to this address. Program code must keep a frame pointer. */
static bool callers_is_returned_from(uint64_t site, uint64_t return_address)
{
	const uint64_t target = callers_call_target(return_address);

	return callers_is_program(site) || (target && site - target < CALLERS_FUNCTION_MOST);
}

/*
 * True when the call before a return address leads through the program's procedure linkage table to the library function
 * that contains `site`: jmp *distance(%rip), behind endbr64 or with a bnd prefix.
 */
static bool callers_calls_library(uint64_t return_address, uint64_t site)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	const uint64_t entry = callers_call_target(return_address);
	unsigned char code[16];
	uint64_t function;
	int32_t distance;
	size_t at = 0;

	if (!entry || !callers_is_program(entry) || !callers_read(entry, code, sizeof code))
		return false;
	at += memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0;
	at += code[at] == 0xf2;
	if (code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&distance, code + at + 2, sizeof distance);
	return callers_read(
		       entry + at + 6 + (uint64_t)(int64_t)distance, &function, sizeof function) &&
	       site - function < CALLERS_FUNCTION_MOST;
}

/*
 * For a site in a library function without a frame pointer. The caller in the program is the first return address into
 * the program above the library's frame at `slot`. The program function's frame pointer is a register that the library
 * saved, or is still in place (`outer`). Returns that frame pointer; 0: none is certain.
 */
static uint64_t callers_past_library(uint64_t slot, uint64_t outer, uint64_t *caller)
{
	uint64_t words[CALLERS_LIBRARY_WORDS];
	struct call_frame frame;
	size_t found = 0;

	if (!callers_read(slot, words, sizeof words))
		return 0;
	while (found < CALLERS_LIBRARY_WORDS &&
		!(callers_is_program(words[found]) && callers_is_return_address(words[found])))
		found++;
	if (found == CALLERS_LIBRARY_WORDS)
		return 0;
	*caller = words[found];
	for (size_t i = 0; i <= found; i++) {
		const uint64_t at = i < found ? words[found - 1 - i] : outer;

		if (at > slot + found * sizeof *words && at - slot < CALLERS_FRAME_MOST &&
			at % 8 == 0 && callers_read(at, &frame, sizeof frame) &&
			callers_is_return_address(frame.return_address))
			return at;
	}
	return 0;
}

void runtime_note_callers(const struct engine_thread *thread, uint64_t site, bool is_access,
	uint64_t *callers, unsigned count)
{
	uint64_t at = callers_start(thread);
	/* Our own frame is where nothing can go wrong. */
	uint64_t page = (uint64_t)(uintptr_t)__builtin_frame_address(0) / PAGE_BYTES;
	bool is_past_site = false, is_at_site = false;
	struct call_frame frame;
	uint64_t slot = 0;

	for (unsigned i = 0; i < CALLERS_FRAMES_MAX && count && at; i++) {
		if (!callers_read_frame(at, &frame, &page))
			return;
		/* A raddle-cc access is no call: the first frame outside of the runtime is site_thunk.S's and holds no caller. */
		if (is_access && !is_past_site && !callers_is_own(frame.return_address)) {
			is_past_site = true;
			if (frame.outer <= at || frame.outer - at > CALLERS_FRAME_MOST ||
				frame.outer % 8)
				return;
			at = frame.outer;
			continue;
		}
		if (is_at_site && !(callers_is_return_address(frame.return_address) &&
					  callers_is_returned_from(site, frame.return_address))) {
			*callers = 0;
			at = count > 1 ? callers_past_library(slot, at, callers) : 0;
			if (!at) {
				/* Optimised code keeps no frame pointer: only the next caller is known. */
				if (!callers_calls_library(*callers, site))
					*callers = 0;
				return;
			}
			callers++;
			count--;
			is_at_site = false;
			continue;
		}
		is_at_site = false;
		if (is_past_site) {
			if (!callers_is_return_address(frame.return_address))
				return;
			*callers++ = frame.return_address;
			count--;
		} else if (frame.return_address == site) {
			is_past_site = is_at_site = true;
			slot = at + sizeof frame;
		}
		/* Stacks grow downwards: an outer frame lies above, and not far. */
		if (frame.outer <= at || frame.outer - at > CALLERS_FRAME_MOST || frame.outer % 8) {
			if (!is_at_site)
				return;
			frame.outer = slot; /* the library uses %rbp for other values */
		}
		at = frame.outer;
	}
}
