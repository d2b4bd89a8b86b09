/*
 * What the files of the signal family share: what the target asked for, what is pending, and how a
 * handler is run.
 *
 * The kernel's mask stays open and nearly every signal has our entry as its kernel handler. The entry
 * only notes what has come (faults and abort() excepted); handlers of the target run at scheduling
 * points, in a thread whose own mask lets them through. Masks are engine_thread.signals_blocked.
 *
 * A signal is *arrived* (noted by the entry, in a ring), then *pending* for the process or for one
 * thread (in the queue), then *taken*: by a handler, by sigwait, or by its default action.
 */
#ifndef RADDLE_RUNTIME_SIGNALS_H
#define RADDLE_RUNTIME_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

#define SIGNAL_LAST 64

/* What sigaction() was told. */
struct signal_action {
	union {
		void (*plain)(int);
		void (*with_information)(int, siginfo_t *, void *);
	} handler;
	int flags;
	uint64_t mask;
};

/* The kernel's struct, as rt_sigaction wants it. */
struct kernel_action {
	void *handler;
	unsigned long flags;
	void (*restorer)(void);
	uint64_t mask;
};

#define KERNEL_ACTION_RESTORER 0x04000000UL

static inline uint64_t signal_set_bits(const sigset_t *set)
{
	return set->__val[0];
}

/* A signal that programs may use: glibc keeps two for itself. signal.c. */
bool signal_is_valid(int signal);
/* Signals that can never be blocked: KILL, STOP, and the two that glibc keeps for itself. */
uint64_t signal_unblockable(void);

/* ---- the queue: signal_queue.c ---- */

/* The entry: note it, for `thread` or (NULL) the process. Safe in handlers, also in several kernel threads at once. */
void signal_arrive(struct engine_thread *thread, const siginfo_t *information);
/* Moves what has arrived into the queue. */
void signal_queue_drain(void);
/*
 * Makes it pending. `thread` NULL: for the process. A standard signal that is pending already is
 * dropped, as POSIX has it. 0, or EAGAIN when the queue is full.
 */
int signal_queue_add(struct engine_thread *thread, const siginfo_t *information);
/* Takes the oldest of this number that is pending for `thread`. False: none. */
bool signal_queue_take(struct engine_thread *thread, int signal, siginfo_t *out);
bool signal_queue_take_process(int signal, siginfo_t *out);
/* What is pending for the process, bit signal-1. */
uint64_t signal_queue_process(void);
/*
 * Assigns the process's oldest signal of this number to a thread. Until the thread takes the signal, it belongs
 * to the process.
 */
void signal_queue_assign(int signal, struct engine_thread *thread);
/*
 * Ends the assignment of signals in `set` to the thread: signals of the process become assignable again. True:
 * some were assigned.
 */
bool signal_queue_return(struct engine_thread *thread, uint64_t set);
/* Drops the signals sent to this thread alone, as the thread has ended. */
void signal_queue_forget(struct engine_thread *thread);
void signal_queue_clear(void);

/* ---- delivery: signal_delivery.c ---- */

struct signal_action *signal_action_of(int signal);
/* True where the target's own handler is to run. */
bool signal_has_handler(int signal);
/* Would it be thrown away, as things are (SIG_IGN, or by default)? */
bool signal_is_ignored(int signal);
/* Makes sure that the kernel brings us this signal. */
void signal_catch(int signal);
/* Ends the process, stops it, or does nothing, as the default says. */
void signal_act_by_default(int signal, const siginfo_t *information);
/* Makes it happen to `thread` (NULL: the process) and, if it is for the caller, at once. 0 or errno. */
int signal_send(struct engine_thread *thread, const siginfo_t *information);
/* Called when the caller jumps out of its handlers. */
void signal_left_handlers(void);
/*
 * Sets the thread's own mask. Signals of the process assigned to this thread and blocked now go to other threads.
 * Signals of the process that every thread blocked may go to this one.
 */
void signal_set_mask(struct engine_thread *thread, uint64_t mask);
/* The end of the thread's alternate stack, where it has one that it is not on; else NULL. sigwait.c. */
void *signal_stack_end(const struct engine_thread *thread);
/* Signals that only signal descriptors read: they stay blocked in the kernel. */
void signal_leave_to_kernel(uint64_t mask);
void signal_take_from_kernel(uint64_t mask);
bool signals_have_left_control(void);

#endif
