/* Signal dispositions and masks. The engine keeps the mask of each thread; the kernel learns of
 * neither masks nor handlers, except in a forked child that has left control. Runs in the moving
 * thread and inside handlers. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

bool signal_is_valid(int signal)
{
	return signal >= 1 && signal <= SIGNAL_LAST && signal != 32 && signal != 33;
}

#define MASK_BYTES ((long)sizeof(uint64_t))

static void signal_action_to_user(const struct signal_action *action, struct sigaction *out)
{
	*out = (struct sigaction){.sa_flags = action->flags};
	out->sa_handler = action->handler.plain;
	out->sa_mask.__val[0] = action->mask;
}

/* Discards pending signals that become ignored, as POSIX requires. */
static void signal_drop_pending(int signal)
{
	siginfo_t dropped;

	signal_queue_drain();
	while (signal_queue_take_process(signal, &dropped))
		;
	for (uint32_t i = 0; i < engine_thread_count(); i++)
		while (engine_thread(i)->signals_pending & signal_bit(signal) &&
			signal_queue_take(engine_thread(i), signal, &dropped))
			;
}

static long signal_action_set(int signal, const struct signal_action *wanted)
{
	struct signal_action *action = signal_action_of(signal);
	struct kernel_action raw = {.handler = (void *)wanted->handler.plain,
		.flags = (unsigned long)(unsigned int)wanted->flags | KERNEL_ACTION_RESTORER,
		.restorer = platform_signal_return,
		.mask = wanted->mask};

	*action = *wanted;
	if (signals_have_left_control())
		return platform_call(SYS_rt_sigaction, signal, &raw, NULL, sizeof raw.mask);
	/* A signal that the kernel once delivers to the runtime stays so: a rewind restores the
	 * target's disposition, not the kernel's. SIG_IGN is passed to the kernel only before
	 * threads exist, for programs started later. */
	if (signal_is_ignored(signal))
		signal_drop_pending(signal);
	if (wanted->handler.plain == SIG_IGN && !engine_is_live() && signal != SIGCHLD)
		return platform_call(SYS_rt_sigaction, signal, &raw, NULL, sizeof raw.mask);
	signal_catch(signal);
	return 0;
}

static bool signal_is_for_others(int signal)
{
	return signal == SIGCHLD || signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGIO ||
	       signal >= SIGRTMIN;
}

bool signals_have_handler_for_others(void)
{
	for (int signal = 1; signal <= SIGNAL_LAST; signal++) {
		sighandler_t handler = signal_action_of(signal)->handler.plain;

		if (signal_is_for_others(signal) && handler != SIG_DFL && handler != SIG_IGN)
			return true;
	}
	return false;
}

bool signals_may_interrupt(void)
{
	const uint64_t blocked = engine_current()->signals_blocked;

	for (int signal = 1; signal <= SIGNAL_LAST; signal++) {
		sighandler_t handler = signal_action_of(signal)->handler.plain;

		if (handler != SIG_DFL && handler != SIG_IGN && !signal_is_fault(signal) &&
			signal != SIGABRT && !(blocked & signal_bit(signal)))
			return true;
	}
	return false;
}

static int signal_action_change(
	int signal, const struct signal_action *wanted, struct sigaction *old)
{
	struct sigaction before;

	if (!signal_is_valid(signal) || (wanted && (signal == SIGKILL || signal == SIGSTOP)))
		return (int)interpose_result(-EINVAL);
	signal_action_to_user(signal_action_of(signal), &before);
	if (wanted && signal_action_set(signal, wanted))
		return (int)interpose_result(-EINVAL);
	if (old)
		*old = before;
	return 0;
}

EXPORT int sigaction(
	int signal, const struct sigaction *restrict wanted, struct sigaction *restrict old)
{
	struct signal_action action;

	ENTER();
	if (!wanted)
		return signal_action_change(signal, NULL, old);
	action = (struct signal_action){
		.flags = wanted->sa_flags, .mask = signal_set_bits(&wanted->sa_mask)};
	action.handler.plain = wanted->sa_handler;
	return signal_action_change(signal, &action, old);
}

int __sigaction(
	int signal, const struct sigaction *restrict wanted, struct sigaction *restrict old);

EXPORT int __sigaction(
	int signal, const struct sigaction *restrict wanted, struct sigaction *restrict old)
{
	return sigaction(signal, wanted, old);
}

static sighandler_t signal_with_flags(int signal, sighandler_t handler, int flags)
{
	struct signal_action action = {.flags = flags};
	struct sigaction old;

	action.handler.plain = handler;
	if (handler == SIG_ERR || signal_action_change(signal, &action, &old)) {
		errno = EINVAL;
		return SIG_ERR;
	}
	return old.sa_handler;
}

INTERPOSED(sighandler_t, signal, (int number, sighandler_t handler),
	signal_with_flags(number, handler, SA_RESTART));

