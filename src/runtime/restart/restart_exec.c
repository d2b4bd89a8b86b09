/* A fresh process for every run, which the command starts: nothing to revert or share. */
#include <sys/syscall.h>

#include "runtime/focus.h"
#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/runtime.h"

static void restart_exec_at_main(void)
{
	outcome_set(&runtime.contract->outcome, OUTCOME_NONE, THREAD_NONE, 0);
	runtime.contract->is_live = 0;
}

static void restart_exec_at_first_create(void)
{
	runtime.has_dispatch = !runtime.contract->plan.without_dispatch && runtime_dispatch_arm();
	runtime.contract->has_dispatch = runtime.has_dispatch;
	memory_prepare_run(runtime.contract->plan.run_first);
	(void)focus_prepare_run(
		/* a fresh process never continues from an earlier run */
		runtime.contract->plan.run_first);
	memory_switch_sites();
	runtime_begin_run(runtime.contract->plan.run_first, NULL);
}

static void restart_exec_finish(int status) __attribute__((noreturn));
static void restart_exec_finish(int status)
{
	const struct outcome *outcome = &runtime.contract->outcome;
	bool is_failure = runtime_account_run();

	/* No ring: the command waits for the end of the process, which interrupts it. */
	runtime_report(is_failure ? REPORT_FAILURE : REPORT_BATCH);
	if (outcome->kind == OUTCOME_CRASH || outcome->kind == OUTCOME_ABORT) {
		/* Dies by the signal that the outcome names, for parents and core patterns. */
		struct {
			void *handler;
			unsigned long flags;
			void *restorer;
			unsigned long mask;
		} action = {0};

		(void)platform_call(SYS_rt_sigaction, status, &action, NULL, 8);
		(void)platform_call(
			SYS_tgkill, platform_call(SYS_getpid), platform_call(SYS_gettid), status);
	}
	for (;;)
		(void)platform_call(SYS_exit_group,
			outcome->kind == OUTCOME_PASSED || outcome->kind == OUTCOME_EXIT ? status
											 : 1);
}

const struct restart restart_exec = {
	.name = "exec",
	.at_main = restart_exec_at_main,
	.at_first_create = restart_exec_at_first_create,
	.finish = restart_exec_finish,
};
