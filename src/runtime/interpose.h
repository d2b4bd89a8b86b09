/*
 * For every interpose_<family>.c: how an interposed function is written.
 *
 * Ground rules of the guest: no stdio, no malloc, no exit, no libc call that may take a lock or that we
 * interpose ourselves (system calls go through platform_call); errno is untouched unless POSIX says so;
 * a function may be called before our constructor, from another library's constructor, from a signal
 * handler and during pthread_exit. File-scope state lives in one commented struct per file.
 *
 * Interposed functions never forward synchronisation to glibc, also where no command drives us: then
 * the engine schedules without preemptions and records nothing.
 */
#ifndef RADDLE_RUNTIME_INTERPOSE_H
#define RADDLE_RUNTIME_INTERPOSE_H

#include <errno.h>
#include <stdint.h>

#include "engine/engine.h"
#include "runtime/focus.h"
#include "runtime/library_code.h"

/* Visible to the target. Everything else in libraddle.so is hidden. */
#define EXPORT __attribute__((visibility("default")))

/* Where the target called: must be expanded in the interposed function itself. */
#define RETURN_SITE ((uint64_t)(uintptr_t)__builtin_return_address(0))
/* Likewise, or where the user's code called the function of the C++ library that called. */
#define CALL_SITE                                                                                  \
	(__builtin_expect(library_code_is_there, 0)                                                \
			? library_code_caller(RETURN_SITE, __builtin_frame_address(0))             \
			: RETURN_SITE)

/* Last thing of every interposed function of threads that are under control: see focus.h. */
#ifdef RADDLE_HAS_POINTS
#define LEAVE_AT_RETURN __attribute__((cleanup(focus_left), unused))
#else
#define LEAVE_AT_RETURN __attribute__((unused))
#endif

/*
 * First statement of every interposed function. Sets up the runtime before its first use. Refuses raw threads
 * where these may run beside the controlled threads.
 */
#define ENTER()                                                                                    \
	if (__builtin_expect(!runtime_is_up, 0))                                                   \
		runtime_enter(RETURN_SITE);                                                        \
	const char interposed LEAVE_AT_RETURN = 0

/* False: the next interposed call takes the slow path runtime_enter() (set-up, raw threads, spin.c). */
extern bool runtime_is_up;
void runtime_set_up(void);
/* What ENTER() does while runtime_is_up is false. */
void runtime_enter(uint64_t site);

/* The next definition of a function after ours (glibc's). Never NULL on return. */
void *runtime_next_symbol(const char *name);
/* Likewise; NULL: there is none. */
void *runtime_symbol_behind(const char *name);
/* Any definition of a symbol in the process, NULL: there is none. */
void *runtime_symbol(const char *name);
/* What we export under this name, NULL: nothing. */
void *runtime_own_symbol(const char *name);

/* A function behind our interposition, found once. Set-up finds all of them: calls then cost no look-up. */
struct symbol_slot {
	const char *name;
	void *function; /* NULL: not found yet */
};

static inline void *symbol_slot_function(struct symbol_slot *slot)
{
	/* Happens before set-up, or for a library that the program has loaded since (libstdc++). */
	if (__builtin_expect(!slot->function, 0))
		slot->function = runtime_next_symbol(slot->name);
	return slot->function;
}

/* Linked into one array of all slots. */
#define SYMBOL_SLOT(symbol)                                                                        \
	__extension__({                                                                            \
		static struct symbol_slot slot_                                                    \
			__attribute__((section("raddle_symbols"), used)) = {.name = (symbol)};     \
		&slot_;                                                                            \
	})
#define REAL(function)                                                                             \
	__extension__((__typeof__(&function))symbol_slot_function(SYMBOL_SLOT(#function)))
/* Finds the functions of all slots. Called once, by set-up. */
void runtime_find_symbols(void);

/*
 * A system call on behalf of the target: raw, never trapped, and noted for the rewind's undo log (what
 * it changed in the kernel is put back, or taints the run). Calls without effect may use platform_call.
 */
long runtime_target_call6(long number, long a, long b, long c, long d, long e, long f);
#define TARGET_CALL_ARGS(number, a, b, c, d, e, f, ...)                                            \
	runtime_target_call6(                                                                      \
		(number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define target_call(...) TARGET_CALL_ARGS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* A cheap test for EFAULT: no program maps memory in the first page. */
static inline bool interpose_is_bad_pointer(const void *pointer)
{
	return (uintptr_t)pointer < 4096;
}

/* Turns a raw result into the libc convention: -1 and errno. */
static inline long interpose_result(long raw)
{
	if (platform_failed(raw)) {
		errno = (int)-raw;
		return -1;
	}
	return raw;
}

/*
 * Cancellation is due and everything that the op held is undone: unwinds the caller with
 * PTHREAD_CANCELED (cleanup handlers, C++ destructors). Does not return.
 */
void runtime_act_on_cancel(void) __attribute__((noreturn));
/* If cancellation is pending and enabled, acts on it (for cancellation points that did not wait). */
void runtime_test_cancel(void);
/* In code of the target that is no cancellation point: only asynchronous cancellation is acted on. */
void runtime_test_cancel_anywhere(void);

/* Runs the handlers of signals that wait for this thread; whether any ran. signal.c. */
bool runtime_deliver_signals(struct engine_thread *thread);
/* engine_host.route_signals: gives process-directed signals to threads. signal.c. */
void runtime_route_signals(void);
/* Nobody is enabled: waits in the real world. fd.c. See engine_host.wait_outside. */
bool runtime_wait_outside(uint64_t deadline_ns);

/*
 * An absolute time of a clock as a virtual deadline for engine_op, and back; time.c.
 * Invalid nanoseconds are the caller's business (EINVAL).
 */
struct timespec;
uint64_t runtime_deadline(int clock_id, const struct timespec *absolute);
uint64_t runtime_deadline_after(const struct timespec *relative);

/* The caller has done something that loops do to wait: now and then it gives way, and time passes. */
void runtime_waits_in_vain(void);
/* sched_yield() by whatever way: gives way, and lets time pass for loops that wait by yielding. */
void runtime_yield(uint64_t site);
/* A call that is no scheduling point has been made: now and then its loop gives way. passing.c. */
void runtime_pass(uint64_t site);
/* Random numbers of the run. A forked child draws other numbers than its parent. */
void runtime_random_bytes(void *buffer, size_t bytes);

/*
 * This run did something that `restart` cannot undo, such as "wrote to a file (write, fd 7)". The text
 * is a literal or outlives the run. Noted once per run; rewind gives up, fork restarts may go on.
 */
void runtime_taint(const char *what, long number);
/* Likewise for what runs share even when each is forked at the first creation. */
void runtime_taint_shared(const char *what);

/*
 * Answers system calls about time, names and exec that are not in system_calls.def. False: the kernel answers the
 * call.
 */
bool runtime_emulate_time(long number, const long arguments[6], long *result); /* time.c */
/* prctl() of the caller's name: thread.c. */
bool runtime_emulate_name(const long arguments[6], long *result);
bool runtime_emulate_process(long number, const long arguments[6], long *result); /* process.c */
bool runtime_emulate_exec(long number, const long arguments[6], long *result);	  /* replace.c */

#endif
