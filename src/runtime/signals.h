/*
 * What the files of the signal family share: the target's dispositions, the pending signals, and how a handler runs.
 *
 * The kernel's mask stays open, and nearly every signal has the runtime's entry as its kernel handler. The entry
 * only stores the signal (except faults and abort()). Handlers of the target run at scheduling points, in a thread
 * whose own mask allows the signal. Masks are engine_thread.signals_blocked.
 *
 * A signal first has *arrived* (the entry stored it in a ring). It is then *pending* for the process or for one
 * thread (in the queue). Finally a handler, sigwait or its default action *takes* it.
 */
#ifndef RADDLE_RUNTIME_SIGNALS_H
#define RADDLE_RUNTIME_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

#define SIGNAL_LAST 64

/* The disposition that the target set by sigaction(). */
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

/* True for signals that programs may use: glibc keeps two for itself. signal.c. */
bool signal_is_valid(int signal);
/* Signals that can never be blocked: KILL, STOP, and the two that glibc keeps for itself. */
uint64_t signal_unblockable(void);

/* ---- the queue: signal_queue.c ---- */

/* Called by the entry: stores the signal for `thread`, or (NULL) for the process. Safe in signal
 * handlers, and in several kernel threads at once. */
void signal_arrive(struct engine_thread *thread, const siginfo_t *information);
/* Moves all arrived signals into the queue. */
void signal_queue_drain(void);
/* Makes the signal pending for `thread`; NULL: for the process. Drops a standard signal that is
 * already pending, as POSIX requires. Returns 0, or EAGAIN when the queue is full. */
int signal_queue_add(struct engine_thread *thread, const siginfo_t *information);
/* Removes the oldest signal of this number that is pending for `thread`. False: none. */
bool signal_queue_take(struct engine_thread *thread, int signal, siginfo_t *out);
bool signal_queue_take_process(int signal, siginfo_t *out);
/* Signals pending for the process: bit signal-1. */
uint64_t signal_queue_process(void);
/* Assigns the process's oldest signal of this number to a thread. Until the thread takes the
 * signal, it belongs to the process. */
void signal_queue_assign(int signal, struct engine_thread *thread);
/* Ends the assignment of signals in `set` to the thread: signals of the process become
 * assignable again. True: some were assigned. */
bool signal_queue_return(struct engine_thread *thread, uint64_t set);
/* Drops the signals sent to this thread alone, as the thread has ended. */
void signal_queue_forget(struct engine_thread *thread);
void signal_queue_clear(void);

/* ---- delivery: signal_delivery.c ---- */

struct signal_action *signal_action_of(int signal);
/* True when the target has a handler of its own for the signal. */
bool signal_has_handler(int signal);
/* True when the signal would be discarded now (SIG_IGN, or by default). */
bool signal_is_ignored(int signal);
/* Installs the runtime's entry for this signal in the kernel. */
void signal_catch(int signal);
/* Performs the signal's default action: ends the process, stops it, or does nothing. */
void signal_act_by_default(int signal, const siginfo_t *information);
/* Sends the signal to `thread` (NULL: the process). A signal for the caller takes effect at
 * once. Returns 0 or errno. */
int signal_send(struct engine_thread *thread, const siginfo_t *information);
/* Called when the caller jumps out of its handlers. */
void signal_left_handlers(void);
/* Sets the thread's own mask. Signals of the process assigned to this thread and blocked now go
 * to other threads. Signals of the process that every thread blocked may go to this one. */
void signal_set_mask(struct engine_thread *thread, uint64_t mask);
/* End of the thread's alternate signal stack; NULL: none, or the thread already runs on it. sigwait.c. */
void *signal_stack_end(const struct engine_thread *thread);
/* Signals that only signal descriptors read: these stay blocked in the kernel, which queues them
 * for the descriptor. */
void signal_leave_to_kernel(uint64_t mask);
void signal_take_from_kernel(uint64_t mask);
bool signals_have_left_control(void);

#endif
