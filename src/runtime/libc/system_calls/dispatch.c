/*
 * Syscall User Dispatch: the kernel passes every system call from outside of the section
 * raddle_syscalls to the SIGSYS handler here. The handler sees what interposition cannot: futexes
 * inside glibc and libgomp, inline assembly, stdio's writes. It notes the calls whose effects a
 * rewind must undo.
 *
 * The handler runs in the moving thread, on its stack, and may switch to other threads. The
 * handler, and every return from a signal (platform_signal_return), must make system calls only
 * from that section. SIGSYS has three more senders: the command, when a run hangs (crash.c), the
 * timer that detects spinning threads (memory/spin.c), and a thread that reads the time stamp
 * counter (time/time_stamp_counter.c).
 */
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "runtime/interpose.h"
#include "base/hot_state.h"
#include "runtime/libc/file_point.h"
#include "runtime/libc/raw_thread.h"
#include "runtime/runtime.h"
#include "runtime/undo.h"
#include "runtime/spinning.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/time_stamp_counter.h"

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_OFF 0
#define PR_SYS_DISPATCH_ON 1
#endif
#ifndef SYS_USER_DISPATCH
#define SYS_USER_DISPATCH 2
#endif

/* The kernel reads `selector` at every system call. */
static HOT_STATE struct {
	char selector; /* 1: block, 0: allow */
	int pauses;
} dispatch;

void runtime_dispatch_pause(void)
{
	dispatch.pauses++;
	dispatch.selector = 0;
}

void runtime_dispatch_resume(void)
{
	if (--dispatch.pauses == 0 && runtime.has_dispatch)
		dispatch.selector = 1;
}

/* Handles clone with shared memory (posix_spawn, vfork). A child runs on its own stack. */
static bool dispatch_clone(long number, const long arguments[6], greg_t *registers, long *result)
{
	unsigned long flags;

	if (number == SYS_clone)
		flags = (unsigned long)arguments[0];
	else if (number == SYS_clone3)
		flags = ((const struct clone_args *)arguments[0])->flags;
	else if (number == SYS_vfork)
		flags = CLONE_VM | CLONE_VFORK;
	else
		return false;
	if (flags & CLONE_THREAD) {
		if (runtime.executor == &executor_fiber) {
			*result = raw_thread_create(number, arguments, registers);
			return true;
		}
		if (runtime.contract && !runtime.is_forked_child)
			runtime_refuse(
				"a thread is created without pthread_create (raw clone), and --executor kernel cannot control it; leave that option out");
		*result = -EAGAIN;
		return true;
	}
	runtime_taint("made a child process", number);
	if (!(flags & CLONE_VM))
		return false;
	time_stamp_counter_release();
	/* A child of vfork would return into frames of this handler, so it is forked instead. */
	*result = number == SYS_vfork ? platform_call(SYS_clone, SIGCHLD)
				      : platform_clone_resume(number, registers);
	if (*result)
		time_stamp_counter_trap();
	return true;
}

/* Makes the call in the target's name. A child, or an executed program, reads the real time stamp
 * counter. */
static long dispatch_forward_call(long number, const long a[6])
{
	const bool is_inherited = number == SYS_clone || number == SYS_clone3 ||
				  number == SYS_fork || number == SYS_execve ||
				  number == SYS_execveat;
	long result;

	if (is_inherited)
		time_stamp_counter_release();
	result = runtime_target_call6(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (is_inherited && result)
		time_stamp_counter_trap();
	return result;
}

static bool dispatch_emulate(long number, const long arguments[6], greg_t *registers, long *result)
{
	if (number == SYS_exit_group)
		runtime_run_ended((int)arguments[0]);
	return dispatch_clone(number, arguments, registers, result) ||
	       system_call_answer(number, arguments, (uint64_t)registers[REG_RIP], result);
}

/* Forwards a signal for the moving thread that reached another kernel thread. */
static bool dispatch_forward(siginfo_t *info)
{
	int moving = engine_current()->kernel_id;

	if (runtime.executor == &executor_fiber || platform_call(SYS_gettid) == moving)
		return false;
	(void)platform_call(SYS_rt_tgsigqueueinfo, platform_call(SYS_getpid), moving, SIGSYS,
		info); /* fails if that thread has just ended */
	return true;
}

static void dispatch_handle(int signal, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	long number = registers[REG_RAX];
	long arguments[6] = {registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
		registers[REG_R10], registers[REG_R8], registers[REG_R9]};
	long result;

	(void)signal;
	if (info->si_code != SYS_USER_DISPATCH && dispatch_forward(info))
		return;
	if (info->si_code == SI_TIMER && runtime.watchdog &&
		info->si_value.sival_ptr == (void *)(uintptr_t)runtime.watchdog) {
		runtime.watchdog(context);
		return;
	}
	if (info->si_code == SI_TIMER) {
		if (runtime_is_endless(context))
			runtime_hang(context);
		else
			runtime_spin_tick((uint64_t)registers[REG_RIP]);
		return;
	}
	if (info->si_code == SI_TKILL) {
		time_stamp_counter_read(context);
		return;
	}
	if (info->si_code != SYS_USER_DISPATCH) {
		if (info->si_code == SI_QUEUE && info->si_value.sival_int == CONTRACT_SIGNAL_SPIN)
			runtime_spin_look((uint64_t)registers[REG_RIP]);
		else if (info->si_code == SI_QUEUE &&
			 info->si_value.sival_int == CONTRACT_SIGNAL_NATIVE)
			runtime_run_natively();
		else if (!runtime_hang_is_doubtful())
			runtime_hang(context);
		return;
	}
	if (runtime.contract)
		runtime.contract->totals.system_calls_trapped++;
	if (!dispatch_emulate(number, arguments, registers, &result)) {
		file_point(number, arguments, (uint64_t)registers[REG_RIP]);
		result = dispatch_forward_call(number, arguments);
		runtime_pass((uint64_t)registers[REG_RIP]);
	}
	registers[REG_RAX] = result;
}

void runtime_dispatch_set_up(void)
{
	runtime_install_handler(SIGSYS, dispatch_handle, SA_NODEFER);
}

void runtime_dispatch_disarm(void)
{
	/* Fails, which is harmless, if the dispatch was never armed. */
	(void)platform_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_OFF, 0, 0, 0);
	time_stamp_counter_release();
}

bool runtime_dispatch_arm(void)
{
	long result;

	runtime_dispatch_set_up();
	result = platform_call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
		platform_syscalls_start, platform_syscalls_end - platform_syscalls_start,
		&dispatch.selector);
	if (platform_failed(result))
		return false;
	dispatch.selector = dispatch.pauses == 0;
	time_stamp_counter_trap();
	return true;
}

long runtime_target_call6(long number, long a, long b, long c, long d, long e, long f)
{
	long arguments[6] = {a, b, c, d, e, f};
	long result = platform_syscall6(number, a, b, c, d, e, f);

	runtime_note_call(number, arguments, result);
	engine_note_outside();
	return result;
}
