/* Some calls take a thread id but mean its process, or state that all threads share. Such calls get
 * the id of the kernel thread that carries the threads. Paths below /proc are translated likewise;
 * /proc/self/task lists the target's threads. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "runtime/guarded_read.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/thread_ids.h"

static long thread_ids_call_with_kernel_id(
	long number, const long arguments[6], int first, int second)
{
	long a[6];

	memcpy(a, arguments, sizeof a);
	a[first] = thread_id_for_kernel((pid_t)a[first]);
	a[second] = thread_id_for_kernel((pid_t)a[second]);
	return target_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define TAKES_ID(name, first, second)                                                              \
	long call_##name(const long arguments[6], uint64_t site)                                   \
	{                                                                                          \
		(void)site;                                                                        \
		return thread_ids_call_with_kernel_id(SYS_##name, arguments, first, second);       \
	}
TAKES_ID(prlimit64, 0, 0)
TAKES_ID(getpgid, 0, 0)
TAKES_ID(getsid, 0, 0)
TAKES_ID(sched_rr_get_interval, 0, 0)
TAKES_ID(get_robust_list, 0, 0)
TAKES_ID(process_vm_readv, 0, 0)
TAKES_ID(process_vm_writev, 0, 0)
TAKES_ID(kcmp, 0, 1)

ANSWERED(int, prlimit,
	(pid_t pid, __rlimit_resource_t resource, const struct rlimit *wanted, struct rlimit *old),
	prlimit64, pid, resource, wanted, old);
ANSWERED(int, prlimit64,
	(pid_t pid, __rlimit_resource_t resource, const struct rlimit64 *wanted,
		struct rlimit64 *old),
	prlimit64, pid, resource, wanted, old);
ANSWERED(pid_t, getpgid, (pid_t pid), getpgid, pid);
ANSWERED(pid_t, getsid, (pid_t pid), getsid, pid);
ANSWERED(int, sched_rr_get_interval, (pid_t pid, struct timespec *out), sched_rr_get_interval, pid,
	out);

#define PIDFD_OF_THREAD O_EXCL

/* A kernel without PIDFD_THREAD accepts a process id only: that of the first thread. */
long call_pidfd_open(const long arguments[6], uint64_t site)
{
	const struct engine_thread *thread = thread_of_id((pid_t)arguments[0]);

	(void)site;
	if (thread && thread->id.index && !(arguments[1] & PIDFD_OF_THREAD))
		return -EINVAL;
	return thread_ids_call_with_kernel_id(SYS_pidfd_open, arguments, 0, 0);
}

#define PATH_BYTES 256
#define PROC "/proc/"
#define PROC_BYTES (sizeof PROC - 1)

static bool thread_ids_starts_with_proc(const char *path)
{
	uint64_t start;

	return !interpose_is_bad_pointer(path) && guarded_read(path, 4, &start) &&
	       memcmp(&start, PROC, 4) == 0 && strncmp(path, PROC, PROC_BYTES) == 0;
}

/* Replaces a thread's id by the one that the kernel knows. */
static size_t thread_ids_copy_part(struct text *to, const char *part)
{
	const size_t length = strcspn(part, "/");
	long id = 0;

	for (size_t i = 0; i < length && id >= 0; i++)
		id = part[i] >= '0' && part[i] <= '9' && id < 100000000 ? id * 10 + part[i] - '0'
									: -1;
	if (id > 0 && length && thread_id_for_kernel((pid_t)id) != id)
		text_number(to, (uint64_t)thread_id_for_kernel((pid_t)id));
	else
		for (size_t i = 0; i < length; i++)
			text_add(to, (char[2]){part[i]});
	return length;
}

/* Returns `buffer` where the path changes. */
static const char *thread_ids_path_for_kernel(const char *path, char buffer[PATH_BYTES])
{
	struct text text;
	const char *at;

	if (runtime.executor != &executor_fiber || !thread_ids_starts_with_proc(path) ||
		strnlen(path, PATH_BYTES / 2) == PATH_BYTES / 2)
		return path;
	text_init(&text, buffer, PATH_BYTES);
	text_add(&text, PROC);
	at = path + PROC_BYTES;
	for (;;) {
		at += thread_ids_copy_part(&text, at);
		if (!*at)
			return buffer;
		text_add(&text, "/");
		at++;
	}
}