sighandler_t bsd_signal(int number, sighandler_t handler);

INTERPOSED(sighandler_t, bsd_signal, (int number, sighandler_t handler),
	signal_with_flags(number, handler, SA_RESTART));
INTERPOSED(sighandler_t, sysv_signal, (int number, sighandler_t handler),
	signal_with_flags(number, handler, (int)SA_RESETHAND | SA_NODEFER));

sighandler_t __sysv_signal(int number, sighandler_t handler);

EXPORT sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	return sysv_signal(number, handler);
}

EXPORT int siginterrupt(int signal, int interrupts)
{
	struct signal_action action;

	ENTER();
	if (!signal_is_valid(signal))
		return (int)interpose_result(-EINVAL);
	action = *signal_action_of(signal);
	action.flags = interrupts ? action.flags & ~SA_RESTART : action.flags | SA_RESTART;
	return signal_action_change(signal, &action, NULL);
}

static int signal_mask_change(int how, const sigset_t *set, sigset_t *old)
{
	struct engine_thread *self = engine_current();
	uint64_t mask = self->signals_blocked;
	uint64_t bits = set ? signal_set_bits(set) & ~signal_unblockable() : 0;

	if (set && how == SIG_BLOCK)
		mask |= bits;
	else if (set && how == SIG_UNBLOCK)
		mask &= ~bits;
	else if (set && how == SIG_SETMASK)
		mask = bits;
	else if (set)
		return EINVAL;
	if (old) {
		*old = (sigset_t){0};
		old->__val[0] = self->signals_blocked;
	}
	signal_take_from_kernel(self->signals_blocked & ~mask);
	signal_set_mask(self, mask);
	if (set)
		(void)signals_deliver_now();
	return 0;
}

static int signal_mask_change_raw(int how, const sigset_t *set, sigset_t *old)
{
	return (int)-platform_call(SYS_rt_sigprocmask, how, set, old, sizeof(uint64_t));
}

INTERPOSED(int, pthread_sigmask, (int how, const sigset_t *restrict set, sigset_t *restrict old),
	signals_have_left_control() ? signal_mask_change_raw(how, set, old)
				    : signal_mask_change(how, set, old));

INTERPOSED(int, sigprocmask, (int how, const sigset_t *restrict set, sigset_t *restrict old),
	(int)interpose_result(-pthread_sigmask(how, set, old)));

long call_rt_sigpending(const long arguments[6], uint64_t site)
{
	const struct engine_thread *self = engine_current();
	uint64_t *set = (uint64_t *)arguments[0];

	(void)site;
	if (signals_have_left_control() || arguments[1] != MASK_BYTES ||
		interpose_is_bad_pointer(set))
		return platform_call(SYS_rt_sigpending, arguments[0], arguments[1]);
	signal_queue_drain();
	*set = (self->signals_pending | signal_queue_process()) & self->signals_blocked;
	return 0;
}

EXPORT int sigpending(sigset_t *set)
{
	ENTER();
	if (!interpose_is_bad_pointer(set))
		*set = (sigset_t){0};
	return (int)interpose_result(ANSWER(rt_sigpending, set, MASK_BYTES));
}

long call_rt_sigaction(const long arguments[6], uint64_t site)
{
	const struct kernel_action *wanted = (const struct kernel_action *)arguments[1];
	struct kernel_action *old = (struct kernel_action *)arguments[2];
	int signal = (int)arguments[0];
	struct signal_action action;
	struct sigaction before;

	(void)site;
	if (signals_have_left_control())
		return CALL_OF_KERNEL;
	if (!signal_is_valid(signal) || arguments[3] != MASK_BYTES)
		return -EINVAL;
	signal_action_to_user(signal_action_of(signal), &before);
	if (wanted) {
		action.flags = (int)(wanted->flags & ~KERNEL_ACTION_RESTORER);
		action.mask = wanted->mask;
		action.handler.plain = (void (*)(int))wanted->handler;
		if (signal == SIGKILL || signal == SIGSTOP || signal_action_set(signal, &action))
			return -EINVAL;
	}
	if (old)
		*old = (struct kernel_action){.handler = (void *)before.sa_handler,
			.flags = (unsigned int)before.sa_flags,
			.mask = signal_set_bits(&before.sa_mask)};
	return 0;
}

long call_rt_sigprocmask(const long arguments[6], uint64_t site)
{
	const uint64_t *set = (const uint64_t *)arguments[1];
	uint64_t *old = (uint64_t *)arguments[2];
	sigset_t wanted = {0};
	sigset_t before;
	int error;

	(void)site;
	if (signals_have_left_control())
		return CALL_OF_KERNEL;
	if (arguments[3] != MASK_BYTES)
		return -EINVAL;
	if (set)
		wanted.__val[0] = *set;
	error = signal_mask_change((int)arguments[0], set ? &wanted : NULL, &before);
	if (!error && old)
		*old = before.__val[0];
	return -error;
}
