#include "process/children.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bug.h"
#include "process/supervisor.h"

/* State for the signal handler, which has no argument. Only the command's thread writes it. Free
 * slots are NULL or 0. */
static struct {
	uint32_t *doorbells[CHILDREN_WORKERS_MAX];
	pid_t processes[CHILDREN_WORKERS_MAX];
	unsigned process_count;
	pid_t helpers[CHILDREN_WORKERS_MAX]; /* children_keep() */
} children;

static void children_ring_doorbells(int number)
{
	(void)number; /* always SIGCHLD */
	for (unsigned i = 0; i < CHILDREN_WORKERS_MAX; i++) {
		uint32_t *doorbell = __atomic_load_n(&children.doorbells[i], __ATOMIC_RELAXED);

		/* A futex wake is not necessary: the sleeper is the thread that this handler
		 * interrupts. */
		if (doorbell)
			__atomic_add_fetch(doorbell, 1, __ATOMIC_SEQ_CST);
	}
}

void children_init(void)
{
	struct sigaction action = {
		.sa_handler = children_ring_doorbells, .sa_flags = SA_RESTART | SA_NOCLDSTOP};

	(void)sigemptyset(&action.sa_mask);		 /* cannot fail */
	(void)sigaction(SIGCHLD, &action, NULL);	 /* a valid signal: cannot fail */
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* since Linux 3.4: cannot fail */
	supervisor_start();
}

void children_forget(void)
{
	children.process_count = 0;
	for (unsigned i = 0; i < CHILDREN_WORKERS_MAX; i++) {
		__atomic_store_n(&children.doorbells[i], NULL, __ATOMIC_RELAXED);
		children.helpers[i] = 0;
	}
}

static void children_replace_doorbell(uint32_t *from, uint32_t *to)
{
	for (unsigned i = 0; i < CHILDREN_WORKERS_MAX; i++) {
		if (children.doorbells[i] == from) {
			__atomic_store_n(&children.doorbells[i], to, __ATOMIC_RELAXED);
			return;
		}
	}
	BUG_ON(to != NULL);
}

void children_watch(uint32_t *doorbell)
{
	children_replace_doorbell(NULL, doorbell);
}

void children_unwatch(uint32_t *doorbell)
{
	children_replace_doorbell(doorbell, NULL);
}

static void children_replace_helper(pid_t from, pid_t to)
{
	for (unsigned i = 0; i < CHILDREN_WORKERS_MAX; i++) {
		if (children.helpers[i] == from) {
			children.helpers[i] = to;
			return;
		}
	}
	BUG_ON(to);
}

void children_keep(pid_t pid)
{
	children_replace_helper(0, pid);
}

void children_keep_end(pid_t pid)
{
	children_replace_helper(pid, 0);
}

static bool children_is_helper(pid_t pid)
{
	for (unsigned i = 0; i < CHILDREN_WORKERS_MAX; i++)
		if (children.helpers[i] == pid)
			return true;
	return pid == supervisor_pid();
}

static bool children_is_added(pid_t pid)
{
	for (unsigned i = 0; i < children.process_count; i++)
		if (children.processes[i] == pid)
			return true;
	return false;
}

void children_add(pid_t pid)
{
	BUG_ON(children.process_count == CHILDREN_WORKERS_MAX);
	children.processes[children.process_count++] = pid;
}

void children_remove(pid_t pid)
{
	for (unsigned i = 0; i < children.process_count; i++)
		if (children.processes[i] == pid)
			children.processes[i--] = children.processes[--children.process_count];
}

unsigned children_count(void)
{
	return children.process_count;
}

void children_kill_added(void)
{
	for (unsigned i = 0; i < children.process_count; i++) {
		(void)kill(-children.processes[i], SIGKILL); /* the process may have no group */
		(void)kill(children.processes[i], SIGKILL);  /* it may have left its group */
	}
}

#define STRAYS_AT_ONCE 64

static unsigned children_list_strays(pid_t strays[STRAYS_AT_ONCE])
{
	FILE *list;
	char path[64];
	unsigned count = 0;
	int pid;

	(void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	list = fopen(path, "re");
	if (!list)
		return 0; /* the kernel cannot list children: the parent-death signal kills them */
	while (count < STRAYS_AT_ONCE && fscanf(list, "%d", &pid) == 1)
		if (!children_is_added(pid) && !children_is_helper(pid))
			strays[count++] = pid;
	(void)fclose(list); /* the file was opened for reading */
	return count;
}

void children_kill_strays(void)
{
	pid_t strays[STRAYS_AT_ONCE];
	siginfo_t ended;
	unsigned count;

	/* Usually this one system call shows that there is no stray. It omits __WALL, which would
	 * include the supervisor; strays always signal their end by SIGCHLD. */
	if (children.process_count == 0 &&
		waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0)
		return;
	/* Children of killed strays are listed in the next iteration. */
	while ((count = children_list_strays(strays)) > 0) {
		for (unsigned i = 0; i < count; i++)
			(void)kill(strays[i], SIGKILL); /* the process may have ended already */
		for (unsigned i = 0; i < count; i++)
			(void)waitpid(strays[i], NULL, __WALL); /* only this code reaps it */
	}
}

const char *children_read_stat(pid_t pid, char text[CHILDREN_STAT_BYTES])
{
	char path[64];
	FILE *file;

	(void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	text[fread(text, 1, CHILDREN_STAT_BYTES - 1, file)] = '\0';
	(void)fclose(file); /* the file was opened for reading */
	return strrchr(text, ')');
}

/* Returns the parent's id. 0: the process does not exist. */
static pid_t children_parent(pid_t pid)
{
	char text[CHILDREN_STAT_BYTES];
	const char *end = children_read_stat(pid, text);
	int parent;

	return end && sscanf(end, ") %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

pid_t children_adopt(pid_t pid)
{
	siginfo_t unused;

	while (pid > 1 && !children_is_added(pid)) {
		if (waitid(P_PID, (id_t)pid, &unused, WEXITED | WNOHANG | WNOWAIT | __WALL) == 0) {
			children_add(pid);
			return pid;
		}
		pid = children_parent(pid);
	}
	return 0;
}

bool children_is_descendant(pid_t pid)
{
	const pid_t self = getpid();

	if (pid == self)
		return false;
	while (pid > 0 && pid != self && !children_is_added(pid))
		pid = children_parent(pid);
	return pid > 0;
}

unsigned children_reap_strays(pid_t except)
{
	pid_t strays[STRAYS_AT_ONCE];
	const unsigned count = children_list_strays(strays);
	unsigned left = 0;

	for (unsigned i = 0; i < count; i++)
		left += strays[i] == except || waitpid(strays[i], NULL, WNOHANG | __WALL) == 0;
	return left;
}
