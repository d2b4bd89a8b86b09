#include "process/supervisor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Form of a mark: bit 62, 30 random bits, 32 set bits. A nested raddle may only lower a mark: the
 * outer random bits stay, and 16 of the set bits become random. */
#define MARK_BIT (UINT64_C(1) << 62)
#define OUTER_FREE UINT64_C(0xffffffff)
#define INNER_FREE UINT64_C(0xffff)

/* Maximum number of scans. Each scan that kills is followed by another; a process that survives all
 * of them is given up. */
#define SCANS_MOST 1000
#define SCAN_EVERY_NS 10000000

struct mark {
	uint64_t value;
	uint64_t free; /* bits that differ among the processes of this mark */
};

/* Written by supervisor_start(), read at exit. */
static struct {
	pid_t pid;
	pid_t owner;
} supervisor;

/* Runs in the supervisor: makes system calls only, because other threads may have held libc's
 * locks. */

static bool supervisor_read(const char *process, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t length;
	int file;

	(void)snprintf(path, sizeof path, "/proc/%.20s/%s", process, name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return false;
	length = read(file, text, size - 1);
	(void)close(file); /* the file was opened for reading */
	text[length < 0 ? 0 : length] = '\0';
	return length > 0;
}

static bool supervisor_is_marked(const char *process, const struct mark *mark)
{
	static const char name[] = "Max file locks";
	char text[4096];
	const char *at;

	if (!supervisor_read(process, "limits", text, sizeof text))
		return false;
	at = strstr(text, name);
	return at && (strtoull(at + strlen(name), NULL, 10) | mark->free) == mark->value;
}

static bool supervisor_has_ended(const char *process)
{
	char text[512];
	const char *end;

	if (!supervisor_read(process, "stat", text, sizeof text))
		return true;
	end = strrchr(text, ')'); /* the process name before it may contain any character */
	return !end || end[1] != ' ' || end[2] == 'Z' || end[2] == 'X';
}

static unsigned supervisor_scan(const struct mark *mark)
{
	char entries[4096] __attribute__((aligned(8)));
	const int folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	unsigned found = 0;
	long size;

	while ((size = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
		for (long at = 0; at < size;) {
			const struct dirent64 *entry = (const void *)(entries + at);

			at += entry->d_reclen;
			if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
				!supervisor_is_marked(entry->d_name, mark) ||
				supervisor_has_ended(entry->d_name))
				continue;
			found++;
			(void)kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
		}
	}
	(void)close(folder); /* the folder was opened for reading */
	return found;
}

static _Noreturn void supervisor_wait(int command, const struct mark *mark)
{
	static const struct timespec pause = {.tv_nsec = SCAN_EVERY_NS};
	struct pollfd end = {.fd = command, .events = POLLIN};
	sigset_t all;

	/* A signal to the command's process group or terminal must not end the supervisor. */
	(void)sigfillset(&all); /* cannot fail */
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)setsid();
	(void)prctl(PR_SET_NAME, "raddle-guard");
	(void)prctl(PR_SET_PDEATHSIG, 0); /* inherited if a forked job starts the supervisor */
	if (command > 0)
		(void)syscall(SYS_close_range, 0, command - 1, 0);
	(void)syscall(SYS_close_range, command + 1, UINT_MAX, 0);
	if (chdir("/") != 0)
		_exit(EXIT_FAILURE);
	while (poll(&end, 1, -1) < 1)
		continue;
	for (unsigned i = 0; i < SCANS_MOST && supervisor_scan(mark) > 0; i++)
		(void)nanosleep(&pause, NULL);
	_exit(EXIT_SUCCESS);
}

/* Lowers the mark. Returns false if this raddle is nested in two others, whose supervisors cover
 * its processes. */
static bool supervisor_choose_mark(uint64_t limit, struct mark *mark)
{
	uint64_t random;

	if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
		random = (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15);
	if (!(limit & MARK_BIT) || limit >> 63) {
		*mark = (struct mark){MARK_BIT | (random >> 2) | OUTER_FREE, OUTER_FREE};
		return limit == RLIM_INFINITY;
	}
	if ((limit & OUTER_FREE) != OUTER_FREE)
		return false;
	mark->free = INNER_FREE;
	mark->value = (limit & ~OUTER_FREE) | (random % INNER_FREE) << 16 | INNER_FREE;
	return true;
}

static void supervisor_stop(void)
{
	if (!supervisor.pid || supervisor.owner != getpid())
		return;
	(void)kill(supervisor.pid, SIGKILL);
	while (waitpid(supervisor.pid, NULL, __WCLONE) < 0 && errno == EINTR)
		continue;
	supervisor.pid = 0;
}

void supervisor_start(void)
{
	struct rlimit limit;
	struct mark mark;
	int command;
	long pid;

	/* The end of a container's first process ends all its processes. */
	if (supervisor.owner || getpid() == 1 || getrlimit(RLIMIT_LOCKS, &limit) != 0 ||
		!supervisor_choose_mark(limit.rlim_max, &mark))
		return;
	command = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (command < 0)
		return; /* before Linux 5.3 */
	/* The supervisor has no exit signal: waitpid for any child ignores it. */
	pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (pid == 0)
		supervisor_wait(command, &mark);
	(void)close(command); /* the supervisor has its own copy */
	if (pid < 0)
		return;
	supervisor.pid = (pid_t)pid;
	supervisor.owner = getpid();
	limit.rlim_cur = limit.rlim_max = mark.value;
	if (setrlimit(RLIMIT_LOCKS, &limit) != 0 || atexit(supervisor_stop) != 0)
		supervisor_stop();
}

pid_t supervisor_pid(void)
{
	return supervisor.pid;
}