static long thread_ids_call_with_path(long number, const long arguments[6], int index)
{
	const char *path = (const char *)arguments[index];
	char buffer[PATH_BYTES];
	const char *translated = thread_ids_path_for_kernel(path, buffer);
	long a[6];

	if (translated == path || strcmp(translated, path) == 0)
		return CALL_OF_KERNEL;
	memcpy(a, arguments, sizeof a);
	a[index] = (long)(uintptr_t)translated;
	return target_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define TAKES_PATH(name, index)                                                                    \
	long call_##name(const long arguments[6], uint64_t site)                                   \
	{                                                                                          \
		(void)site;                                                                        \
		return thread_ids_call_with_path(SYS_##name, arguments, index);                    \
	}
TAKES_PATH(stat, 0)
TAKES_PATH(lstat, 0)
TAKES_PATH(access, 0)
TAKES_PATH(readlink, 0)
TAKES_PATH(newfstatat, 1)
TAKES_PATH(statx, 1)
TAKES_PATH(faccessat, 1)
TAKES_PATH(faccessat2, 1)
TAKES_PATH(readlinkat, 1)

long thread_ids_open(long number, const long arguments[6])
{
	return thread_ids_call_with_path(number, arguments, number == SYS_openat);
}

/* struct linux_dirent64 */
struct directory_entry {
	uint64_t inode;
	int64_t next;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

#define ENTRY_BYTES_MAX 48
#define DOTS 2 /* entries 0 and 1 are "." and ".." */

static bool thread_ids_is_task_list(int fd)
{
	char link[64], path[64];
	struct text text;
	long length;

	text_init(&text, link, sizeof link);
	text_add(&text, "/proc/self/fd/");
	text_number(&text, (uint64_t)fd);
	length = platform_call(SYS_readlink, link, path, sizeof path - 1);
	if (platform_failed(length))
		return false;
	path[length] = '\0';
	text_init(&text, link, sizeof link);
	text_add(&text, "/proc/");
	text_number(&text, (uint64_t)platform_call(SYS_getpid));
	text_add(&text, "/task");
	return strcmp(path, link) == 0;
}

static uint16_t thread_ids_write_entry(struct directory_entry *entry, uint32_t position)
{
	struct text text;

	text_init(&text, entry->name, ENTRY_BYTES_MAX - offsetof(struct directory_entry, name));
	if (position < DOTS)
		text_add(&text, position ? ".." : ".");
	else
		text_number(&text, (uint64_t)engine_thread(position - DOTS)->kernel_id);
	entry->inode = position + 1;
	entry->next = position + 1;
	entry->type = DT_DIR;
	entry->bytes =
		(uint16_t)((offsetof(struct directory_entry, name) + strlen(entry->name) + 8) &
			   ~7UL);
	return entry->bytes;
}

/* The descriptor's own offset holds the index of the next entry, for rewinddir() and telldir(). */
long call_getdents64(const long arguments[6], uint64_t site)
{
	const int fd = (int)arguments[0];
	const size_t size = (size_t)(unsigned int)arguments[2];
	const uint32_t count = engine_thread_count() + DOTS;
	char *at = (char *)arguments[1];
	size_t used = 0;
	long position;

	(void)site;
	if (runtime.executor != &executor_fiber || !engine_is_live() ||
		!thread_ids_is_task_list(fd) || size < ENTRY_BYTES_MAX)
		return CALL_OF_KERNEL;
	position = platform_call(SYS_lseek, fd, 0, SEEK_CUR);
	while (position >= 0 && position < (long)count && used + ENTRY_BYTES_MAX <= size) {
		if (position < DOTS ||
			engine_thread((uint32_t)position - DOTS)->state == THREAD_ALIVE)
			used += thread_ids_write_entry(
				(struct directory_entry *)(at + used), (uint32_t)position);
		position++;
	}
	(void)platform_call(SYS_lseek, fd, position, SEEK_SET);
	return (long)used;
}
