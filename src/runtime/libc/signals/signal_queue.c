/* Arrived and pending signals. The entry from the kernel writes into a ring, by atomic operations
 * only. The moving thread drains the ring into the queue of pending signals. */
#include <string.h>
#include <sys/syscall.h>

#include "base/hot_state.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/family.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/world.h"

#define RING_SIZE 64	  /* a power of two */
#define QUEUE_SIZE 8192	  /* RLIMIT_SIGPENDING allows more */
#define FIRST_REALTIME 34 /* glibc uses 32 and 33 itself */

struct ring_entry {
	siginfo_t information;
	struct engine_thread *thread; /* receiver; NULL means the process */
	uint32_t is_filled; /* release by the entry after `information`; acquire by the drain */
};

struct pending_signal {
	siginfo_t information;
	struct engine_thread *thread;
	bool is_assigned; /* sent to the process and assigned to the thread */
};

/* Ring of arrived signals, written by the signal entry */
static struct ring_entry signal_ring[RING_SIZE];
/* Queue of pending signals, oldest first */
static struct pending_signal signal_queue[QUEUE_SIZE];

static HOT_STATE struct {
	uint32_t ring_next;    /* next entry to fill */
	uint32_t ring_drained; /* entries before it are free */
	uint64_t overflow;     /* standard signals that found the ring full */
	uint32_t count;	       /* of pending signals */
	uint64_t process_pending;
	uint64_t own; /* signals of this run that the process, or one of its children, has sent */
} signals;

void signal_note_own(int signal)
{
	signals.own |= signal_bit(signal);
}

bool signal_all_are_own(uint64_t mask)
{
	return !(mask & ~signals.own);
}

bool signals_are_own(void)
{
	for (uint32_t i = 0; i < engine_thread_count(); i++) {
		const struct engine_op *op = engine_thread(i)->op;

		/* pause() and sigsuspend() wait until a handler of any signal has run; their ops have the
		 * argument 0. A server may wait in them for the signal that ends it, while its children
		 * end and send SIGCHLD. */
		if (op && op->kind == OP_SIGNAL_WAIT &&
			(!(signals.own & ~signal_bit(SIGCHLD)) || op->argument & ~signals.own))
			return false;
	}
	return true;
}

/* The end of a child sends SIGCHLD. The sender of a signal may have ended before the signal is taken. */
static bool signal_is_of_child(const siginfo_t *information)
{
	return information->si_signo == SIGCHLD || family_had_member(information->si_pid);
}

