/*
 * Call stacks of sites, for traced runs. The walk follows frame pointers through the runtime's own
 * frames, and unwinding rules (frames.h) through the target's. A damaged stack may lead to any
 * address, and a sanitizer may handle faults. The walk therefore reads words through the kernel,
 * except on the page read last.
 *
 * Runs in the moving thread, for a thread that has announced its op.
 */
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "runtime/callers/frames.h"
#include "runtime/callers.h"
#include "runtime/runtime.h"

/* Maximum number of the runtime's own frames on a stack. */
#define CALLERS_FRAMES_MAX 24
/* Maximum distance between two frame pointers. A larger value is no frame pointer. */
#define CALLERS_FRAME_MOST (UINT64_C(1) << 24)
/* Position of rbp in the frame that a context switch saves; see platform/context.S. */
#define SAVED_RBP 6

struct call_frame {
	uint64_t outer;
	uint64_t return_address;
};

#define PAGE_BYTES 4096

static bool callers_read(uint64_t address, void *to, size_t size)
{
	return platform_read((const void *)(uintptr_t)address, to, size);
}

/* Reads a frame. *page: the page read last, which is readable; each read updates it. */
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

/* Returns the address of the frame at which a walk of the thread's stack begins: for the current thread
 * the frame of this function, for another thread the one that was saved when it was suspended, or 0 if
 * none was. *page is set to a page of that stack which can be read without a fault. */
static uint64_t callers_start(const struct engine_thread *thread, uint64_t *page)
{
	const uint64_t *saved = thread->context.stack_pointer;
	const bool is_current = thread == engine_current();
	const uint64_t current = (uint64_t)(uintptr_t)__builtin_frame_address(0);

	*page = (is_current ? current : (uint64_t)(uintptr_t)saved) / PAGE_BYTES;
	if (is_current)
		return current;
	return saved ? saved[SAVED_RBP] : 0;
}

bool runtime_is_own_code(uint64_t address)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden")));
	extern const char etext[] __attribute__((visibility("hidden")));

	return address - (uint64_t)(uintptr_t)__ehdr_start <
	       (uint64_t)((uintptr_t)etext - (uintptr_t)__ehdr_start);
}

/* Reads a word, as callers_read_frame() does. */
static bool callers_read_word(uint64_t address, uint64_t *word, void *page)
{
	uint64_t *readable = page;

	if (address / PAGE_BYTES != *readable && !callers_read(address, word, sizeof *word))
		return false;
	memcpy(word, (const void *)(uintptr_t)address, sizeof *word);
	*readable = address / PAGE_BYTES;
	return true;
}

/* Reads the frame that a signal interrupted. `context`: the ucontext_t that the kernel pushed. */
static bool callers_read_interrupted(uint64_t context, struct frame *frame)
{
	greg_t registers[NGREG];

	if (!callers_read(
		    context + offsetof(ucontext_t, uc_mcontext.gregs), registers, sizeof registers))
		return false;
	*frame = (struct frame){.return_address = (uint64_t)registers[REG_RIP],
		.stack_pointer = (uint64_t)registers[REG_RSP],
		.base_pointer = (uint64_t)registers[REG_RBP]};
	return true;
}

/* Finds the first frame outside the runtime, whose own functions keep frame pointers. Returns false
 * if there is none. */
static bool callers_find_outside(uint64_t at, uint64_t *page, struct frame *frame)
{
	struct call_frame own;

	for (unsigned i = 0; i < CALLERS_FRAMES_MAX && at; i++) {
		if (!callers_read_frame(at, &own, page))
			return false;
		/* A trapped system call: the kernel's frame lies above the return address. */
		if (own.return_address == (uint64_t)(uintptr_t)platform_signal_return)
			return callers_read_interrupted(at + sizeof own, frame);
		if (!runtime_is_own_code(own.return_address)) {
			*frame = (struct frame){.return_address = own.return_address,
				.stack_pointer = at + sizeof own,
				.base_pointer = own.outer};
			return true;
		}
		if (own.outer <= at || own.outer - at > CALLERS_FRAME_MOST || own.outer % 8)
			return false;
		at = own.outer;
	}
	return false;
}

/* Returns an address in the innermost frame, or below it; 0 without frames. frames[i]: the distance from there to the
 * stack pointer behind the return to callers[i]; `frames` may be NULL. */
static uint64_t callers_walk(const struct engine_thread *thread, uint64_t site, bool is_access,
	uint64_t *callers, uint32_t *frames, unsigned count)
{
	uint64_t page;
	const uint64_t start = callers_start(thread, &page);
	uint64_t stack;
	struct frame frame;

	if (!callers_find_outside(start, &page, &frame))
		return 0;
	/* site_thunk.S pushes no return address for an access; it leaves the site's code with that
	 * frame pointer. */
	if (is_access)
		frame = (struct frame){
			.return_address = site + 1, .base_pointer = frame.base_pointer};
	/* The site of a free lies within the call instruction, one byte before the return address. */
	for (unsigned i = 0; !is_access && frame.return_address - site > 1; i++)
		if (i == CALLERS_FRAMES_MAX || !frame_leave(&frame, callers_read_word, &page))
			return 0;
	stack = frame.stack_pointer ? frame.stack_pointer : start;
	for (unsigned i = 0; i < count && frame_leave(&frame, callers_read_word, &page); i++) {
		callers[i] = frame.return_address;
		if (frames)
			frames[i] = (uint32_t)(frame.stack_pointer - stack);
	}
	return stack;
}

uint64_t runtime_newest_frame(const struct engine_thread *thread)
{
	uint64_t page;
	const uint64_t start = callers_start(thread, &page);
	struct frame frame;

	return callers_find_outside(start, &page, &frame) ? frame.stack_pointer : 0;
}

void runtime_note_callers(
	const struct engine_thread *thread, uint64_t site, uint64_t *callers, unsigned count)
{
	(void)callers_walk(thread, site, false, callers, NULL, count);
}

void runtime_note_calls(
	const struct engine_thread *thread, bool is_access, struct trace_event *event)
{
	event->stack = callers_walk(
		thread, event->site, is_access, event->callers, event->frames, TRACE_CALLERS);
}
