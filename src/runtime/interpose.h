/*
 * Rules for every file that defines interposed functions.
 *
 * The runtime is a guest in the target. Interposed functions use no stdio, no malloc, no exit, and no libc call that
 * may lock or that the runtime interposes itself. System calls go through platform_call. errno changes only where
 * POSIX says so. A function may be called before the runtime's constructor, from another library's constructor, from
 * a signal handler, and during pthread_exit. State of a file lies in one commented struct.
 *
 * An interposed function never forwards synchronisation to glibc. Without a command, the engine schedules without
 * preemptions and records nothing.
 */
#ifndef RADDLE_RUNTIME_INTERPOSE_H
#define RADDLE_RUNTIME_INTERPOSE_H

#include <errno.h>
#include <stdint.h>

#include "engine/engine.h"
#include "runtime/focus.h"
#include "runtime/library_code.h"

/* Visible to the target. All other symbols of libraddle.so are hidden. */
#define EXPORT __attribute__((visibility("default")))

/* Return address of the interposed function. Must be expanded in that function itself. */
#define RETURN_SITE ((uint64_t)(uintptr_t)__builtin_return_address(0))
/* As RETURN_SITE. If the caller is a function of the C++ library, the address where the user's
 * code called that library. */
#define CALL_SITE                                                                                  \
	(__builtin_expect(library_code_is_there, 0)                                                \
			? library_code_caller(RETURN_SITE, __builtin_frame_address(0))             \
			: RETURN_SITE)

/* Runs focus_left() at the end of every interposed function of controlled threads: see focus.h. */
#define LEAVE_AT_RETURN __attribute__((cleanup(focus_left), unused))

/* First statement of every interposed function. Sets up the runtime before its first use.
 * Refuses raw threads where these may run beside the controlled threads. */
#define ENTER()                                                                                    \
	if (__builtin_expect(!runtime_is_up, 0))                                                   \
		runtime_enter(RETURN_SITE);                                                        \
	const char interposed LEAVE_AT_RETURN = 0

/* Defines an interposed function that only returns this expression of its parameters (in brackets). */
#define INTERPOSED(type, name, parameters, ...)                                                    \
	EXPORT type name parameters                                                                \
	{                                                                                          \
		ENTER();                                                                           \
		return __VA_ARGS__;                                                                \
	}                                                                                          \
	type name parameters

/* False: the next interposed call takes the slow path runtime_enter() (set-up, raw threads, spin.c). */
extern bool runtime_is_up;
void runtime_set_up(void);
/* Slow path of ENTER(), for calls while runtime_is_up is false. */
void runtime_enter(uint64_t site);

/* The next definition of a function behind the runtime's (glibc's). Never returns NULL. */
void *runtime_next_symbol(const char *name);
/* As runtime_next_symbol(); NULL: no such definition. */
void *runtime_symbol_behind(const char *name);
/* Any definition of a symbol in the process; NULL: none. */
void *runtime_symbol(const char *name);
/* The runtime's own exported function of this name; NULL: none. */
void *runtime_own_symbol(const char *name);

/* A function behind the interposed one. Set-up finds all of them; calls then cost no look-up. */
struct symbol_slot {
	const char *name;
	void *function; /* NULL: not found yet */
};

static inline void *symbol_slot_function(struct symbol_slot *slot)
{
	/* Needed before set-up, and for a library that the program has loaded since (libstdc++). */
	if (__builtin_expect(!slot->function, 0))
		slot->function = runtime_next_symbol(slot->name);
	return slot->function;
}

/* Defines a slot in the section that holds the array of all slots. */
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

/* Makes a raw system call for the target. The call is never trapped, and the rewind's undo log
 * notes it. The rewind reverts its effect in the kernel, or the call taints the run. Calls
 * without effect may use platform_call. */
long runtime_target_call6(long number, long a, long b, long c, long d, long e, long f);
#define TARGET_CALL_ARGS(number, a, b, c, d, e, f, ...)                                            \
	runtime_target_call6(                                                                      \
		(number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define target_call(...) TARGET_CALL_ARGS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* A cheap test for EFAULT: no program maps the first page. */
static inline bool interpose_is_bad_pointer(const void *pointer)
{
	return (uintptr_t)pointer < 4096;
}

/* Converts a raw result to libc's convention: -1 and errno. */
static inline long interpose_result(long raw)
{
	if (platform_failed(raw)) {
		errno = (int)-raw;
		return -1;
	}
	return raw;
}

/* Unwinds the caller with PTHREAD_CANCELED (cleanup handlers, C++ destructors). Called when
 * cancellation is due and all effects of the op are reverted. Does not return. */
void runtime_act_on_cancel(void) __attribute__((noreturn));
/* Acts on cancellation if it is pending and enabled. For cancellation points that did not block. */
void runtime_test_cancel(void);
/* For code of the target that is no cancellation point: acts on asynchronous cancellation only. */
void runtime_test_cancel_anywhere(void);

/* Runs the handlers of the signals pending for this thread. Returns whether any ran. signal.c. */
bool runtime_deliver_signals(struct engine_thread *thread);
/* engine_host.route_signals: gives process-directed signals to threads. signal.c. */
void runtime_route_signals(void);
/* Implements engine_host.wait_outside: no thread is enabled, so the process waits in the real world. fd.c. */
bool runtime_wait_outside(uint64_t deadline_ns);

/* Convert an absolute or relative time of a clock to a virtual deadline for engine_op; time.c.
 * The caller checks the nanoseconds (EINVAL). */
struct timespec;
uint64_t runtime_deadline(int clock_id, const struct timespec *absolute);
uint64_t runtime_deadline_after(const struct timespec *relative);

/* Called when the caller has repeated a call that polling loops use. Every few calls the caller
 * yields, and time passes. */
void runtime_waits_in_vain(void);
/* Implements every form of sched_yield(): yields, and lets time pass for loops that poll and yield. */
void runtime_yield(uint64_t site);
/* Called for a call that is no scheduling point. Every few calls the caller yields, and so its
 * loop cannot run forever. passing.c. */
void runtime_pass(uint64_t site);
/* Random numbers of the run. A forked child draws other numbers than its parent. */
void runtime_random_bytes(void *buffer, size_t bytes);

/* Taints the run: it had an effect that `restart` cannot undo, such as "wrote to a file (write,
 * fd 7)". The text is a literal or outlives the run. Only the first taint of a run is kept. A
 * rewind gives up; the fork restarts may continue. */
void runtime_taint(const char *what, long number);
/* Taints the run with an effect on state that runs share even if each is forked at the first thread creation. */
void runtime_taint_shared(const char *what);

/* Answer system calls about time, names and exec that are not in system_calls.def. False: the
 * kernel answers the call. */
bool runtime_emulate_time(long number, const long arguments[6], long *result); /* time.c */
/* prctl() of the caller's name: thread.c. */
bool runtime_emulate_name(const long arguments[6], long *result);
bool runtime_emulate_process(long number, const long arguments[6], long *result); /* process.c */
bool runtime_emulate_exec(long number, const long arguments[6], long *result);	  /* replace.c */

#endif
