#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/platform/x86.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/hot_state.h"
#include "platform/platform.h"

/* The kernel never chooses this range, so the runtime's mappings do not move the program's.
 * Every sanitizer treats it as program memory. */
#define RANGE_START UINT64_C(0x7a0000000000)
#define RANGE_END UINT64_C(0x7c0000000000)
/* The kernel would merge adjacent mappings in /proc/self/maps. */
#define GAP_BYTES ((size_t)64 * 1024)
#define PAGE_BYTES ((size_t)4096)

/* Small shared blocks lie in one mapping, because each mapping makes a fork slower. */
#define SMALL_BYTES ((size_t)32 * 1024)
#define SMALL_RANGE_BYTES ((uint64_t)256 * 1024)

static HOT_STATE struct platform_range *range;

static long memory_map_at(uint64_t start, size_t bytes, int flags)
{
	return platform_call(SYS_mmap, start, bytes, PROT_READ | PROT_WRITE,
		MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

void platform_keep_range(struct platform_range *shared)
{
	if (range)
		return;
	range = shared;
	range->next = RANGE_START;
	range->next_small = range->end_small = 0;
}

/* The counters survive a rewind to a checkpoint. */
static bool memory_has_range(void)
{
	long start;

	if (range)
		return true;
	start = memory_map_at(RANGE_END - PAGE_BYTES, sizeof *range, MAP_SHARED);
	if (!platform_failed(start))
		platform_keep_range((struct platform_range *)start);
	return range;
}

static uint64_t memory_take_address(size_t pages)
{
	uint64_t address;

	if (!memory_has_range())
		return 0;
	address = __atomic_fetch_add(&range->next, pages + GAP_BYTES, __ATOMIC_RELAXED);
	/* If the range is full, the kernel chooses. */
	return address + pages + GAP_BYTES > RANGE_END ? 0 : address;
}

/* Returns 0 if the block does not fit. */
static uint64_t memory_take_small(size_t pages)
{
	uint64_t address;
	long start;

	if (!memory_has_range())
		return 0;
	if (!range->end_small) {
		start = memory_map_at(
			memory_take_address(SMALL_RANGE_BYTES), SMALL_RANGE_BYTES, MAP_SHARED);
		if (platform_failed(start))
			return 0;
		range->next_small = (uint64_t)start;
		range->end_small = (uint64_t)start + SMALL_RANGE_BYTES;
	}
	address = __atomic_fetch_add(&range->next_small, pages, __ATOMIC_RELAXED);
	return address + pages <= range->end_small ? address : 0;
}

void *platform_map(size_t bytes, bool is_shared)
{
	const size_t pages = (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	uint64_t small = is_shared && pages <= SMALL_BYTES ? memory_take_small(pages) : 0;
	long start;

	if (small)
		return (void *)small;
	start = memory_map_at(
		memory_take_address(pages), bytes, is_shared ? MAP_SHARED : MAP_PRIVATE);
	return platform_failed(start) ? NULL : (void *)start;
}

void platform_unmap(void *start, size_t bytes)
{
	(void)platform_call(SYS_munmap, start, bytes); /* our own mapping: cannot fail */
}

void platform_seal(void *start, size_t bytes)
{
	(void)platform_call(SYS_mprotect, start, bytes, PROT_READ);
}

void platform_unseal(void *start, size_t bytes)
{
	(void)platform_call(SYS_mprotect, start, bytes, PROT_READ | PROT_WRITE);
}

bool platform_owns(const void *address)
{
	return (uintptr_t)address - RANGE_START < RANGE_END - RANGE_START;
}

/* Reads memory through /proc/self/mem, for containers that forbid process_vm_readv(). */
static bool memory_read_file(const void *from, void *to, size_t bytes)
{
	const long file =
		platform_call(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDONLY | O_CLOEXEC);
	long got;

	if (platform_failed(file))
		return false;
	got = platform_call(SYS_pread64, file, to, bytes, from);
	(void)platform_call(SYS_close, file);
	return got == (long)bytes;
}

bool platform_read(const void *from, void *to, size_t bytes)
{
	struct iovec local = {.iov_base = to, .iov_len = bytes};
	struct iovec remote = {.iov_base = (void *)(uintptr_t)from, .iov_len = bytes};
	const long got = platform_call(
		SYS_process_vm_readv, platform_call(SYS_getpid), &local, 1L, &remote, 1L, 0L);

	if (got == -EPERM || got == -ENOSYS)
		return memory_read_file(from, to, bytes);
	return got == (long)bytes;
}

/* Sixteen and 32 bytes that one instruction copies. They need no alignment, and the compiler must assume that
 * they overlap with objects of any type (may_alias). */
typedef long long memory_block __attribute__((vector_size(16), aligned(1), may_alias));
typedef long long memory_wide __attribute__((vector_size(32), aligned(1), may_alias));

#define WIDE_BYTES 128

/* The string instruction takes a quarter longer, and fifteen times as long on some processors if `from` lies up to 64
 * bytes below `to`, modulo a page. The last iteration overlaps with the one before. */
__attribute__((target("avx"))) static void memory_copy_wide(
	char *to, const char *from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += WIDE_BYTES) {
		const size_t address = bytes - at < WIDE_BYTES ? bytes - WIDE_BYTES : at;
		const memory_wide *source = (const memory_wide *)(from + address);
		memory_wide *target = (memory_wide *)(to + address);
		const memory_wide a = source[0], b = source[1], c = source[2], d = source[3];

		target[0] = a;
		target[1] = b;
		target[2] = c;
		target[3] = d;
	}
}

void platform_copy(void *to, const void *from, size_t bytes)
{
	memory_block *target = to;
	const memory_block *source = from;

	if (bytes >= WIDE_BYTES && CPU_FEATURE_ACTIVE(AVX)) {
		memory_copy_wide(to, from, bytes);
		return;
	}
	for (; bytes >= 64; bytes -= 64, target += 4, source += 4) {
		memory_block a = source[0];
		memory_block b = source[1];
		memory_block c = source[2];
		memory_block d = source[3];

		target[0] = a;
		target[1] = b;
		target[2] = c;
		target[3] = d;
	}
	__asm__ volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}
