/* sigwait and its variants, which receive a pending signal without a handler; pause and sigsuspend,
 * which wait until a handler has run; alternate signal stacks. */
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/libc/file_point.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

#define MASK_BYTES ((long)sizeof(uint64_t))

static struct {
	stack_t stacks[THREAD_CAPACITY];
	bool is_set[THREAD_CAPACITY];
} alternate;

static bool sigwait_signal_is_ready(const struct engine_op *op, const struct engine_thread *thread)
{
	return (thread->signals_pending | signal_queue_process()) & op->argument;
}

/* Returns 0 if none is pending. The thread's own signals and lower numbers are first. */
static int sigwait_signal_take(struct engine_thread *self, uint64_t set, siginfo_t *out)
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

/* Returns the signal, -EINTR, or -EAGAIN after a time-out. Acts on cancellation. */
static long sigwait_signal_wait(uint64_t set, siginfo_t *out, uint64_t deadline_ns, uint64_t site)
{
	struct engine_thread *self = engine_current();
	uint64_t old_mask = self->signals_blocked;
	struct engine_op op = {.kind = OP_SIGNAL_WAIT,
		.interruptions = INTERRUPT_SIGNAL | INTERRUPT_CANCEL,
		.address = self,
		.site = site,
		.ready = sigwait_signal_is_ready,
		.deadline_ns = deadline_ns,
		.argument = set & ~signal_unblockable()};
	long result = 0;

	signal_queue_drain();
	signal_set_mask(
		self, old_mask | op.argument); /* a handler must not take one of these signals */
	while (!result) {
		enum engine_result reason = engine_perform(&op);

		if (reason == WAIT_CANCELLED) {
			(void)signal_queue_return(self, op.argument);
			self->signals_blocked = old_mask;
			runtime_act_on_cancel();
		}
		result = reason == WAIT_INTERRUPTED ? -EINTR
						    : sigwait_signal_take(self, op.argument, out);
		if (!result && reason == WAIT_TIMED_OUT)
			result = -EAGAIN;
	}
	(void)signal_queue_return(
		self, op.argument); /* further ones that the thread does not take */
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
			result = sigwait_signal_wait(
				signal_set_bits(set), &information, ENGINE_FOREVER, CALL_SITE);
		} while (result == -EINTR); /* POSIX: sigwait never fails with EINTR */
	}
	if (result < 0)
		return (int)-result;
	*signal = (int)result;
	return 0;
}

long call_rt_sigtimedwait(const long arguments[6], uint64_t site)
{
	const uint64_t *set = (const uint64_t *)arguments[0];
	const struct timespec *timeout = (const struct timespec *)arguments[2];
	siginfo_t *out = (siginfo_t *)arguments[1];
	siginfo_t information;
	long result;

	if (signals_have_left_control() || arguments[3] != MASK_BYTES ||
		interpose_is_bad_pointer(set))
		return platform_call(SYS_rt_sigtimedwait, arguments[0], arguments[1], arguments[2],
			arguments[3]);
	if (timeout && (!time_is_valid(timeout) || timeout->tv_sec < 0))
		return -EINVAL;
	result = sigwait_signal_wait(*set, &information,
		timeout ? runtime_deadline_after(timeout) : ENGINE_FOREVER, site);
	if (result > 0 && out)
		*out = information;
	return result;
}

/* Returns the result of a wait. A signal sent to one thread reports SI_USER, like in glibc. */
static int sigwait_wait_result(long result, siginfo_t *out)
{
	if (result > 0 && out && out->si_code == SI_TKILL)
		out->si_code = SI_USER;
	return (int)interpose_result(result);
}

INTERPOSED(int, sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict out),
	sigwait_wait_result(ANSWER(rt_sigtimedwait, set, out, NULL, MASK_BYTES), out));
INTERPOSED(int, sigtimedwait,
	(const sigset_t *restrict set, siginfo_t *restrict out,
		const struct timespec *restrict timeout),
	sigwait_wait_result(ANSWER(rt_sigtimedwait, set, out, timeout, MASK_BYTES), out));

static bool sigwait_never_ready(const struct engine_op *op, const struct engine_thread *thread)
{
	(void)op;
	(void)thread;
	return false;
}

/* Waits for a handler; always returns -EINTR. */
static long sigwait_handler_wait(uint64_t site)
{
	struct engine_op op = {.kind = OP_SIGNAL_WAIT,
		.interruptions = INTERRUPT_SIGNAL | INTERRUPT_CANCEL,
		.call = CALL_PAUSE,
		.address = engine_current(),
		.site = site,
		.ready = sigwait_never_ready,
		.deadline_ns = ENGINE_FOREVER};

	if (signals_deliver_now())
		return -EINTR;
	if (engine_perform(&op) == WAIT_CANCELLED)
		runtime_act_on_cancel();
	return -EINTR;
}

long call_pause(const long arguments[6], uint64_t site)
{
	(void)arguments;
	if (signals_have_left_control())
		return platform_call(SYS_pause);
	/* A handler that runs here does not end the wait. The caller tested its condition before. */
	engine_point(OP_SIGNAL_WAIT, engine_current(), site);
	return sigwait_handler_wait(site);
}

