/* Living children of this process. While there is one, inherited descriptors may become ready, and
 * sleeps are real. Called only when no thread is enabled. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "runtime/interpose.h"
#include "runtime/libc/world.h"
#include "runtime/runtime.h"

/* An entry of getdents64(). */
struct task {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[13];
};

/* Reads /proc/self/task/THREAD/children. Returns the bytes; negative: no such file. */
static long children_read(long tasks, const char *thread, char *text, size_t size)
{
	static const char file[] = "/children";
	char path[sizeof((struct task *)0)->name + sizeof file];
	size_t length = 0;
	long fd, bytes;

	while (thread[length] && length < sizeof path - sizeof file)
		length++;
	memcpy(path, thread, length);
	memcpy(path + length, file, sizeof file);
	fd = platform_call(SYS_openat, tasks, path, O_RDONLY | O_CLOEXEC);
	if (platform_failed(fd))
		return fd;
	bytes = platform_call(SYS_read, fd, text, size);
	(void)platform_call(SYS_close, fd);
	return bytes;
}

/* Returns true if the child has ended and was not waited for; also if the process is no child. */
static bool children_child_has_ended(int pid)
{
	siginfo_t information = {0};

	return platform_failed(platform_call(SYS_waitid, P_PID, pid, &information,
		       WEXITED | WNOHANG | WNOWAIT | __WALL, NULL)) ||
	       information.si_pid == pid;
}

static uint32_t children_parse(const char *text, long bytes, int pids[CHILDREN_MAX], uint32_t count)
{
	int pid = 0;

	for (long i = 0; i < bytes && count < CHILDREN_MAX; i++) {
		if (text[i] >= '0' && text[i] <= '9') {
			pid = pid * 10 + (text[i] - '0');
			continue;
		}
		if (pid && pid != runtime.holder_pid && !children_child_has_ended(pid))
			pids[count++] = pid;
		pid = 0;
	}
	return count;
}

/* The kernel lists a child under the thread that forked it. Returns false if it does not list
 * children. */
static bool children_of_all(int pids[CHILDREN_MAX], uint32_t *count)
{
	bool has_any = false;
	char entries[1024] __attribute__((aligned(8)));
	char text[CHILDREN_MAX * 8];
	long tasks = platform_call(
		SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long bytes = 0, size;

	*count = 0;
	if (platform_failed(tasks))
		return false;
	while (!platform_failed(bytes) &&
		(size = platform_call(SYS_getdents64, tasks, entries, sizeof entries)) > 0) {
		for (long at = 0; at < size && !platform_failed(bytes);) {
			const struct task *task = (const struct task *)(entries + at);

			at += task->size;
			if (task->name[0] == '.')
				continue;
			bytes = children_read(tasks, task->name, text, sizeof text);
			if (bytes == -ENOENT || bytes == -ESRCH)
				bytes = 0; /* the thread has ended */
			has_any |= !platform_failed(bytes) && bytes > 0;
			if (!platform_failed(bytes))
				*count = children_parse(text, bytes, pids, *count);
		}
	}
	(void)platform_call(SYS_close, tasks);
	return has_any && !platform_failed(bytes);
}

uint32_t children_alive(int pids[CHILDREN_MAX])
{
	siginfo_t information = {0};
	uint32_t count;

	if (platform_call(SYS_waitid, P_ALL, 0, &information, WEXITED | WNOHANG | WNOWAIT | __WALL,
		    NULL) == -ECHILD)
		return 0;
	if (children_of_all(pids, &count))
		return count;
	pids[0] = 0;
	return 1;
}
