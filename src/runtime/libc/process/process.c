/* fork and its variants, _exit, and waiting for children. A forked child has an engine of its own,
 * from the first of libc's fork handlers on, before any code of the target runs there. Virtual time
 * and deadlocks are those of the whole process family (family.h). A child dies with its parent, so
 * no run leaves processes behind. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/hot_state.h"
#include "runtime/attach.h"
#include "runtime/libc/child_run.h"
#include "runtime/libc/family.h"
#include "runtime/interpose.h"
#include "runtime/libc/raw_thread.h"
#include "runtime/runtime.h"
#include "runtime/quick.h"
#include "runtime/sites.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/time_stamp_counter.h"
#include "runtime/libc/world.h"

/* No header declares these: pthread_atfork() calls the function, and passes the address of the variable to name the
 * library that calls. */
int __register_atfork(
	void (*prepare)(void), void (*parent)(void), void (*child_handler)(void), void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));

/* Written before a fork, read in the child. */
static HOT_STATE struct {
	long parent_pid;
	bool dies_with_parent;	 /* the forking kernel thread lives as long as the process */
	uint32_t early_children; /* created before the first thread, and not waited for yet */
	uint64_t forks;		 /* forks by this process and its ancestors */
	/* Signal mask of the forking thread; all signals are blocked during the fork */
	uint64_t kernel_mask;
	char any_child; /* its address stands for all children */
} process;

static void process_fork_prepare(void)
{
	uint64_t all = ~UINT64_C(0);

	process.parent_pid = platform_call(SYS_getpid);
	process.forks++;
	family_prepare_fork();
	process.dies_with_parent = platform_call(SYS_gettid) == process.parent_pid;
	runtime_taint("made a child process (fork)", 0);
	semaphore_prepare_fork();
	runtime.has_forked = true;
	runtime_dispatch_pause();
	time_stamp_counter_release();
	/* Blocks all signals: one that arrives early in the child would count as the parent's. */
	(void)platform_call(
		SYS_rt_sigprocmask, SIG_SETMASK, &all, &process.kernel_mask, sizeof all);
}

static void process_fork_restore_mask(void)
{
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &process.kernel_mask, NULL,
		sizeof process.kernel_mask);
}

static void process_fork_in_parent(void)
{
	process.early_children += !engine_is_live();
	fd_were_inherited();
	runtime_note_feature(FEATURE_CHILD);
	process_fork_restore_mask();
	if (runtime.has_dispatch)
		time_stamp_counter_trap();
	runtime_dispatch_resume();
}

/* Draws the seed of a child, which differs from those of parent and siblings. */
static uint64_t process_random_seed(void)
{
	uint64_t number;

	engine_random_bytes(&number, sizeof number); /* changes only the child's copy */
	return hash_pair(number, process.forks);
}

void process_become_child(void)
{
	process.early_children = 0;
	/* The kernel has disarmed the dispatch; the first thread creation arms it again. */
	runtime.has_dispatch = false;
	runtime.has_created = false;
	runtime.is_forked_child = true;
	sites_are_live = SITES_OFF;
	time_begin_child();
	timer_begin_child();
	aio_begin_child();
	engine_begin_child(process_random_seed());
	signals_begin_child();
}

void process_become_program(void)
{
	runtime.is_forked_child = false;
	family_leave();
	engine_set_performed(runtime.contract->plan.detectors ? runtime_detect : NULL);
	/* A process whose parent is not the command gets no such signal; the command ends it. */
	if (platform_call(SYS_getppid) == runtime.contract->host_pid)
		(void)platform_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
}

bool process_leaves_daemon(int status)
{
	return daemon_is_left(status, process.early_children);
}

/* Makes the kernel kill this child when its parent dies. A forked child's children survive it; the
 * command reaps what a run leaves. */