void signal_arrive(struct engine_thread *thread, const siginfo_t *information)
{
	uint32_t at = __atomic_load_n(&signals.ring_next, __ATOMIC_RELAXED);

	do {
		if (at - __atomic_load_n(&signals.ring_drained, __ATOMIC_RELAXED) >= RING_SIZE) {
			__atomic_or_fetch(&signals.overflow, signal_bit(information->si_signo),
				__ATOMIC_RELAXED);
			return;
		}
	} while (!__atomic_compare_exchange_n(
		&signals.ring_next, &at, at + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	signal_ring[at % RING_SIZE].information = *information;
	signal_ring[at % RING_SIZE].thread = thread;
	/* Pairs with the acquire in signal_queue_drain. */
	__atomic_store_n(&signal_ring[at % RING_SIZE].is_filled, 1, __ATOMIC_RELEASE);
}

bool signals_arrived(void)
{
	return __atomic_load_n(&signals.ring_next, __ATOMIC_RELAXED) != signals.ring_drained ||
	       __atomic_load_n(&signals.overflow, __ATOMIC_RELAXED);
}

void signal_queue_drain(void)
{
	uint64_t overflow = __atomic_exchange_n(&signals.overflow, 0, __ATOMIC_RELAXED);

	while (signals.ring_drained != __atomic_load_n(&signals.ring_next, __ATOMIC_RELAXED)) {
		struct ring_entry *entry = &signal_ring[signals.ring_drained % RING_SIZE];

		if (!__atomic_load_n(&entry->is_filled, __ATOMIC_ACQUIRE))
			break; /* another kernel thread is still writing it */
		/* A message of the program's own thread may cause one, too (mq_notify). */
		if (signal_is_of_child(&entry->information))
			signal_note_own(entry->information.si_signo);
		else if (entry->information.si_pid != platform_call(SYS_getpid))
			runtime_note_feature(FEATURE_OUTSIDE_SIGNAL);
		/* A full queue drops the signal. */
		(void)signal_queue_add(entry->thread, &entry->information);
		entry->is_filled = 0;
		__atomic_store_n(&signals.ring_drained, signals.ring_drained + 1, __ATOMIC_RELEASE);
	}
	for (int signal = 1; overflow && signal <= SIGNAL_LAST; signal++) {
		siginfo_t information = {.si_signo = signal, .si_code = SI_KERNEL};

		if (overflow & signal_bit(signal))
			(void)signal_queue_add(NULL, &information);
	}
}

static struct pending_signal *signal_queue_find(const struct engine_thread *thread, int signal)
{
	for (uint32_t i = 0; i < signals.count; i++)
		if (signal_queue[i].thread == thread &&
			signal_queue[i].information.si_signo == signal)
			return &signal_queue[i];
	return NULL;
}

siginfo_t *signals_pending_of_timer(int signal, int timer)
{
	for (uint32_t i = 0; i < signals.count; i++) {
		siginfo_t *information = &signal_queue[i].information;

		if (information->si_signo == signal && information->si_code == SI_TIMER &&
			information->si_timerid == timer)
			return information;
	}
	return NULL;
}

static void signal_queue_set_pending(struct engine_thread *thread, int signal, bool is_pending)
{
	uint64_t *pending = thread ? &thread->signals_pending : &signals.process_pending;

	if (is_pending)
		*pending |= signal_bit(signal);
	else
		*pending &= ~signal_bit(signal);
}

/* Returns whether the signal is already pending. Thread NULL: for the process. */
static bool signal_queue_has(const struct engine_thread *thread, int signal)
{
	for (uint32_t i = 0; i < signals.count; i++) {
		const struct pending_signal *pending = &signal_queue[i];
		const struct engine_thread *receiver =
			pending->is_assigned ? NULL : pending->thread;

		if (pending->information.si_signo == signal && receiver == thread)
			return true;
	}
	return false;
}

int signal_queue_add(struct engine_thread *thread, const siginfo_t *information)
{
	int signal = information->si_signo;

	if (signal < FIRST_REALTIME && signal_queue_has(thread, signal))
		return 0;
	if (signals.count == QUEUE_SIZE)
		return EAGAIN;
	signal_queue[signals.count++] =
		(struct pending_signal){.information = *information, .thread = thread};
	signal_queue_set_pending(thread, signal, true);
	return 0;
}

static bool queue_take(struct engine_thread *thread, int signal, siginfo_t *out)
{
	struct pending_signal *found = signal_queue_find(thread, signal);

	if (!found) {
		signal_queue_set_pending(thread, signal, false);
		return false;
	}
	if (found->information.si_code == SI_TIMER)
		posix_timer_was_taken(&found->information);
	*out = found->information;
	signals.count--;
	memmove(found, found + 1, (size_t)((char *)&signal_queue[signals.count] - (char *)found));
	signal_queue_set_pending(thread, signal, signal_queue_find(thread, signal) != NULL);
	return true;
}

bool signal_queue_take(struct engine_thread *thread, int signal, siginfo_t *out)
{
	return queue_take(thread, signal, out);
}

bool signal_queue_take_process(int signal, siginfo_t *out)
{
	return queue_take(NULL, signal, out);
}

uint64_t signal_queue_process(void)
{
	return signals.process_pending;
}

void signal_queue_assign(int signal, struct engine_thread *thread)
{
	struct pending_signal *found = signal_queue_find(NULL, signal);

	if (found) {
		found->thread = thread;
		found->is_assigned = true;
		signal_queue_set_pending(thread, signal, true);
	}
	signal_queue_set_pending(NULL, signal, signal_queue_find(NULL, signal) != NULL);
}

bool signal_queue_return(struct engine_thread *thread, uint64_t set)
{
	bool is_any = false;

	for (uint32_t i = 0; i < signals.count; i++) {
		struct pending_signal *pending = &signal_queue[i];
		const int signal = pending->information.si_signo;

		if (pending->thread != thread || !pending->is_assigned ||
			!(set & signal_bit(signal)))
			continue;
		pending->thread = NULL;
		pending->is_assigned = false;
		signal_queue_set_pending(NULL, signal, true);
		signal_queue_set_pending(thread, signal, signal_queue_find(thread, signal) != NULL);
		is_any = true;
	}
	return is_any;
}

void signal_queue_forget(struct engine_thread *thread)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; thread->signals_pending && i < signals.count; i++)
		if (signal_queue[i].thread != thread)
			signal_queue[kept++] = signal_queue[i];
	if (thread->signals_pending)
		signals.count = kept;
	thread->signals_pending = 0;
}

void signal_queue_clear(void)
{
	signals.count = 0;
	signals.process_pending = 0;
	signals.ring_drained = signals.ring_next;
	signals.overflow = 0;
}
