/* The interface to Linux on x86-64. Inside a target only this folder issues system calls and
 * accesses registers; the command uses it, too. The system calls lie in one section of code
 * (raddle_syscalls), whose address range Syscall User Dispatch excludes: they are never trapped.
 * The only state is the address counter of platform_map(). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

long platform_syscall6(long number, long a, long b, long c, long d, long e, long f);

#define PLATFORM_SYSCALL_ARGS(number, a, b, c, d, e, f, ...)                                       \
	platform_syscall6(                                                                         \
		(number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* Example: platform_call(SYS_write, 1, "x", 1). Missing arguments are 0. */
#define platform_call(...) PLATFORM_SYSCALL_ARGS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* The system call's name, as in "futex"; NULL: not known when raddle was built. */
const char *platform_call_name(long number);

static inline bool platform_failed(long result)
{
	return (unsigned long)result > -4096UL;
}

/* Bounds of the section whose system calls are never trapped. */
extern const char platform_syscalls_start[];
extern const char platform_syscalls_end[];

/* Inside that section; every handler needs it as SA_RESTORER. */
void platform_signal_return(void);

/* Forks without SIGCHLD. The word from which glibc reads the id of its thread is correct in the child. */
long platform_fork(void);

/* Forks a child that only keeps the memory of this moment: it closes its descriptors, sleeps, and
 * dies with the calling kernel thread. It has no exit signal. The caller blocks all signals. */
long platform_fork_idle(void);

/* Sets *word to 1, wakes one waiter and ends this kernel thread, without use of its stack. */
void platform_thread_vanish(uint32_t *word) __attribute__((noreturn));

/* `registers`: gregset_t of the SIGSYS handler. Repeats a trapped clone or clone3 whose child
 * has its own stack: the child continues after the trapped instruction, the parent returns from
 * here. */
long platform_clone_resume(long number, const void *registers);

/* Continues as the child of a trapped clone: with these registers, on this stack, with result 0. */
void platform_thread_begin(const void *registers, uintptr_t stack) __attribute__((noreturn));

/* Where platform_map() maps next. The memory is shared, so it survives a rewind and a fork. */
struct platform_range {
	uint64_t next;			/* address of the next mapping */
	uint64_t next_small, end_small; /* the mapping of small shared blocks; 0: not made yet */
};

/* Keeps the addresses of mappings in this memory. Without effect after the first platform_map(), which otherwise maps
 * such memory. */
void platform_keep_range(struct platform_range *shared);

/* Maps zeroed anonymous pages; NULL if the kernel refuses. Shared pages survive a rewind and a
 * fork. */
void *platform_map(size_t bytes, bool is_shared);
void platform_unmap(void *start, size_t bytes);
/* Forbids writes to a mapping of platform_map(); without effect where the kernel refuses. */
void platform_seal(void *start, size_t bytes);
void platform_unseal(void *start, size_t bytes);
/* Returns whether the address lies in the range that only platform_map() uses. */
bool platform_owns(const void *address);

/* Copies memory of this process. Returns false if a part is unmapped; `to` may be filled in part. */
bool platform_read(const void *from, void *to, size_t bytes);

/* Copies memory without libc: a sanitizer's memcpy checks addresses, and a rewind copies memory
 * that the check rejects. */
void platform_copy(void *to, const void *from, size_t bytes);

static inline void platform_clear(void *start, size_t bytes)
{
	__asm__ volatile("rep stosb" : "+D"(start), "+c"(bytes) : "a"(0) : "memory");
}

struct platform_mapping {
	char *start, *end;
	bool is_writable;
	bool is_private;
	bool is_file; /* backed by a file, not anonymous */
};

/* Calls `visit` for each mapping. Returns false if `visit` returned false, or the list is
 * unreadable. */
typedef bool platform_visit_mapping(void *argument, const struct platform_mapping *mapping);
bool platform_each_mapping(platform_visit_mapping *visit, void *argument);

/* Sleeps while *word == expected, at most timeout_ns (UINT64_MAX: no limit), or spuriously. */
void platform_futex_wait(
	const uint32_t *word, uint32_t expected, uint64_t timeout_ns, bool is_shared);
void platform_futex_wake(const uint32_t *word, bool is_shared);

uint64_t platform_monotonic_ns(void);

/* A suspended thread; its other registers lie on its stack. */
struct context {
	void *stack_pointer;
	uintptr_t thread_base;
};

/* Suspends the caller into `from`. arch_prctl serves kernels without FSGSBASE. */
void context_switch_fsgsbase(struct context *from, const struct context *to);
void context_switch_prctl(struct context *from, const struct context *to);
/* Switches without writing FS: both contexts share one thread-local base. */
void context_switch_plain(struct context *from, const struct context *to);

/* Makes a context that calls entry(argument) on the given stack; entry must not return. */
void context_make(struct context *context, void *stack_top, uintptr_t thread_base,
	void (*entry)(void *), void *argument);

/* Returns the caller's thread-local base, read from %fs:0x10, which also works under valgrind. */
uintptr_t context_thread_base(void);
/* Sets the thread-local base. Until the base is changed back, thread-local variables are those of
 * another thread. */
void context_set_thread_base(uintptr_t base);
bool context_has_fsgsbase(void);
