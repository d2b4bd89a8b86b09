/*
 * Waiting for signals: sigwait and its like take a pending signal without a handler; pause and
 * sigsuspend wait until a handler has run. Also the record of alternate signal stacks.
 * Runs in the target's moving thread.
 */
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/signals.h"
#include "runtime/world.h"

/* Written by sigaltstack only. */
static struct {
	stack_t stacks[THREAD_CAPACITY];
	bool is_set[THREAD_CAPACITY];
} alternate;

/* ---- taking ---- */

static bool signal_is_ready(const struct engine_op *op, const struct engine_thread *thread)
{
	return (thread->signals_pending | signal_queue_process()) & op->argument;
}

/* As the kernel: the thread's own come first, the lowest before others. 0: none of the set is pending. */
static int signal_take(struct engine_thread *self, uint64_t set, siginfo_t *out)
{
	for (int signal = 1; signal <= SIGNAL_LAST; signal++)
		if (self->signals_pending & set & signal_bit(signal) &&
			signal_queue_take(self, signal, out))
			return signal;
	for (int signal = 1; signal <= SIGNAL_LAST; signal++)
		if (signal_queue_process() & set & signal_bit(signal) &&
			signal_queue_take_process(signal, out))
			return signal;
	return 0;
}

/* Positive: the signal. Negative errno: EINTR, EAGAIN (time is out). Acts on cancellation. */
static long signal_wait(uint64_t set, siginfo_t *out, uint64_t deadline_ns, uint64_t site)
{
	struct engine_thread *self = engine_current();
	uint64_t old_mask = self->signals_blocked;
	struct engine_op op = {.kind = OP_SIGNAL_WAIT,
		.interruptions = INTERRUPT_SIGNAL | INTERRUPT_CANCEL,
		.address = self,
		.site = site,
		.ready = signal_is_ready,
		.deadline_ns = deadline_ns,
		.argument = set & ~signal_unblockable()};
	long result = 0;

	signal_queue_drain();
	self->signals_blocked |= op.argument; /* while it waits, none of them goes to a handler */
	while (!result) {
		enum engine_result reason = engine_perform(&op);

		if (reason == WAIT_CANCELLED) {
			self->signals_blocked = old_mask;
			runtime_act_on_cancel();
		}
		result = reason == WAIT_INTERRUPTED ? -EINTR : signal_take(self, op.argument, out);
		if (!result && reason == WAIT_TIMED_OUT)
			result = -EAGAIN;
	}
	self->signals_blocked = old_mask;
	(void)signals_deliver_now();
	return result;
}

EXPORT int sigwait(const sigset_t *restrict set, int *restrict signal)
{
	siginfo_t information;
	long result;

	ENTER();
	if (signals_have_left_control()) {
		result = platform_call(SYS_rt_sigtimedwait, set, NULL, NULL, sizeof(uint64_t));
		while (result == -EINTR)
			result = platform_call(
				SYS_rt_sigtimedwait, set, NULL, NULL, sizeof(uint64_t));
	} else {
		do {
			result = signal_wait(
				signal_set_bits(set), &information, ENGINE_FOREVER, CALL_SITE);
		} while (result == -EINTR); /* POSIX: sigwait has no such error */
	}
	if (result < 0)
		return (int)-result;
	*signal = (int)result;
	return 0;
}

static int signal_wait_limited(
	const sigset_t *set, siginfo_t *out, const struct timespec *timeout, uint64_t site)
{
	siginfo_t information;
	long result;

	if (signals_have_left_control())
		return (int)interpose_result(
			platform_call(SYS_rt_sigtimedwait, set, out, timeout, sizeof(uint64_t)));
	if (timeout && (!time_is_valid(timeout) || timeout->tv_sec < 0))
		return (int)interpose_result(-EINVAL);
	result = signal_wait(signal_set_bits(set), &information,
		timeout ? runtime_deadline_after(timeout) : ENGINE_FOREVER, site);
	if (result > 0 && information.si_code == SI_TKILL)
		information.si_code = SI_USER; /* so does glibc: POSIX knows no other */
	if (result > 0 && out)
		*out = information;
	return (int)interpose_result(result);
}

EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict out)
{
	ENTER();
	return signal_wait_limited(set, out, NULL, CALL_SITE);
}

EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict out,
	const struct timespec *restrict timeout)
{
	ENTER();
	return signal_wait_limited(set, out, timeout, CALL_SITE);
}

/* ---- waiting for a handler ---- */

static bool never_ready(const struct engine_op *op, const struct engine_thread *thread)
{
	(void)op;
	(void)thread;
	return false;
}

/* Always -EINTR in the end. */
static long handler_wait(uint64_t site)
{
	struct engine_op op = {.kind = OP_SIGNAL_WAIT,
		.interruptions = INTERRUPT_SIGNAL | INTERRUPT_CANCEL,
		.address = engine_current(),
		.site = site,
		.ready = never_ready,
		.deadline_ns = ENGINE_FOREVER};

	if (signals_deliver_now())
		return -EINTR;
	if (engine_perform(&op) == WAIT_CANCELLED)
		runtime_act_on_cancel();
	return -EINTR;
}

EXPORT int pause(void)
{
	ENTER();
	if (signals_have_left_control())
		return (int)interpose_result(platform_call(SYS_pause));
	return (int)interpose_result(handler_wait(CALL_SITE));
}

EXPORT int sigsuspend(const sigset_t *set)
{
	uint64_t old_mask;
	long result;

	ENTER();
	if (signals_have_left_control())
		return (int)interpose_result(
			platform_call(SYS_rt_sigsuspend, set, sizeof(uint64_t)));
	old_mask = signals_swap_mask(signal_set_bits(set));
	result = handler_wait(CALL_SITE);
	(void)signals_swap_mask(old_mask);
	(void)signals_deliver_now();
	return (int)interpose_result(result);
}

/* ---- signal descriptors ---- */

/*
 * The kernel reads signals into such a descriptor only if it holds them back itself, so these are
 * blocked in the kernel's mask until the target unblocks them.
 */
EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	long result;

	ENTER();
	if (!signals_have_left_control())
		signal_leave_to_kernel(signal_set_bits(set) & engine_current()->signals_blocked);
	result = target_call(SYS_signalfd4, fd, set, sizeof(uint64_t), flags);
	if (!platform_failed(result) && fd == -1)
		fd_opened((int)result, FD_EVENT, false, (int)result);
	return (int)interpose_result(result);
}

/* ---- alternate stacks ---- */

/*
 * The kernel's one alternate stack is ours: faults are handled there whichever thread has them, and a
 * handler that asked for its own stack runs on it too. What a thread has set is only remembered.
 */
/* Is the caller on it? */
static bool is_on_stack(const stack_t *stack)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return here >= (uintptr_t)stack->ss_sp && here < (uintptr_t)stack->ss_sp + stack->ss_size;
}

void *signal_stack_end(const struct engine_thread *thread)
{
	const stack_t *stack = &alternate.stacks[thread->id.index];

	return alternate.is_set[thread->id.index] && !is_on_stack(stack)
		       ? (char *)stack->ss_sp + stack->ss_size
		       : NULL;
}

EXPORT int sigaltstack(const stack_t *restrict wanted, stack_t *restrict old)
{
	uint32_t self;
	stack_t before = {.ss_flags = SS_DISABLE};

	ENTER();
	if (signals_have_left_control())
		return (int)interpose_result(platform_call(SYS_sigaltstack, wanted, old));
	self = engine_current()->id.index;
	if (alternate.is_set[self]) {
		before = alternate.stacks[self];
		before.ss_flags = is_on_stack(&before) ? SS_ONSTACK : 0;
	}
	if (wanted && before.ss_flags == SS_ONSTACK)
		return (int)interpose_result(-EPERM);
	if (wanted && wanted->ss_flags & ~(SS_DISABLE | SS_ONSTACK | (int)(1U << 31)))
		return (int)interpose_result(-EINVAL);
	if (wanted && !(wanted->ss_flags & SS_DISABLE) && wanted->ss_size < 2048)
		return (int)interpose_result(-ENOMEM);
	if (wanted) {
		alternate.is_set[self] = !(wanted->ss_flags & SS_DISABLE);
		if (alternate.is_set[self]) {
			alternate.stacks[self] = *wanted;
			alternate.stacks[self].ss_flags = 0;
		}
	}
	if (old)
		*old = before;
	return 0;
}
