/*
 * Signal dispositions, masks and sending. Masks are kept per thread by the engine; the kernel hears of
 * neither masks nor handlers. In a forked child that has left control everything is the kernel's again.
 * Runs in the target's moving thread and inside handlers.
 */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/signals.h"
#include "runtime/world.h"

static bool signal_is_valid(int signal)
{
	return signal >= 1 && signal <= SIGNAL_LAST && signal != 32 && signal != 33;
}

/* ---- dispositions ---- */

static void action_to_user(const struct signal_action *action, struct sigaction *out)
{
	*out = (struct sigaction){.sa_flags = action->flags};
	out->sa_handler = action->handler.plain;
	out->sa_mask.__val[0] = action->mask;
}

/* POSIX: what is pending and now ignored is gone. */
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

static long action_set(int signal, const struct signal_action *wanted)
{
	struct signal_action *action = signal_action_of(signal);
	struct kernel_action raw = {.handler = (void *)wanted->handler.plain,
		.flags = (unsigned long)(unsigned int)wanted->flags | KERNEL_ACTION_RESTORER,
		.restorer = platform_signal_return,
		.mask = wanted->mask};

	*action = *wanted;
	if (signals_have_left_control())
		return platform_call(SYS_rt_sigaction, signal, &raw, NULL, sizeof raw.mask);
	/*
	 * Once the kernel brings us a signal, it goes on doing so: a rewind puts back what the target
	 * asked for, not what the kernel was told. Ignoring is only told before threads exist, so that
	 * programs started later inherit it.
	 */
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

static int action_change(int signal, const struct signal_action *wanted, struct sigaction *old)
{
	struct sigaction before;

	if (!signal_is_valid(signal) || (wanted && (signal == SIGKILL || signal == SIGSTOP)))
		return (int)interpose_result(-EINVAL);
	action_to_user(signal_action_of(signal), &before);
	if (wanted && action_set(signal, wanted))
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
		return action_change(signal, NULL, old);
	action = (struct signal_action){
		.flags = wanted->sa_flags, .mask = signal_set_bits(&wanted->sa_mask)};
	action.handler.plain = wanted->sa_handler;
	return action_change(signal, &action, old);
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
	if (handler == SIG_ERR || action_change(signal, &action, &old)) {
		errno = EINVAL;
		return SIG_ERR;
	}
	return old.sa_handler;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	ENTER();
	return signal_with_flags(number, handler, SA_RESTART);
}

sighandler_t bsd_signal(int number, sighandler_t handler);

EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
	ENTER();
	return signal_with_flags(number, handler, SA_RESTART);
}

EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
	ENTER();
	return signal_with_flags(number, handler, (int)SA_RESETHAND | SA_NODEFER);
}

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
	return action_change(signal, &action, NULL);
}

/* ---- masks ---- */

/* 0 or a positive errno. */
static int mask_change(int how, const sigset_t *set, sigset_t *old)
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
	self->signals_blocked = mask;
	if (set)
		(void)signals_deliver_now(); /* what is unblocked comes before the call returns */
	return 0;
}

static int mask_change_raw(int how, const sigset_t *set, sigset_t *old)
{
	return (int)-platform_call(SYS_rt_sigprocmask, how, set, old, sizeof(uint64_t));
}

EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	ENTER();
	return signals_have_left_control() ? mask_change_raw(how, set, old)
					   : mask_change(how, set, old);
}

EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
	ENTER();
	return (int)interpose_result(-pthread_sigmask(how, set, old));
}

EXPORT int sigpending(sigset_t *set)
{
	const struct engine_thread *self;

	ENTER();
	if (signals_have_left_control())
		return (int)interpose_result(
			platform_call(SYS_rt_sigpending, set, sizeof(uint64_t)));
	signal_queue_drain();
	self = engine_current();
	*set = (sigset_t){0};
	set->__val[0] = (self->signals_pending | signal_queue_process()) & self->signals_blocked;
	return 0;
}

/* ---- sending ---- */

static siginfo_t information_of_caller(int signal, int code)
{
	siginfo_t information = {.si_signo = signal, .si_code = code};

	information.si_pid = (int)platform_call(SYS_getpid);
	information.si_uid = (uid_t)platform_call(SYS_getuid);
	return information;
}

/* To one thread. 0 or a positive errno. */
static int send_to_thread(struct engine_thread *thread, siginfo_t information, uint64_t site)
{
	int signal = information.si_signo;

	if (signal < 0 || signal > SIGNAL_LAST)
		return EINVAL;
	if (thread->state != THREAD_ALIVE || !signal)
		return 0;
	engine_point(OP_SIGNAL_SEND, thread, site);
	if (thread->state != THREAD_ALIVE)
		return 0; /* it has ended meanwhile: as glibc, no error */
	return signal_send(thread, &information);
}

static int send_to_process(siginfo_t information, uint64_t site)
{
	int signal = information.si_signo;

	if (signal < 0 || signal > SIGNAL_LAST)
		return EINVAL;
	if (!signal)
		return 0;
	engine_point(OP_SIGNAL_SEND, NULL, site);
	return signal_send(NULL, &information);
}

EXPORT int pthread_kill(pthread_t handle, int signal)
{
	struct engine_thread *thread;

	ENTER();
	if (signals_have_left_control())
		return (int)-platform_call(
			SYS_tgkill, platform_call(SYS_getpid), platform_call(SYS_gettid), signal);
	thread = engine_thread_by_handle(handle);
	if (!thread)
		return ESRCH;
	if (signal == 32 || signal == 33)
		return EINVAL;
	return send_to_thread(thread, information_of_caller(signal, SI_TKILL), CALL_SITE);
}

