/*
 * Restart by raw fork. A server process stays at the starting point (before main, or at the first
 * thread creation), and every run is a child of it. The fork is a raw clone without exit signal: no
 * SIGCHLD, no atfork handler, no lock of glibc.
 *
 * The child sets guest_pid and begins the run; restart_fork_serve() returns in the child only. The server
 * waits for the child, completes an outcome that the child could not write, and accounts for the
 * run. It runs in the target's main thread, before any other thread exists.
 */
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "runtime/libc/family.h"
#include "runtime/focus.h"
#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/undo.h"
#include "runtime/runtime.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

/* Thread blocks that the last run lacked. Blocks made in the server serve all later runs; blocks
 * made in a child cost a kernel thread per run. */
static struct fiber_counts *fork_made_in_run; /* lies in shared memory; set before the first fork */

/* Descriptors below this number may be pipes and sockets that the program opens. */
#define CHANNELS_MAX 256

/* Inherited, so their other sides lie outside of the program. Written by restart_fork_create_at_main(). */
static uint64_t fork_channels_at_main[BITSET_WORDS(CHANNELS_MAX)];

/* The first read of shared memory maps its neighbours, too; the first write maps one page. */
static void restart_fork_read(const void *shared)
{
	(void)*(const volatile char *)shared;
}

static void restart_fork_child_set_up(void)
{
	struct contract *contract = runtime.contract;

	restart_fork_read(contract);
	restart_fork_read(contract_area(contract, contract->strategy_offset));
	contract->guest_pid = (uint32_t)platform_call(SYS_getpid);
	/* A child must not outlive the server. */
	(void)platform_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	engine_current()->kernel_id = (int)platform_call(SYS_gettid);
	family_leave();
	runtime_await_run();
	contract->taint = TAINT_NONE;
}

/* Derives the outcome from the exit status, if the child wrote none. */
static void restart_fork_complete_outcome(struct contract *contract, int status)
{
	struct outcome *outcome = &contract->outcome;

	if (outcome->kind != OUTCOME_NONE)
		return;
	if (WIFEXITED(status))
		outcome_set(outcome, WEXITSTATUS(status) ? OUTCOME_EXIT : OUTCOME_PASSED,
			THREAD_NONE, WEXITSTATUS(status));
	else
		outcome_set(outcome, WTERMSIG(status) == SIGABRT ? OUTCOME_ABORT : OUTCOME_CRASH,
			THREAD_NONE, WTERMSIG(status));
	outcome->step = contract->heartbeat;
}

static void restart_fork_grow_pool(void)
{
	if (!fork_made_in_run)
		return;
	fiber_pool_grow(fork_made_in_run);
	*fork_made_in_run = (struct fiber_counts){0};
}

/* Returns 0 in the server at the end of the batch, and sets *report. Returns 1 in a child. */
static int restart_fork_batch(uint64_t *number, enum contract_report *report)
{
	struct contract *contract = runtime.contract;
	const struct contract_plan *plan = &contract->plan;

	*report = REPORT_BATCH;
	for (uint64_t i = 0; i < plan->run_limit && !contract->stop; i++) {
		long pid;
		int status = 0;

		*number = plan->run_first + i;
		contract->run_number = *number;
		memory_prepare_run(*number);
		/* The result does not matter: no run continues from an earlier one. */
		(void)focus_prepare_run(*number);
		memory_switch_sites();
		restart_fork_grow_pool();
		pid = platform_fork();
		if (pid == 0) {
			restart_fork_child_set_up();
			return 1;
		}
		if (platform_failed(pid))
			runtime_refuse("fork failed: the system has no room for another process");
		while (platform_call(SYS_wait4, pid, &status, __WALL) == -EINTR)
			continue;
		/* The run has reported its refusal, which the next report would replace. */
		while (contract->outcome.kind == OUTCOME_REFUSED)
			(void)platform_call(SYS_exit_group, WEXITSTATUS(status));
		contract->guest_pid = (uint32_t)platform_call(SYS_getpid);
		/* The command judges a SIGKILL of unknown sender. The server dies the same way. */
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL &&
			contract->outcome.kind == OUTCOME_NONE)
			(void)platform_call(SYS_kill, contract->guest_pid, SIGKILL);
		undo_restore_offsets();
		restart_fork_complete_outcome(contract, status);
		/* The run shared an object (a pipe) with the server: its failure proves nothing. */
		if (contract->taint == TAINT_SHARED && runtime.restart == &restart_fork_create &&
			outcome_is_failure(&contract->outcome))
			outcome_set(&contract->outcome, OUTCOME_TAINTED, THREAD_NONE, 0);
		/* The run left an uncontrolled daemon: the command tries the next restart. */
		if (contract->daemon == DAEMON_LEFT && runtime.restart == &restart_fork_main) {
			contract->taint = TAINT_NONE;
			runtime_taint("leaves its work to a daemon", 0);
			outcome_set(&contract->outcome, OUTCOME_TAINTED, THREAD_NONE, 0);
			(void)runtime_account_run();
			*report = REPORT_TAINTED;
			break;
		}
		if (runtime_account_run())
			*report = REPORT_FAILURE;
		else if (contract->taint == TAINT_SHARED && runtime.restart == &restart_fork_create)
			*report = REPORT_TAINTED;
		if (*report != REPORT_BATCH || runtime_is_exhausted())
			break;
	}
	return 0;
}

