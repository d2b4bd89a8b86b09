/*
 * Daemons: a process that forks, and exits before it creates a thread, has left its work to the
 * child. The child is the program from then on. The child leaves control at the fork like every
 * forked child. If it or an ancestor of it has called setsid(), its first thread creation takes
 * control back.
 *
 * contract->daemon goes from DAEMON_NONE to DAEMON_MADE (setsid() in the child) to DAEMON_LEFT (the
 * parent has exited). The child then replaces the parent in contract->guest_pid.
 *
 * Runs in the only thread of its process. The restart fork_main excludes daemons, because its
 * server knows only the process that it started.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/world.h"

/* Time that a parent has to exit after its fork. A parent that waits longer for its child remains
 * the program. */
#define PATIENCE_MS 1000

/* Written at forks and by setsid(). */
static struct {
	/* The process that raddle started; 0: this one, or it had created a thread. */
	uint32_t first_pid;
	/* This process or an ancestor, other than the first process, has called setsid(). */
	bool is_daemon;
} daemons;

void daemon_forked(long parent_pid)
{
	if (!daemons.first_pid && !runtime.has_created && runtime.contract &&
		!runtime.is_forked_child)
		daemons.first_pid = (uint32_t)parent_pid;
}

static void daemon_sleep_a_little(void)
{
	const struct timespec time = {.tv_nsec = 1000000};

	(void)platform_call(SYS_nanosleep, &time, NULL);
}

static uint32_t daemon_state(void)
{
	/* Pairs with the releases below. */
	return __atomic_load_n(&runtime.contract->daemon, __ATOMIC_ACQUIRE);
}

EXPORT pid_t setsid(void)
{
	ENTER();
	long result = target_call(SYS_setsid);

	if (!platform_failed(result) && daemons.first_pid && !daemons.is_daemon) {
		daemons.is_daemon = true;
		/* The daemon must outlive its parent; the command ends it. */
		(void)platform_call(SYS_prctl, PR_SET_PDEATHSIG, 0);
		__atomic_store_n(&runtime.contract->daemon, DAEMON_MADE, __ATOMIC_RELEASE);
	}
	return (pid_t)interpose_result(result);
}

bool daemon_is_left(int status, uint32_t children)
{
	int pids[CHILDREN_MAX];

	if (!runtime.contract || runtime.has_created || runtime.is_forked_child || status != 0)
		return false;
	/* The child may not have called setsid() yet. */
	for (int i = 0; i < PATIENCE_MS && daemon_state() == DAEMON_NONE; i++) {
		if (!children || !children_alive(pids))
			return false;
		daemon_sleep_a_little();
	}
	if (daemon_state() == DAEMON_NONE)
		return false;
	__atomic_store_n(&runtime.contract->daemon, DAEMON_LEFT, __ATOMIC_RELEASE);
	return true;
}

bool daemon_becomes_program(void)
{
	struct contract *contract = runtime.contract;
	uint32_t guest = daemons.first_pid;

	if (!daemons.is_daemon || runtime.restart == &restart_fork_main)
		return false;
	daemons.is_daemon = false;
	for (int i = 0; i < PATIENCE_MS && daemon_state() != DAEMON_LEFT; i++)
		daemon_sleep_a_little();
	if (contract->is_live || !__atomic_compare_exchange_n(&contract->guest_pid, &guest,
					 (uint32_t)platform_call(SYS_getpid), false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	/* This process is then a child of the command, and dies with it. */
	for (int i = 0; i < PATIENCE_MS && platform_call(SYS_getppid) != contract->host_pid; i++)
		daemon_sleep_a_little();
	/* Makes the command read the new guest_pid. */
	runtime_ring();
	return true;
}

bool daemon_is_current(void)
{
	return daemons.is_daemon;
}

bool daemon_has_replaced_us(void)
{
	return runtime.contract->guest_pid != (uint32_t)platform_call(SYS_getpid);
}
