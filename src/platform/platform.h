/*
 * Everything that raddle wants of the operating system and the processor: Linux on x86-64.
 * Nothing else in the tree issues a system call from inside a target or touches registers.
 *
 * System calls issued here come from one section of code (raddle_syscalls), which is the range that
 * Syscall User Dispatch lets through: a raw call made through this header is never trapped.
 * Runs in both halves; the functions keep no state.
 */
#ifndef RADDLE_PLATFORM_PLATFORM_H
#define RADDLE_PLATFORM_PLATFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- raw system calls: return the kernel's value, errors as -errno ---- */

long platform_syscall6(long number, long a, long b, long c, long d, long e, long f);

#define PLATFORM_SYSCALL_ARGS(number, a, b, c, d, e, f, ...)                                       \
	platform_syscall6(                                                                         \
		(number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
/* platform_call(SYS_write, 1, "x", 1): missing arguments are 0. */
#define platform_call(...) PLATFORM_SYSCALL_ARGS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

static inline bool platform_failed(long result)
{
	return (unsigned long)result > -4096UL;
}

/* First and one past the last byte of the section whose system calls are never trapped. */
extern const char platform_syscalls_start[];
extern const char platform_syscalls_end[];

/* The signal return trampoline inside that section, for SA_RESTORER of every handler. */
void platform_signal_return(void);

/* Sets *word to 1, wakes one waiter of it and ends this kernel thread, touching no stack after. */
void platform_thread_vanish(uint32_t *word) __attribute__((noreturn));

/*
 * From the handler of a trapped clone or clone3 that gives the child its own stack: repeats it with the
 * trapped registers (gregs of the signal context). The child continues in the trapped code, the parent
 * gets the result.
 */
long platform_clone_resume(long number, const void *registers);

/*
 * Continues after a trapped clone as the kernel starts a new thread: with the registers (gregset_t)
 * of the call, on another stack and with 0 as the result of clone.
 */
void platform_thread_begin(const void *registers, uintptr_t stack) __attribute__((noreturn));

/* ---- memory ---- */

/* Anonymous pages, zeroed. Shared pages survive a rewind and are seen by forked children. NULL:
 * none. */
void *platform_map(size_t bytes, bool is_shared);
void platform_unmap(void *start, size_t bytes);

/*
 * Copies memory of this process that may be unmapped. False: some of it is unmapped, and `to` may
 * have been filled in part.
 */
bool platform_read(const void *from, void *to, size_t bytes);

/*
 * Copying and clearing without libc: memcpy may be a sanitizer's, which checks what it touches, and a
 * rewind touches everything.
 */
void platform_copy(void *to, const void *from, size_t bytes);

static inline void platform_clear(void *start, size_t bytes)
{
	__asm__ volatile("rep stosb" : "+D"(start), "+c"(bytes) : "a"(0) : "memory");
}

/* A line of /proc/self/maps. */
struct platform_mapping {
	char *start, *end;
	bool is_writable; /* and readable */
	bool is_executable;
	bool is_private;
	bool is_file; /* of a file; else anonymous */
};

/* Visits the mappings of this process as they were at the call. false: a visitor said stop, or no list. */
typedef bool platform_visit_mapping(void *argument, const struct platform_mapping *mapping);
bool platform_each_mapping(platform_visit_mapping *visit, void *argument);

/* ---- futex ---- */

/* Sleeps while *word == expected, at most timeout_ns (UINT64_MAX: no limit). May wake spuriously.
 */
void platform_futex_wait(
	const uint32_t *word, uint32_t expected, uint64_t timeout_ns, bool is_shared);
void platform_futex_wake(const uint32_t *word, uint32_t count, bool is_shared);

/* ---- time: the real clocks, past every interposition ---- */

uint64_t platform_monotonic_ns(void);
uint64_t platform_cpu_ns(void); /* processor time of this process */

/* The processor's time stamp: the same on all processors, in steps of less than a nanosecond or so. */
static inline uint64_t platform_time_stamp(void)
{
	return __builtin_ia32_rdtsc();
}

/* ---- user-level contexts (context.S) ---- */

/*
 * A suspended flow of control: its stack pointer and its thread-local base (FS). Callee-saved
 * registers and the floating-point control words lie on its stack.
 */
struct context {
	void *stack_pointer;
	uintptr_t thread_base;
};

/* Suspends the caller into `from` and resumes `to`. Two forms: wrfsbase, or arch_prctl without
 * FSGSBASE. */
void context_switch_fsgsbase(struct context *from, const struct context *to);
void context_switch_prctl(struct context *from, const struct context *to);
/* As above without touching FS: both contexts share one thread-local base. */
void context_switch_plain(struct context *from, const struct context *to);

/* Makes a context that calls entry(argument) on a fresh stack; entry must not return. */
void context_make(struct context *context, void *stack_top, uintptr_t thread_base,
	void (*entry)(void *), void *argument);

/* The thread-local base of the caller (read through %fs:0x10, which also works under valgrind). */
uintptr_t context_thread_base(void);
/* Changes it; the caller must know what it does until it is changed back. */
void context_set_thread_base(uintptr_t base);
/* May user code write FS (FSGSBASE enabled by the kernel)? */
bool context_has_fsgsbase(void);

#endif