EXPORT int pthread_sigqueue(pthread_t handle, int signal, const union sigval value)
{
	struct engine_thread *thread;
	siginfo_t information;

	ENTER();
	thread = engine_thread_by_handle(handle);
	if (!thread)
		return ESRCH;
	information = information_of_caller(signal, SI_QUEUE);
	information.si_value = value;
	return send_to_thread(thread, information, CALL_SITE);
}

EXPORT int raise(int signal)
{
	ENTER();
	if (signals_have_left_control())
		return (int)interpose_result(platform_call(
			SYS_tgkill, platform_call(SYS_getpid), platform_call(SYS_gettid), signal));
	if (!signal_is_valid(signal))
		return (int)interpose_result(-EINVAL);
	return (int)interpose_result(-send_to_thread(
		engine_current(), information_of_caller(signal, SI_TKILL), CALL_SITE));
}

/* What another process or a whole group is sent goes through the kernel, and may come back at once. */
static long send_through_kernel(long number, long receiver, long second, long third)
{
	long result = target_call(number, receiver, second, third);

	(void)signals_deliver_now();
	return result;
}

static bool is_for_us(pid_t pid)
{
	return !signals_have_left_control() && pid == platform_call(SYS_getpid);
}

EXPORT int kill(pid_t pid, int signal)
{
	ENTER();
	if (!is_for_us(pid))
		return (int)interpose_result(send_through_kernel(SYS_kill, pid, signal, 0));
	return (int)interpose_result(
		-send_to_process(information_of_caller(signal, SI_USER), CALL_SITE));
}

EXPORT int sigqueue(pid_t pid, int signal, const union sigval value)
{
	siginfo_t information;

	ENTER();
	information = information_of_caller(signal, SI_QUEUE);
	information.si_value = value;
	if (!is_for_us(pid))
		return (int)interpose_result(send_through_kernel(
			SYS_rt_sigqueueinfo, pid, signal, (long)(uintptr_t)&information));
	return (int)interpose_result(-send_to_process(information, CALL_SITE));
}

static struct engine_thread *thread_by_kernel_id(int kernel_id)
{
	for (uint32_t i = 0; i < engine_thread_count(); i++)
		if (engine_thread(i)->state == THREAD_ALIVE &&
			engine_thread(i)->kernel_id == kernel_id)
			return engine_thread(i);
	return NULL;
}

static long send_to_kernel_id(int kernel_id, int signal, uint64_t site)
{
	struct engine_thread *thread = thread_by_kernel_id(kernel_id);

	if (!thread && kernel_id == platform_call(SYS_gettid))
		thread = engine_current(); /* libc asked the kernel for its own number */
	if (!thread)
		return -ESRCH;
	return -send_to_thread(thread, information_of_caller(signal, SI_TKILL), site);
}

EXPORT int tgkill(pid_t group, pid_t thread, int signal)
{
	ENTER();
	if (!is_for_us(group))
		return (int)interpose_result(
			send_through_kernel(SYS_tgkill, group, thread, signal));
	return (int)interpose_result(send_to_kernel_id(thread, signal, CALL_SITE));
}

/* ---- trapped system calls ---- */

static long emulate_action(
	int signal, const struct kernel_action *wanted, struct kernel_action *old)
{
	struct signal_action action;
	struct sigaction before;

	if (!signal_is_valid(signal))
		return -EINVAL;
	action_to_user(signal_action_of(signal), &before);
	if (wanted) {
		action.flags = (int)(wanted->flags & ~KERNEL_ACTION_RESTORER);
		action.mask = wanted->mask;
		action.handler.plain = (void (*)(int))wanted->handler;
		if (signal == SIGKILL || signal == SIGSTOP || action_set(signal, &action))
			return -EINVAL;
	}
	if (old)
		*old = (struct kernel_action){.handler = (void *)before.sa_handler,
			.flags = (unsigned int)before.sa_flags,
			.mask = signal_set_bits(&before.sa_mask)};
	return 0;
}

static long emulate_mask(int how, const uint64_t *set, uint64_t *old)
{
	sigset_t wanted = {0};
	sigset_t before;
	int error;

	if (set)
		wanted.__val[0] = *set;
	error = mask_change(how, set ? &wanted : NULL, &before);
	if (!error && old)
		*old = before.__val[0];
	return -error;
}

bool runtime_emulate_signal(long number, const long arguments[6], long *result)
{
	if (signals_have_left_control())
		return false;
	switch (number) {
	case SYS_rt_sigaction:
		*result = emulate_action((int)arguments[0],
			(const struct kernel_action *)arguments[1],
			(struct kernel_action *)arguments[2]);
		return true;
	case SYS_rt_sigprocmask:
		*result = emulate_mask((int)arguments[0], (const uint64_t *)arguments[1],
			(uint64_t *)arguments[2]);
		return true;
	case SYS_kill:
		if (!is_for_us((pid_t)arguments[0]))
			return false;
		*result = -send_to_process(information_of_caller((int)arguments[1], SI_USER), 0);
		return true;
	case SYS_tkill:
		*result = send_to_kernel_id((int)arguments[0], (int)arguments[1], 0);
		return true;
	case SYS_tgkill:
		if (!is_for_us((pid_t)arguments[0]))
			return false;
		*result = send_to_kernel_id((int)arguments[1], (int)arguments[2], 0);
		return true;
	default:
		return false;
	}
}
