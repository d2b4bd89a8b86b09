#include "runtime/code_memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "runtime/runtime.h"
#include "runtime/undo.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define PAGE_BYTES UINT64_C(4096)
#define DISTANCE (UINT64_C(64) << 20) /* of the first attempt below a module */
#define HEAP (UINT64_C(1) << 30)      /* space above a module, where the heap may grow */
#define STEP (UINT64_C(16) << 20)
#define REACH (UINT64_C(7) << 28) /* of jumps, minus room for the module */
#define LOWEST UINT64_C(0x10000)

/* Returns NULL and sets *is_refused to false if the range is in use. */
static unsigned char *code_memory_try(uintptr_t at, size_t bytes, int protection, bool *is_refused)
{
	const long arguments[6] = {(long)at, (long)bytes, protection,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0};
	const long start = platform_call(SYS_mmap, arguments[0], arguments[1], arguments[2],
		arguments[3], arguments[4], arguments[5]);

	*is_refused = platform_failed(start) && start != -EEXIST;
	if (platform_failed(start))
		return NULL;
	if ((uintptr_t)start != at) { /* an old kernel ignores the flag */
		platform_unmap((void *)start, bytes);
		return NULL;
	}
	runtime_note_call(SYS_mmap, arguments, start); /* of a module that a run loads */
	return (unsigned char *)start;
}

unsigned char *code_memory_map(uintptr_t start, uintptr_t end, size_t bytes, int protection)
{
	const uintptr_t first = start & ~(PAGE_BYTES - 1);
	const uintptr_t last = (end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	bool is_refused = false;
	unsigned char *found = NULL;

	bytes = (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	for (uintptr_t away = DISTANCE + bytes;
		!found && !is_refused && away < REACH && first > away + LOWEST; away += STEP)
		found = code_memory_try(first - away, bytes, protection, &is_refused);
	for (uintptr_t away = HEAP; !found && !is_refused && away + bytes < REACH; away += STEP)
		found = code_memory_try(last + away, bytes, protection, &is_refused);
	return found;
}

bool code_memory_open(uintptr_t first, uintptr_t end, bool is_open)
{
	const uintptr_t start = first & ~(PAGE_BYTES - 1);
	const uintptr_t bytes = ((end + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1)) - start;

	return !platform_failed(platform_call(
		SYS_mprotect, start, bytes, PROT_READ | PROT_EXEC | (is_open ? PROT_WRITE : 0)));
}

void code_memory_write_branch(
	unsigned char *code, unsigned char opcode, const unsigned char *target)
{
	const int32_t distance = (int32_t)(target - (code + BRANCH_BYTES));

	code[0] = opcode;
	/* platform_copy() would use vector registers, which the thunk has not saved. */
	__asm__ volatile("movl %0, 1(%1)" : : "r"(distance), "r"(code) : "memory");
}
