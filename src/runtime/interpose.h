/*
 * Rules for every file that defines interposed functions.
 *
 * The runtime is a guest in the target: no stdio, malloc or exit, and no libc call that may lock or
 * that the runtime interposes. System calls use platform_call. errno changes only where POSIX says
 * so. A function may be called before the runtime's constructor, from another library's
 * constructor, from a signal handler, and during pthread_exit. State of a file lies in one
 * commented struct.
 *
 * An interposed function never forwards synchronisation to glibc. Without a command, the engine
 * schedules without preemptions and records nothing.
 */
#pragma once

#include <errno.h>
#include <stdint.h>

#include "engine/engine.h"
#include "runtime/focus.h"
#include "runtime/callers.h"

/* Exports a symbol. All other symbols of libraddle.so are hidden. */
#define EXPORT __attribute__((visibility("default")))

/* Return address of the interposed function; must be expanded in that function itself. */
#define RETURN_SITE ((uint64_t)(uintptr_t)__builtin_return_address(0))
/* Same as RETURN_SITE; for a caller in the C++ library, the location where user code called the
 * library. */
#define CALL_SITE                                                                                  \
	(__builtin_expect(library_code_is_there, 0)                                                \
			? library_code_caller(RETURN_SITE, __builtin_frame_address(0))             \
			: RETURN_SITE)

/* Runs focus_left() at the end of every interposed function. */
#define LEAVE_AT_RETURN __attribute__((cleanup(focus_left), unused))

/* First statement of every interposed function. Sets up the runtime, and refuses raw threads
 * where these may run beside the controlled threads. */
#define ENTER()                                                                                    \
	if (__builtin_expect(!runtime_is_up, 0))                                                   \
		runtime_enter(RETURN_SITE);                                                        \
	const char interposed LEAVE_AT_RETURN = 0

/* Defines an interposed function that returns this expression of its parameters (in brackets). */
#define INTERPOSED(type, name, parameters, ...)                                                    \
	EXPORT type name parameters                                                                \
	{                                                                                          \
		ENTER();                                                                           \
		return __VA_ARGS__;                                                                \
	}                                                                                          \
	type name parameters

/* False: the next interposed call uses runtime_enter() (set-up, raw threads, spin.c). */
extern bool runtime_is_up;
void runtime_set_up(void);
void runtime_enter(uint64_t site);

/* Returns the definition of the symbol that follows the runtime's (glibc's). Never NULL. */
void *runtime_next_symbol(const char *name);
/* Same as runtime_next_symbol(), but returns NULL if no such definition exists. */
void *runtime_symbol_behind(const char *name);
/* Returns any definition in the process; NULL if there is none. */
void *runtime_symbol(const char *name);
void runtime_bind_calls(void);
/* Returns a function that the runtime exports; NULL if there is none. */
void *runtime_own_symbol(const char *name);

/* A function behind the interposed one; set-up finds all. */
struct symbol_slot {
	const char *name;
	void *function;
};

static inline void *symbol_slot_function(struct symbol_slot *slot)
{
	/* Before set-up, and for a library that the program has loaded since (libstdc++). */
	if (__builtin_expect(!slot->function, 0))
		slot->function = runtime_next_symbol(slot->name);
	return slot->function;
}

/* Defines a slot, in the section that holds the array of all slots. */
#define SYMBOL_SLOT(symbol)                                                                        \
	__extension__({                                                                            \
		static struct symbol_slot slot_                                                    \
			__attribute__((section("raddle_symbols"), used)) = {.name = (symbol)};     \
		&slot_;                                                                            \
	})
#define REAL(function)                                                                             \
	__extension__((__typeof__(&function))symbol_slot_function(SYMBOL_SLOT(#function)))
/* Fills all slots; called once, by set-up. */
void runtime_find_symbols(void);

/* Makes a raw system call for the target, never trapped. The undo log notes it: the rewind reverts
 * its effect, or the call taints the run. Calls without effect may use platform_call. */
long runtime_target_call6(long number, long a, long b, long c, long d, long e, long f);
#define TARGET_CALL_ARGS(number, a, b, c, d, e, f, ...)                                            \
	runtime_target_call6(                                                                      \
		(number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define target_call(...) TARGET_CALL_ARGS(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)

/* Tests cheaply for EFAULT: no program maps the first page. */
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

/* Unwinds the caller with PTHREAD_CANCELED, when all effects of the op are reverted. */
void runtime_act_on_cancel(void) __attribute__((noreturn));
/* Acts on a due cancellation, at cancellation points that did not block. */
void runtime_test_cancel(void);
/* Same as runtime_test_cancel(), for functions that are no cancellation points: acts on
 * asynchronous cancellation only. */
void runtime_test_cancel_anywhere(void);

/* signal.c: runs the handlers of the thread's pending signals. Returns true if one ran. */
bool runtime_deliver_signals(struct engine_thread *thread);
/* Implements engine_host.route_signals (signal.c). */
void runtime_route_signals(void);
/* Implements engine_host.wait_outside (fd.c). */
bool runtime_wait_outside(uint64_t deadline_ns);
/* Implements engine_host.look_outside. */
void runtime_look_outside(void);

/* Converts a clock's time to a virtual deadline. The caller checks the nanoseconds (EINVAL). */
struct timespec;
uint64_t runtime_deadline(int clock_id, const struct timespec *absolute);
uint64_t runtime_deadline_after(const struct timespec *relative);

/* Called when a thread has repeated a call of polling loops. Every few calls the thread yields, and
 * time passes. */
void runtime_waits_forever(void);
/* Implements every form of sched_yield(): time passes for loops that poll and yield. */
void runtime_yield(uint64_t site);
/* Called for a call that is no scheduling point (passing.c). Every few calls the caller yields, so
 * no loop of such calls runs forever. */
void runtime_pass(uint64_t site);
/* Draws from the run's random numbers; a forked child draws other numbers than its parent. */
void runtime_random_bytes(void *buffer, size_t bytes);

/* Notes that the run had an effect that `restart` cannot undo, such as "closed a file of the starting
 * point". `number`: the system call, whose name follows in brackets; 0: none. The text outlives the
 * run. Only the first taint is kept. A rewind gives up; the fork restarts may continue. */
void runtime_taint(const char *what, long number);
/* Same as runtime_taint(), for state that runs share even if each is forked at the first thread
 * creation. */
void runtime_taint_shared(const char *what);

/* Answers system calls that are not in system_calls.def. Returns false if the kernel answers the
 * call. */
bool runtime_emulate_time(long number, const long arguments[6], long *result); /* time.c */
/* Answers prctl() of the caller's name (thread.c). */
bool runtime_emulate_name(const long arguments[6], long *result);
bool runtime_emulate_process(long number, const long arguments[6], long *result); /* process.c */
bool runtime_emulate_exec(long number, const long arguments[6], long *result);	  /* replace.c */