long call_rt_sigsuspend(const long arguments[6], uint64_t site)
{
	const uint64_t *set = (const uint64_t *)arguments[0];
	uint64_t old_mask;
	long result;

	if (signals_have_left_control() || arguments[1] != MASK_BYTES ||
		interpose_is_bad_pointer(set))
		return platform_call(SYS_rt_sigsuspend, arguments[0], arguments[1]);
	old_mask = signals_swap_mask(*set);
	result = sigwait_handler_wait(site);
	(void)signals_swap_mask(old_mask);
	(void)signals_deliver_now();
	return result;
}

ANSWERED(int, pause, (void), pause, 0);
ANSWERED(int, sigsuspend, (const sigset_t *set), rt_sigsuspend, set, MASK_BYTES);

/* The kernel delivers to such a descriptor only signals that its own mask blocks: they are blocked
 * there until the target unblocks them. */
long call_signalfd4(const long arguments[6], uint64_t site)
{
	const uint64_t *set = (const uint64_t *)arguments[1];
	long result;

	file_point(SYS_signalfd4, arguments, site);
	if (!signals_have_left_control() && !interpose_is_bad_pointer(set))
		signal_leave_to_kernel(*set & engine_current()->signals_blocked);
	result = target_call(SYS_signalfd4, arguments[0], arguments[1], arguments[2], arguments[3]);
	if (!platform_failed(result) && (int)arguments[0] == -1)
		fd_opened((int)result, FD_SIGNALFD, false, (int)result);
	return result;
}

long call_signalfd(const long arguments[6], uint64_t site)
{
	const long without_flags[6] = {arguments[0], arguments[1], arguments[2]};

	return call_signalfd4(without_flags, site);
}

ANSWERED(int, signalfd, (int fd, const sigset_t *set, int flags), signalfd4, fd, set, MASK_BYTES,
	flags);

/* Returns whether the thread runs on this alternate stack. The kernel's only alternate stack is the
 * runtime's, for faults of every thread. A thread's setting is remembered, for handlers with
 * SA_ONSTACK at scheduling points. */
static bool sigwait_is_on_stack(const stack_t *stack)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return here >= (uintptr_t)stack->ss_sp && here < (uintptr_t)stack->ss_sp + stack->ss_size;
}

void *signal_stack_end(const struct engine_thread *thread)
{
	const stack_t *stack = &alternate.stacks[thread->id.index];

	return alternate.is_set[thread->id.index] && !sigwait_is_on_stack(stack)
		       ? (char *)stack->ss_sp + stack->ss_size
		       : NULL;
}

/* The flags are one of three modes, with or without SS_AUTODISARM. */
#define STACK_AUTODISARM (1U << 31)
#define STACK_BYTES_MIN 2048

static bool sigwait_is_stack_mode(int flags)
{
	const int mode = flags & ~(int)STACK_AUTODISARM;

	return mode == 0 || mode == SS_ONSTACK || mode == SS_DISABLE;
}

/* Returns 0 if `wanted` may replace the caller's stack `before`, else -errno. */
static long sigwait_alternate_check(const stack_t *wanted, const stack_t *before)
{
	if (before->ss_flags & SS_ONSTACK)
		return -EPERM;
	if (!sigwait_is_stack_mode(wanted->ss_flags))
		return -EINVAL;
	if (!(wanted->ss_flags & SS_DISABLE) && wanted->ss_size < STACK_BYTES_MIN)
		return -ENOMEM;
	return 0;
}

long call_sigaltstack(const long arguments[6], uint64_t site)
{
	const stack_t *wanted = (const stack_t *)arguments[0];
	stack_t *old = (stack_t *)arguments[1];
	stack_t before = {.ss_flags = SS_DISABLE};
	uint32_t self = engine_current()->id.index;
	long error;

	(void)site;
	if (signals_have_left_control())
		return CALL_OF_KERNEL;
	if (alternate.is_set[self]) {
		before = alternate.stacks[self];
		if (sigwait_is_on_stack(&before))
			before.ss_flags =
				before.ss_flags & (int)STACK_AUTODISARM ? SS_DISABLE : SS_ONSTACK;
	}
	error = wanted ? sigwait_alternate_check(wanted, &before) : 0;
	if (error)
		return error;
	if (wanted) {
		alternate.is_set[self] = !(wanted->ss_flags & SS_DISABLE);
		alternate.stacks[self] = *wanted;
		alternate.stacks[self].ss_flags &= (int)STACK_AUTODISARM;
	}
	if (old)
		*old = before;
	return 0;
}

EXPORT int sigaltstack(const stack_t *restrict wanted, stack_t *restrict old)
{
	ENTER();
	if (signals_have_left_control())
		return (int)interpose_result(platform_call(SYS_sigaltstack, wanted, old));
	return (int)interpose_result(ANSWER(sigaltstack, wanted, old));
}
