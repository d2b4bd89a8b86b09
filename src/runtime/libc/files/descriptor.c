/* Calls that create, duplicate, lock and close descriptors. Creation and duplication are interruption points
 * (file_point.h). Closing is a scheduling point if other threads may wait for the descriptor. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/libc/file_point.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

static long descriptor_pair_made(long result, const int ends[2], enum fd_class class)
{
	for (int i = 0; i < 2 && !platform_failed(result); i++)
		fd_opened(ends[i], class, true, ends[0]);
	return result;
}

long call_pipe2(const long arguments[6], uint64_t site)
{
	int *ends = (int *)arguments[0];

	file_point(SYS_pipe2, arguments, site);
	return descriptor_pair_made(target_call(SYS_pipe2, ends, arguments[1]), ends, FD_PIPE);
}

long call_pipe(const long arguments[6], uint64_t site)
{
	const long without_flags[6] = {arguments[0]};

	return call_pipe2(without_flags, site);
}

ANSWERED(int, pipe, (int ends[2]), pipe, ends);
ANSWERED(int, pipe2, (int ends[2], int flags), pipe2, ends, flags);

long call_socketpair(const long arguments[6], uint64_t site)
{
	int *ends = (int *)arguments[3];

	file_point(SYS_socketpair, arguments, site);
	return descriptor_pair_made(
		target_call(SYS_socketpair, arguments[0], arguments[1], arguments[2], ends), ends,
		FD_SOCKET);
}

ANSWERED(int, socketpair, (int domain, int type, int protocol, int ends[2]), socketpair, domain,
	type, protocol, ends);

static long descriptor_fd_made(long result, enum fd_class class, bool is_internal)
{
	if (!platform_failed(result))
		fd_opened((int)result, class, is_internal, (int)result);
	return result;
}

/* Defines the answer to a system call that creates a descriptor of this class. */
#define MAKES(name, class, is_internal)                                                            \
	long call_##name(const long arguments[6], uint64_t site)                                   \
	{                                                                                          \
		file_point(SYS_##name, arguments, site);                                           \
		return descriptor_fd_made(                                                         \
			target_call(SYS_##name, arguments[0], arguments[1], arguments[2]), class,  \
			is_internal);                                                              \
	}
MAKES(socket, FD_SOCKET, false)
MAKES(eventfd, FD_EVENTFD, true)
MAKES(eventfd2, FD_EVENTFD, true)
MAKES(epoll_create, FD_EPOLL, true)
MAKES(epoll_create1, FD_EPOLL, true)

ANSWERED(int, socket, (int domain, int type, int protocol), socket, domain, type, protocol);
ANSWERED(int, eventfd, (unsigned int count, int flags), eventfd2, count, flags);
ANSWERED(int, epoll_create, (int size), epoll_create, size);
ANSWERED(int, epoll_create1, (int flags), epoll_create1, flags);

long call_epoll_ctl(const long arguments[6], uint64_t site)
{
	long result =
		target_call(SYS_epoll_ctl, arguments[0], arguments[1], arguments[2], arguments[3]);

	(void)site;
	if (!platform_failed(result) && (int)arguments[1] != EPOLL_CTL_DEL)
		fd_watched((int)arguments[0], (int)arguments[2]);
	fd_changed();
	return result;
}

ANSWERED(int, epoll_ctl, (int epoll_fd, int operation, int fd, struct epoll_event *event),
	epoll_ctl, epoll_fd, operation, fd, event);

static long descriptor_make_inotify(long flags, uint64_t site)
{
	file_point(SYS_inotify_init1, (const long[6]){flags}, site);
	return descriptor_fd_made(target_call(SYS_inotify_init1, flags), FD_EVENT, false);
}

INTERPOSED(int, inotify_init, (void), (int)interpose_result(descriptor_make_inotify(0, CALL_SITE)));
INTERPOSED(int, inotify_init1, (int flags),
	(int)interpose_result(descriptor_make_inotify(flags, CALL_SITE)));

static long descriptor_fd_copied(int fd, long result)
{
	if (!platform_failed(result) && (int)result != fd) {
		fd_duplicated(fd, (int)result);
		file_point_closed((int)result);
		fd_retry_changed();
	}
	return result;
}

/* Defines the answer to a system call that duplicates its first argument. */
#define COPIES(name)                                                                               \
	long call_##name(const long arguments[6], uint64_t site)                                   \
	{                                                                                          \
		file_point(SYS_##name, arguments, site);                                           \
		return descriptor_fd_copied((int)arguments[0],                                     \
			target_call(SYS_##name, arguments[0], arguments[1], arguments[2]));        \
	}
COPIES(dup)
COPIES(dup2)
COPIES(dup3)

ANSWERED(int, dup, (int fd), dup, fd);
ANSWERED(int, dup2, (int fd, int copy), dup2, fd, copy);
ANSWERED(int, dup3, (int fd, int copy, int flags), dup3, fd, copy, flags);

struct fd_lock {
	int fd;
	long (*attempt)(const struct fd_lock *lock); /* never blocks */
	int operation;
	struct flock *range;
	uint64_t site;
};

/* Orders file locks for the detectors. All file locks are one object, because only the kernel knows
 * which ranges overlap. */
static void descriptor_fd_lock_orders(uint64_t site)
{
	static const char any_file_lock;

	engine_note(OP_FILE_UNLOCK, &any_file_lock, site);
	engine_note(OP_FILE_LOCK, &any_file_lock, site);
}

static bool descriptor_is_held_by_another(long result)
{
	return result == -EWOULDBLOCK || result == -EACCES;
}

/* Tries to lock, and waits for an unlock between two tries. Returns the raw result. */
static long descriptor_fd_lock_wait(const struct fd_lock *lock)
{
	bool is_try = true;

	for (;;) {
		struct fd_request request = {
			.shape = FD_SHAPE_RETRY, .fd = lock->fd, .epoch = fd_retry_epoch()};
		struct engine_op op = {.kind = OP_FD_WRITE,
			.call = CALL_LOCK_FILE,
			.address = fd_object(lock->fd),
			.site = lock->site,
			.ready = is_try ? NULL : fd_request_ready,
			.deadline_ns = ENGINE_FOREVER};
		long result;

		if (fd_perform(&op, &request) == WAIT_INTERRUPTED && !signals_want_restart())
			return -EINTR;
		result = lock->attempt(lock);
		if (!descriptor_is_held_by_another(result)) {
			descriptor_fd_lock_orders(lock->site);
			fd_retry_changed();
			return result;
		}
		is_try = false;
	}
}

static long descriptor_attempt_flock(const struct fd_lock *lock)
{
	return target_call(SYS_flock, lock->fd, lock->operation | LOCK_NB);
}

static long descriptor_attempt_range_lock(const struct fd_lock *lock)
{
	return target_call(SYS_fcntl, lock->fd, lock->operation, lock->range);
}

long call_flock(const long arguments[6], uint64_t site)
{
	struct fd_lock lock = {.fd = (int)arguments[0],
		.attempt = descriptor_attempt_flock,
		.operation = (int)arguments[1],
		.site = site};
	long result;

	if (!(lock.operation & (LOCK_NB | LOCK_UN)))
		return descriptor_fd_lock_wait(&lock);
	result = target_call(SYS_flock, arguments[0], arguments[1]);
	descriptor_fd_lock_orders(site);
	fd_retry_changed();
	return result;
}

ANSWERED(int, flock, (int fd, int operation), flock, fd, operation);

static long descriptor_fd_range_lock(int fd, int command, struct flock *range, uint64_t site)
{
	struct fd_lock lock = {.fd = fd,
		.attempt = descriptor_attempt_range_lock,
		.operation = command == F_SETLKW ? F_SETLK : F_OFD_SETLK,
		.range = range,
		.site = site};

	return descriptor_fd_lock_wait(&lock);
}

static long descriptor_fd_control(int fd, int command, void *argument, uint64_t site)
{
	long result;

	if (command == F_SETLKW || command == F_OFD_SETLKW)
		return descriptor_fd_range_lock(fd, command, argument, site);
	file_point(SYS_fcntl, (const long[6]){fd, command}, site);
	switch (command) {
	case F_SETLK:
	case F_OFD_SETLK:
		result = target_call(SYS_fcntl, fd, command, argument);
		descriptor_fd_lock_orders(site);
		fd_retry_changed();
		return result;
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		result = target_call(SYS_fcntl, fd, command, argument);
		if (!platform_failed(result))
			fd_duplicated(fd, (int)result);
		return result;
	default:
		return target_call(SYS_fcntl, fd, command, argument);
	}
}

long call_fcntl(const long arguments[6], uint64_t site)
{
	return descriptor_fd_control(
		(int)arguments[0], (int)arguments[1], (void *)arguments[2], site);
}

EXPORT int fcntl(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	ENTER();
	va_start(arguments, command);
	/* An int, or a missing argument, is in a register, too */
	argument = va_arg(arguments, void *);
	va_end(arguments);
	return (int)interpose_result(ANSWER(fcntl, fd, command, argument));
}

EXPORT __typeof__(fcntl64) fcntl64 __attribute__((alias("fcntl")));

EXPORT int lockf(int fd, int command, off_t length)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = length};
	long result;

	ENTER();
	switch (command) {
	case F_LOCK:
		return (int)interpose_result(
			descriptor_fd_range_lock(fd, F_SETLKW, &range, CALL_SITE));
	case F_TLOCK:
		return (int)interpose_result(descriptor_fd_control(fd, F_SETLK, &range, CALL_SITE));
	case F_ULOCK:
		range.l_type = F_UNLCK;
		return (int)interpose_result(descriptor_fd_control(fd, F_SETLK, &range, CALL_SITE));
	case F_TEST:
		result = target_call(SYS_fcntl, fd, F_GETLK, &range);
		if (!platform_failed(result) && range.l_type != F_UNLCK)
			result = -EACCES;
		return (int)interpose_result(result);
	default:
		errno = EINVAL;
		return -1;
	}
}

INTERPOSED(int, lockf64, (int fd, int command, off64_t length), lockf(fd, command, length));

static long descriptor_fd_close(int fd, uint64_t site)
{
	struct engine_op op = {.kind = OP_FD_CLOSE,
		.number = fd_number(fd),
		.address = fd_object(fd),
		.site = site,
		.second = file_point_second(),
		.deadline_ns = ENGINE_FOREVER};
	long result;

	if (engine_is_live() && fd_classify(fd) != FD_PLAIN)
		(void)engine_perform(&op);
	else
		file_point(SYS_close, (const long[6]){fd}, site);
	result = target_call(SYS_close, fd);
	fd_forget(fd);
	file_point_closed(fd);
	fd_retry_changed();
	runtime_pass(site);
	return result;
}

EXPORT int close(int fd)
{
	ENTER();
	runtime_test_cancel();
	return (int)interpose_result(descriptor_fd_close(fd, CALL_SITE));
}

int __close(int fd);

INTERPOSED(int, __close, (int fd), (int)interpose_result(descriptor_fd_close(fd, CALL_SITE)));

/* libc calls this function, too (fclose(), ...). The kernel closes the descriptor. */
long call_close(const long arguments[6], uint64_t site)
{
	(void)site;
	fd_forget((int)arguments[0]);
	file_point_closed((int)arguments[0]);
	fd_retry_changed();
	return CALL_OF_KERNEL;
}
