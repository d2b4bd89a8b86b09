/*
 * Which children of this process still live: as long as one does, descriptors that it inherited may
 * become ready and sleeps are real. Asked only when no thread can move. No state.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "runtime/interpose.h"
#include "runtime/world.h"

/* Reads /proc/thread-self/children; the number of bytes, or negative where there is no such file. */
static long children_read(char *text, size_t size)
{
	long fd = platform_call(
		SYS_openat, AT_FDCWD, "/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	long bytes;

	if (platform_failed(fd))
		return fd;
	bytes = platform_call(SYS_read, fd, text, size);
	(void)platform_call(SYS_close, fd); /* nothing was written to it */
	return bytes;
}

/* Has this child ended without having been waited for? Also true of what is no child at all. */
static bool child_has_ended(int pid)
{
	siginfo_t information = {0};

	return platform_failed(platform_call(SYS_waitid, P_PID, pid, &information,
		       WEXITED | WNOHANG | WNOWAIT | __WALL, NULL)) ||
	       information.si_pid == pid;
}

static uint32_t children_parse(const char *text, long bytes, int pids[CHILDREN_MAX])
{
	uint32_t count = 0;
	int pid = 0;

	for (long i = 0; i < bytes && count < CHILDREN_MAX; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			pid = pid * 10 + (text[i] - '0');
			continue;
		}
		if (pid && !child_has_ended(pid))
			pids[count++] = pid;
		pid = 0;
	}
	return count;
}

uint32_t children_alive(int pids[CHILDREN_MAX])
{
	char text[CHILDREN_MAX * 8];
	siginfo_t information = {0};
	long bytes;

	if (platform_call(SYS_waitid, P_ALL, 0, &information, WEXITED | WNOHANG | WNOWAIT | __WALL,
		    NULL) == -ECHILD)
		return 0;
	bytes = children_read(text, sizeof text);
	if (!platform_failed(bytes) && bytes > 0)
		return children_parse(text, bytes, pids);
	/* Children of another kernel thread, or no such file: they may live. */
	pids[0] = 0;
	return 1;
}