static void process_fork_die_with_parent(void)
{
	if (!runtime.contract || !process.dies_with_parent)
		return;
	(void)platform_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
	if (platform_call(SYS_getppid) != process.parent_pid)
		(void)platform_call(SYS_kill, platform_call(SYS_getpid), SIGKILL);
}

static void process_fork_in_child(void)
{
	const bool is_first = !runtime.is_forked_child;

	fd_were_inherited(); /* the parent holds the other ends */
	runtime_dispatch_resume();
	family_forked(0);
	child_run_forked();
	if (is_first)
		daemon_forked(process.parent_pid);
	process_become_child();
	engine_current()->kernel_id = (int)platform_call(SYS_gettid);
	process_fork_restore_mask();
	if (is_first)
		process_fork_die_with_parent();
}

/* Registers the runtime's handlers once, before those of all other libraries. libc runs the handlers of a child
 * in the order of registration, so the child has its own engine before other handlers call the runtime. */
static void process_register_handlers(void)
{
	static HOT_STATE bool is_registered;

	if (is_registered || !attach_is_first())
		return;
	is_registered = true;
	/* The call fails only if memory is short; forks then have no handlers, as in any program. */
	(void)REAL(__register_atfork)(
		process_fork_prepare, process_fork_in_parent, process_fork_in_child, &__dso_handle);
}

/* pthread_atfork() calls this function. A library may call it before the runtime's constructor has run, as an allocator
 * does at its first allocation. */
EXPORT int __register_atfork(
	void (*prepare)(void), void (*parent)(void), void (*child_handler)(void), void *library)
{
	process_register_handlers();
	return REAL(__register_atfork)(prepare, parent, child_handler, library);
}

__attribute__((constructor)) static void process_constructor(void)
{
	process_register_handlers();
}

/* Called before all work for a fork: other threads may run here. */
static void process_fork_point(uint64_t site)
{
	if (engine_is_live() && engine_live_count() > 1)
		engine_point(OP_PROCESS_FORK, NULL, site);
	else
		runtime_trace_call(CALL_FORK, site);
	child_run_prepare_fork();
}

/* Forks: libc runs the pthread_atfork() handlers under a lock that detectors cannot see. */
static pid_t process_fork_in_order(uint64_t site)
{
	static const char handlers;
	pid_t pid;

	process_fork_point(site);
	engine_note(OP_MUTEX_LOCK, &handlers, site);
	pid = REAL(fork)();
	if (pid) {
		family_forked(pid);
		engine_note(OP_MUTEX_UNLOCK, &handlers, site);
	}
	return pid;
}

INTERPOSED(pid_t, fork, (void), process_fork_in_order(CALL_SITE));

/* vfork()'s child would run on its parent's stack with the runtime's state. */
INTERPOSED(pid_t, vfork, (void), process_fork_in_order(CALL_SITE));

EXPORT pid_t _Fork(void)
{
	pid_t pid;

	ENTER();
	process_fork_point(CALL_SITE);
	process_fork_prepare();
	pid = REAL(_Fork)();
	if (pid == 0) {
		process_fork_in_child();
	} else {
		family_forked(pid);
		process_fork_in_parent();
	}
	return pid;
}

/* Task of a clone()'s child, which has a copy of it. */
static struct {
	int (*function)(void *);
	void *argument;
} cloned;

static int process_clone_in_child(void *unused)
{
	(void)unused;
	process_fork_in_child();
	return cloned.function(cloned.argument);
}

/* Handles a clone without shared memory like a fork; others are left to the kernel. */
EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
	va_list rest;
	pid_t *parent_id, *child_id;
	void *thread_block;
	int pid;

	ENTER();
	va_start(rest, argument);
	parent_id = va_arg(rest, pid_t *);
	thread_block = va_arg(rest, void *);
	child_id = va_arg(rest, pid_t *);
	va_end(rest);
	if (flags & CLONE_THREAD) {
		runtime_first_create(); /* arms the dispatch, which controls the thread */
		if (!runtime.has_dispatch)
			raw_thread_refuse();
	}
	if (flags & CLONE_VM || !function)
		return REAL(clone)(
			function, stack, flags, argument, parent_id, thread_block, child_id);
	process_fork_point(CALL_SITE);
	cloned.function = function;
	cloned.argument = argument;
	process_fork_prepare();
	pid = REAL(clone)(
		process_clone_in_child, stack, flags, NULL, parent_id, thread_block, child_id);
	family_forked(pid);
	process_fork_in_parent();
	return pid;
}

