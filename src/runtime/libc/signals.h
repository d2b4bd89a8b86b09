/*
 * Shared declarations of the signal files: dispositions, pending signals, and how a handler runs.
 *
 * The kernel's mask stays open. Nearly every signal has the runtime's entry as its kernel handler,
 * which only stores the signal (except faults and abort()). Handlers of the target run at
 * scheduling points, in a thread whose own mask (engine_thread.signals_blocked) allows the signal.
 *
 * A signal first has *arrived* (in the entry's ring). It is then *pending* for the process or for
 * one thread (in the queue). Finally a handler, sigwait or its default action *takes* it.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "runtime/libc/world.h"

#define SIGNAL_LAST 64

struct signal_action {
	union {
		void (*plain)(int);
		void (*with_information)(int, siginfo_t *, void *);
	} handler;
	int flags;
	uint64_t mask;
};

/* The struct that rt_sigaction expects. */
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

/* Returns true except for the two signals that glibc keeps for itself. */
bool signal_is_valid(int signal);
/* Returns the set of KILL, STOP, and the two signals that glibc keeps for itself. */
static inline uint64_t signal_unblockable(void)
{
	return signal_bit(SIGKILL) | signal_bit(SIGSTOP) | signal_bit(32) | signal_bit(33);
}

static inline bool signal_stops(int signal)
{
	return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

static inline bool signal_is_fault(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
	       signal == SIGTRAP;
}

/* ---- the queue: signal_queue.c ---- */

/* Called by the entry; thread NULL: the process. Safe in handlers and several kernel threads. */
void signal_arrive(struct engine_thread *thread, const siginfo_t *information);
/* Moves all arrived signals into the queue. */
void signal_queue_drain(void);
/* Notes that the process, or one of its children, has sent the signal (signals_are_own()). */
void signal_note_own(int signal);
bool signal_all_are_own(uint64_t mask);
/* Makes the signal pending; thread NULL: for the process. Drops a standard signal that is already
 * pending, as POSIX requires. Returns 0, or EAGAIN when the queue is full. */
int signal_queue_add(struct engine_thread *thread, const siginfo_t *information);
/* Removes the oldest pending signal of this number. Returns false if there is none. */
bool signal_queue_take(struct engine_thread *thread, int signal, siginfo_t *out);
bool signal_queue_take_process(int signal, siginfo_t *out);
/* Returns the signals that are pending for the process: bit signal-1. */
uint64_t signal_queue_process(void);
/* Assigns the oldest signal of this number to a thread; it stays the process's until taken. */
void signal_queue_assign(int signal, struct engine_thread *thread);
/* Ends the assignment of signals in `set`: others may get them. Returns true if some were
 * assigned. */
bool signal_queue_return(struct engine_thread *thread, uint64_t set);
/* Called when a thread has ended: drops the signals sent to it alone. */
void signal_queue_forget(struct engine_thread *thread);
void signal_queue_clear(void);

/* ---- delivery: signal_delivery.c ---- */

struct signal_action *signal_action_of(int signal);
bool signal_has_default_action(int signal);
/* Returns whether the signal would be discarded, by SIG_IGN or by default. */
bool signal_is_ignored(int signal);
void signal_catch(int signal);
/* Thread NULL: the process. A signal to the caller is effective at once. Returns 0 or errno. */
int signal_send(struct engine_thread *thread, const siginfo_t *information);
/* Called when the caller jumps out of its handlers. */
void signal_left_handlers(void);
/* Signals of the process assigned to this thread and blocked now go to other threads. Signals of
 * the process that every thread blocked may go to this one. */
void signal_set_mask(struct engine_thread *thread, uint64_t mask);
/* End of the alternate signal stack; returns NULL if none, or already in use (sigwait.c). */
void *signal_stack_end(const struct engine_thread *thread);
/* Signals that only signal descriptors read stay blocked in the kernel, which queues them. */
void signal_leave_to_kernel(uint64_t mask);
void signal_take_from_kernel(uint64_t mask);
bool signals_have_left_control(void);
