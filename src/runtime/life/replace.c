/* execve with restart rewind. This process holds the image of the starting point and must survive.
 * A child executes the other program; the end of the child is the end of the run. With the other
 * restarts the call goes to the kernel unchanged. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "runtime/interpose.h"
#include "runtime/libc/time_stamp_counter.h"
#include "runtime/runtime.h"

/* Runs in the child. `failure` is shared with the parent. */
static void replace_child(long number, const long arguments[6], long *failure)
{
	time_stamp_counter_release();
	(void)platform_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &engine_current()->signals_blocked,
		NULL, sizeof(uint64_t));
	*failure = platform_call(
		number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4]);
	for (;;)
		(void)platform_call(SYS_exit_group, 127);
}

/* Waits for the other program, which is the rest of the run. */
static int replace_wait(long pid)
{
	int status = 0;

	runtime_mark_outside(true);
	while (platform_call(SYS_wait4, pid, &status, __WALL, NULL) == -EINTR)
		continue;
	runtime_mark_outside(false);
	return status;
}

static void replace_end_run(int status) __attribute__((noreturn));
static void replace_end_run(int status)
{
	int signal = WTERMSIG(status);

	if (WIFEXITED(status))
		runtime_run_ended(WEXITSTATUS(status));
	outcome_set(&runtime.contract->outcome, signal == SIGABRT ? OUTCOME_ABORT : OUTCOME_CRASH,
		engine_current()->id, signal);
	runtime_finish_run();
}

bool runtime_emulate_exec(long number, const long arguments[6], long *result)
{
	long *failure;
	int status;

	if ((number != SYS_execve && number != SYS_execveat) || runtime.is_forked_child ||
		!runtime.has_created || runtime.restart != &restart_rewind)
		return false;
	failure = platform_map(sizeof *failure, true);
	*result = failure ? platform_call(SYS_clone, 0, NULL, NULL, NULL, NULL) : -ENOMEM;
	if (*result == 0)
		replace_child(number, arguments, failure);
	if (platform_failed(*result)) {
		if (failure)
			platform_unmap(failure, sizeof *failure);
		return true;
	}
	status = replace_wait(*result);
	*result = *failure;
	platform_unmap(failure, sizeof *failure);
	if (*result)
		return true;
	runtime_taint("became another program", number);
	replace_end_run(status);
}