static void process_note_program(bool is_in_child)
{
	if (is_in_child)
		runtime_note_feature(FEATURE_CHILD_PROGRAM);
}

INTERPOSED(int, execv, (const char *path, char *const arguments[]),
	(process_note_program(runtime.is_forked_child), REAL(execv)(path, arguments)));
INTERPOSED(int, execve, (const char *path, char *const arguments[], char *const environment[]),
	(process_note_program(runtime.is_forked_child),
		REAL(execve)(path, arguments, environment)));
INTERPOSED(int, execvp, (const char *file, char *const arguments[]),
	(process_note_program(runtime.is_forked_child), REAL(execvp)(file, arguments)));
/* The child runs the program without a call that the runtime sees. */
INTERPOSED(int, posix_spawn,
	(pid_t * child, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const arguments[],
		char *const environment[]),
	(process_note_program(true),
		REAL(posix_spawn)(child, path, actions, attributes, arguments, environment)));
INTERPOSED(int, posix_spawnp,
	(pid_t * child, const char *file, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const arguments[],
		char *const environment[]),
	(process_note_program(true),
		REAL(posix_spawnp)(child, file, actions, attributes, arguments, environment)));

EXPORT int daemon(int stays_in_folder, int keeps_streams)
{
	ENTER();
	int null;
	pid_t pid = process_fork_in_order(CALL_SITE);

	if (pid < 0)
		return -1;
	if (pid)
		_exit(0);
	if (setsid() < 0 || (!stays_in_folder && chdir("/")))
		return -1;
	if (keeps_streams)
		return 0;
	null = open("/dev/null", O_RDWR);
	if (null < 0)
		return -1;
	for (int fd = 0; fd <= 2; fd++)
		if (dup2(null, fd) < 0)
			return -1;
	if (null > 2)
		(void)close(null);
	return 0;
}

EXPORT void exit(int status)
{
	ENTER();
	if (runtime.exits)
		runtime.exits(status);
	runtime_trace_call(CALL_EXIT, CALL_SITE);
	REAL(exit)(status);
	__builtin_unreachable();
}

EXPORT void _exit(int status)
{
	ENTER();
	runtime_let_others_move();
	runtime_run_ended(status & 0xff);
}

EXPORT void _Exit(int status)
{
	ENTER();
	runtime_let_others_move();
	runtime_run_ended(status & 0xff);
}

struct child_wait {
	idtype_t type;
	id_t id;
	int options;
};

static bool process_child_is_ready(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct child_wait *wait = (const struct child_wait *)(uintptr_t)op->argument;
	siginfo_t information = {0};
	long result = platform_call(SYS_waitid, wait->type, wait->id, &information,
		wait->options | WNOHANG | WNOWAIT, NULL);

	(void)thread;
	return platform_failed(result) || information.si_pid;
}

/* Returns 0 or -EINTR; acts on cancellation. */
static long process_child_perform(const struct child_wait *wait, uint64_t site)
{
	struct engine_op op = {.kind = OP_CHILD_WAIT,
		.interruptions = INTERRUPT_SIGNAL | INTERRUPT_CANCEL,
		.address = &process.any_child,
		.site = site,
		.ready = wait->options & WNOHANG ? NULL : process_child_is_ready,
		.deadline_ns = ENGINE_FOREVER,
		.argument = (uint64_t)(uintptr_t)wait};

	for (;;) {
		switch (engine_perform(&op)) {
		case WAIT_CANCELLED:
			runtime_act_on_cancel();
		case WAIT_INTERRUPTED:
			if (!signals_want_restart())
				return -EINTR;
			break;
		default:
			return 0;
		}
	}
}