/* Returns once per run, in a child, with the number of the run. */
static uint64_t restart_fork_serve(void)
{
	enum contract_report report = REPORT_READY;
	uint64_t number;

	if (runtime.knows_its_id)
		runtime_refuse_restart(
			"reads its process id before the starting point of runs, and each fork has another");
	undo_save_offsets(false);
	if (!fork_made_in_run) /* every run makes its own blocks if this memory is not available */
		fork_made_in_run = platform_map(sizeof *fork_made_in_run, true);
	for (;;) {
		if (runtime_report_and_wait(report) == COMMAND_LEAVE)
			for (;;)
				(void)platform_call(SYS_exit_group, 0);
		if (restart_fork_batch(&number, &report))
			return number;
	}
}

static void restart_fork_go_live(uint64_t number)
{
	runtime.has_dispatch = !runtime.contract->plan.without_dispatch && runtime_dispatch_arm();
	runtime.contract->has_dispatch = runtime.has_dispatch;
	runtime_begin_run(number, NULL);
}

/* Adds the pipes and sockets that are open, and returns whether `channels` lacked one of them. */
static bool restart_fork_note_channels(uint64_t channels[BITSET_WORDS(CHANNELS_MAX)])
{
	bool is_new = false;

	for (uint32_t fd = STANDARD_DESCRIPTORS; fd < CHANNELS_MAX; fd++) {
		struct stat status;

		if (platform_failed(platform_call(SYS_fstat, fd, &status)) ||
			!(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)))
			continue;
		is_new |= !bitset_has(channels, fd);
		bitset_add(channels, fd);
	}
	return is_new;
}

/* Runs are other processes than the server, which keeps its descriptors and its children. */
static void restart_fork_refuse_shared(void)
{
	siginfo_t child;

	if (restart_fork_note_channels(fork_channels_at_main))
		runtime_refuse_restart(
			"opens a pipe or socket before its first thread, and each fork has a copy");
	if (!platform_failed(platform_call(
		    SYS_waitid, P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT | __WALL, NULL)))
		runtime_refuse_restart(
			"forks before its first thread, and forked runs are not the child's parent");
}

static void restart_fork_create_at_main(void)
{
	(void)restart_fork_note_channels(fork_channels_at_main);
	runtime_await_run();
}

static void restart_fork_create_at_first_create(void)
{
	uint64_t number;

	restart_fork_refuse_shared();
	number = restart_fork_serve();
	undo_begin_run();
	restart_fork_go_live(number);
}

static void restart_fork_main_at_main(void)
{
	(void)restart_fork_serve();
}

static void restart_fork_main_at_first_create(void)
{
	restart_fork_go_live(runtime.contract->run_number);
}

static void restart_fork_finish(int status) __attribute__((noreturn));
static void restart_fork_finish(int status)
{
	const struct outcome *outcome = &runtime.contract->outcome;

	if (runtime.restart == &restart_fork_create && !runtime.contract->is_live)
		restart_exec.finish(status); /* before the first creation there is no server */
	if (fork_made_in_run && runtime.executor == &executor_fiber &&
		fiber_made_since_snapshot(NULL, 0))
		*fork_made_in_run = fiber_pool_lacked();
	for (;;)
		(void)platform_call(SYS_exit_group, outcome->kind == OUTCOME_EXIT ? status : 0);
}

const struct restart restart_fork_create = {
	.name = "fork_create",
	.at_main = restart_fork_create_at_main,
	.at_first_create = restart_fork_create_at_first_create,
	.finish = restart_fork_finish,
};

const struct restart restart_fork_main = {
	.name = "fork_main",
	.at_main = restart_fork_main_at_main,
	.at_first_create = restart_fork_main_at_first_create,
	.finish = restart_fork_finish,
};
