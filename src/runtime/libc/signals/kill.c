/* Sending signals. Runs in the moving thread and inside handlers. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/thread_ids.h"
#include "runtime/libc/world.h"

static siginfo_t kill_information_of_caller(int signal, int code)
{
	siginfo_t information = {.si_signo = signal, .si_code = code};

	information.si_pid = (int)platform_call(SYS_getpid);
	information.si_uid = (uid_t)platform_call(SYS_getuid);
	return information;
}

/* Makes the scheduling point of a kill. `thread` is NULL if the receiver is the process. */
static void kill_point(struct engine_thread *thread, int signal, uint64_t site)
{
	struct engine_op op = {.kind = OP_SIGNAL_SEND,
		.number = (uint16_t)signal,
		.address = thread,
		.second = thread ? (uint16_t)(thread->id.index + 1) : 0,
		.site = site,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op);
}

/* `thread` NULL: to the process. Returns 0 or a positive errno. */
static int kill_send(struct engine_thread *thread, siginfo_t information, uint64_t site)
{
	int signal = information.si_signo;

	if (signal < 0 || signal > SIGNAL_LAST)
		return EINVAL;
	if (!signal && !thread)
		return 0;
	kill_point(thread, signal, site);
	if (thread && thread->state == THREAD_REAPED)
		return ESRCH;
	if (!signal || (thread && thread->state != THREAD_ALIVE))
		return 0; /* a thread that has ended is no error, as in glibc */
	return signal_send(thread, &information);
}

EXPORT int pthread_kill(pthread_t handle, int signal)
{
	struct engine_thread *thread;

	ENTER();
	if (signals_have_left_control())
		return (int)-platform_call(
			SYS_tgkill, platform_call(SYS_getpid), platform_call(SYS_gettid), signal);
	thread = engine_thread_that_had(handle);
	if (!thread)
		return ESRCH;
	if (signal == 32 || signal == 33)
		return EINVAL;
	return kill_send(thread, kill_information_of_caller(signal, SI_TKILL), CALL_SITE);
}

EXPORT int pthread_sigqueue(pthread_t handle, int signal, const union sigval value)
{
	ENTER();
	siginfo_t information;
	struct engine_thread *thread = engine_thread_that_had(handle);

	if (!thread)
		return ESRCH;
	information = kill_information_of_caller(signal, SI_QUEUE);
	information.si_value = value;
	return kill_send(thread, information, CALL_SITE);
}

EXPORT int raise(int signal)
{
	ENTER();
	if (signals_have_left_control())
		return (int)interpose_result(platform_call(
			SYS_tgkill, platform_call(SYS_getpid), platform_call(SYS_gettid), signal));
	if (!signal_is_valid(signal))
		return (int)interpose_result(-EINVAL);
	return (int)interpose_result(-kill_send(
		engine_current(), kill_information_of_caller(signal, SI_TKILL), CALL_SITE));
}

/* Sends to another process or a group, which may include the caller. */
static long kill_send_through_kernel(long number, long receiver, long second, long third)
{
	long result = target_call(number, receiver, second, third);

	(void)signals_deliver_now();
	return result;
}

static bool kill_is_for_us(pid_t pid)
{
	return !signals_have_left_control() && pid == platform_call(SYS_getpid);
}

long call_kill(const long arguments[6], uint64_t site)
{
	if (!kill_is_for_us((pid_t)arguments[0]))
		return kill_send_through_kernel(SYS_kill, arguments[0], arguments[1], 0);
	return -kill_send(NULL, kill_information_of_caller((int)arguments[1], SI_USER), site);
}

ANSWERED(int, kill, (pid_t pid, int signal), kill, pid, signal);

long call_rt_sigqueueinfo(const long arguments[6], uint64_t site)
{
	const siginfo_t *given = (const siginfo_t *)arguments[2];
	siginfo_t information;

	if (!kill_is_for_us((pid_t)arguments[0]) || interpose_is_bad_pointer(given))
		return kill_send_through_kernel(
			SYS_rt_sigqueueinfo, arguments[0], arguments[1], arguments[2]);
	information = *given;
	information.si_signo = (int)arguments[1];
	return -kill_send(NULL, information, site);
}

EXPORT int sigqueue(pid_t pid, int signal, const union sigval value)
{
	ENTER();
	siginfo_t information = kill_information_of_caller(signal, SI_QUEUE);

	information.si_value = value;
	return (int)interpose_result(ANSWER(rt_sigqueueinfo, pid, signal, &information));
}

static long kill_send_to_id(pid_t id, const siginfo_t *information, uint64_t site)
{
	struct engine_thread *thread = thread_of_id(id);

	return thread ? -kill_send(thread, *information, site) : -ESRCH;
}

long call_tgkill(const long arguments[6], uint64_t site)
{
	const siginfo_t information = kill_information_of_caller((int)arguments[2], SI_TKILL);

	if ((int)arguments[0] <= 0 || (int)arguments[1] <= 0)
		return -EINVAL;
	if (!kill_is_for_us((pid_t)arguments[0]))
		return kill_send_through_kernel(
			SYS_tgkill, arguments[0], arguments[1], arguments[2]);
	return kill_send_to_id((pid_t)arguments[1], &information, site);
}

long call_tkill(const long arguments[6], uint64_t site)
{
	const siginfo_t information = kill_information_of_caller((int)arguments[1], SI_TKILL);

	if ((int)arguments[0] <= 0)
		return -EINVAL;
	if (signals_have_left_control() || !thread_of_id((pid_t)arguments[0]))
		return kill_send_through_kernel(SYS_tkill, arguments[0], arguments[1], 0);
	return kill_send_to_id((pid_t)arguments[0], &information, site);
}

ANSWERED(int, tgkill, (pid_t group, pid_t thread, int signal), tgkill, group, thread, signal);

long call_rt_tgsigqueueinfo(const long arguments[6], uint64_t site)
{
	const siginfo_t *given = (const siginfo_t *)arguments[3];
	siginfo_t information;

	if ((int)arguments[0] <= 0 || (int)arguments[1] <= 0)
		return -EINVAL;
	if (!kill_is_for_us((pid_t)arguments[0]) || interpose_is_bad_pointer(given))
		return CALL_OF_KERNEL;
	information = *given;
	information.si_signo = (int)arguments[2];
	return kill_send_to_id((pid_t)arguments[1], &information, site);
}