static struct child_wait process_child_wait_of(pid_t pid, int options)
{
	struct child_wait wait = {.type = P_PID, .id = (id_t)pid, .options = options | WEXITED};

	if (pid == -1) {
		wait.type = P_ALL;
	} else if (pid <= 0) {
		wait.type = P_PGID;
		wait.id = (id_t)-pid;
	}
	return wait;
}

/* Handles a wait that reaped a child, or failed with -ECHILD. A child created before the first
 * thread exists once for all runs: the wait of one run takes it from later runs. A forked run has
 * no such child. */
static void process_child_was_reaped(void)
{
	(void)family_look();	     /* advances the clock to the child's */
	(void)signals_deliver_now(); /* handlers of the child's signals run before the wait returns */
	if (process.early_children && engine_is_live())
		runtime_taint_shared("waited for a child made before the first thread");
	else if (process.early_children)
		process.early_children--;
}

static long process_wait_four(
	pid_t pid, int *status, int options, struct rusage *usage, uint64_t site)
{
	struct child_wait wait = process_child_wait_of(pid, options);
	long result;

	do {
		result = process_child_perform(&wait, site);
		if (result)
			return result;
		result = target_call(SYS_wait4, pid, status, options | WNOHANG, usage);
	} while (!result && !(options & WNOHANG));
	if (!result)
		world_failed_try(true);
	else if (!platform_failed(result) || (result == -ECHILD && engine_is_live()))
		process_child_was_reaped();
	engine_changed_kind(OP_CHILD_WAIT);
	return result;
}

long call_wait4(const long arguments[6], uint64_t site)
{
	return process_wait_four((pid_t)arguments[0], (int *)arguments[1], (int)arguments[2],
		(struct rusage *)arguments[3], site);
}

ANSWERED(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), wait4, pid,
	status, options, usage);
ANSWERED(pid_t, wait3, (int *status, int options, struct rusage *usage), wait4, -1, status, options,
	usage);
ANSWERED(pid_t, waitpid, (pid_t pid, int *status, int options), wait4, pid, status, options);
ANSWERED(pid_t, wait, (int *status), wait4, -1, status);

static long process_wait_by_id(
	const struct child_wait *wait, siginfo_t *out, struct rusage *usage, uint64_t site)
{
	siginfo_t information;
	long result;

	do {
		result = process_child_perform(wait, site);
		if (result)
			return result;
		information = (siginfo_t){0};
		result = target_call(SYS_waitid, wait->type, wait->id, &information,
			wait->options | WNOHANG, usage);
	} while (!result && !information.si_pid && !(wait->options & WNOHANG));
	if (!result && !information.si_pid)
		world_failed_try(true);
	if ((!result && information.si_pid && !(wait->options & WNOWAIT)) ||
		(result == -ECHILD && engine_is_live()))
		process_child_was_reaped();
	if (!result && out)
		*out = information;
	engine_changed_kind(OP_CHILD_WAIT);
	return result;
}

long call_waitid(const long arguments[6], uint64_t site)
{
	struct child_wait wait = {.type = (idtype_t)arguments[0],
		.id = (id_t)arguments[1],
		.options = (int)arguments[3]};

	return process_wait_by_id(
		&wait, (siginfo_t *)arguments[2], (struct rusage *)arguments[4], site);
}

ANSWERED(int, waitid, (idtype_t type, id_t id, siginfo_t *out, int options), waitid, type, id, out,
	options);

bool runtime_emulate_process(long number, const long arguments[6], long *result)
{
	if (number == SYS_prctl)
		return runtime_emulate_name(arguments, result);
	return runtime_emulate_exec(number, arguments, result);
}
