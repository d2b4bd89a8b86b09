/*
 * Calls that make, copy, lock and close descriptors. Making and copying are no scheduling points;
 * closing one that others may wait for is. Runs in the target's moving thread.
 */
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
#include "runtime/world.h"

/* ---- making ---- */

static int pipe_make(int ends[2], int flags)
{
	long result = target_call(SYS_pipe2, ends, flags);

	if (!platform_failed(result)) {
		fd_opened(ends[0], FD_PIPE, true, ends[0]);
		fd_opened(ends[1], FD_PIPE, true, ends[0]);
	}
	return (int)interpose_result(result);
}

EXPORT int pipe(int ends[2])
{
	ENTER();
	return pipe_make(ends, 0);
}

EXPORT int pipe2(int ends[2], int flags)
{
	ENTER();
	return pipe_make(ends, flags);
}

EXPORT int socketpair(int domain, int type, int protocol, int ends[2])
{
	long result;

	ENTER();
	result = target_call(SYS_socketpair, domain, type, protocol, ends);
	if (!platform_failed(result)) {
		fd_opened(ends[0], FD_SOCKET, true, ends[0]);
		fd_opened(ends[1], FD_SOCKET, true, ends[0]);
	}
	return (int)interpose_result(result);
}

/* A new descriptor of a known class. */
static int fd_made(long result, enum fd_class class, bool is_internal)
{
	if (!platform_failed(result))
		fd_opened((int)result, class, is_internal, (int)result);
	return (int)interpose_result(result);
}

EXPORT int socket(int domain, int type, int protocol)
{
	ENTER();
	return fd_made(target_call(SYS_socket, domain, type, protocol), FD_SOCKET, false);
}

EXPORT int eventfd(unsigned int count, int flags)
{
	ENTER();
	return fd_made(target_call(SYS_eventfd2, count, flags), FD_EVENT, true);
}

EXPORT int epoll_create(int size)
{
	ENTER();
	return fd_made(target_call(SYS_epoll_create, size), FD_EVENT, true);
}

EXPORT int epoll_create1(int flags)
{
	ENTER();
	return fd_made(target_call(SYS_epoll_create1, flags), FD_EVENT, true);
}

EXPORT int epoll_ctl(int epoll_fd, int operation, int fd, struct epoll_event *event)
{
	long result;

	ENTER();
	result = target_call(SYS_epoll_ctl, epoll_fd, operation, fd, event);
	if (!platform_failed(result) && operation != EPOLL_CTL_DEL)
		fd_watched(epoll_fd, fd);
	fd_changed();
	return (int)interpose_result(result);
}

EXPORT int inotify_init(void)
{
	ENTER();
	return fd_made(target_call(SYS_inotify_init1, 0), FD_EVENT, false);
}

EXPORT int inotify_init1(int flags)
{
	ENTER();
	return fd_made(target_call(SYS_inotify_init1, flags), FD_EVENT, false);
}

/* ---- copying ---- */

static int fd_copied(int fd, long result)
{
	if (!platform_failed(result) && (int)result != fd) {
		fd_duplicated(fd, (int)result);
		fd_retry_changed();
	}
	return (int)interpose_result(result);
}

EXPORT int dup(int fd)
{
	ENTER();
	return fd_copied(fd, target_call(SYS_dup, fd));
}

EXPORT int dup2(int fd, int copy)
{
	ENTER();
	return fd_copied(fd, target_call(SYS_dup2, fd, copy));
}

EXPORT int dup3(int fd, int copy, int flags)
{
	ENTER();
	return fd_copied(fd, target_call(SYS_dup3, fd, copy, flags));
}

/* ---- locks ---- */

struct fd_lock {
	int fd;
	long (*attempt)(const struct fd_lock *lock); /* never waits */
	int operation;
	struct flock *range;
	uint64_t site;
};

/*
 * For detectors: all file locks are one, which every call gives up and takes. Whose range overlaps with
 * whose is the kernel's affair.
 */
static void fd_lock_orders(uint64_t site)
{
	static const char any_file_lock;

	engine_note(OP_FILE_UNLOCK, &any_file_lock, site);
	engine_note(OP_FILE_LOCK, &any_file_lock, site);
}

static bool is_held_by_another(long result)
{
	return result == -EWOULDBLOCK || result == -EACCES;
}

/* Tries, and waits for an unlock between tries. Raw result. */
static long fd_lock_wait(const struct fd_lock *lock)
{
	bool is_try = true;

	for (;;) {
		struct fd_request request = {
			.shape = FD_SHAPE_RETRY, .fd = lock->fd, .epoch = fd_retry_epoch()};
		struct engine_op op = {.kind = OP_FD_WRITE,
			.address = fd_object(lock->fd),
			.site = lock->site,
			.ready = is_try ? NULL : fd_request_ready,
			.deadline_ns = ENGINE_FOREVER};
		long result;

		if (fd_perform(&op, &request) == WAIT_INTERRUPTED && !signals_want_restart())
			return -EINTR;
		result = lock->attempt(lock);
		if (!is_held_by_another(result)) {
			fd_lock_orders(lock->site);
			fd_retry_changed();
			return result;
		}
		is_try = false;
	}
}

static long attempt_flock(const struct fd_lock *lock)
{
	return target_call(SYS_flock, lock->fd, lock->operation | LOCK_NB);
}

static long attempt_range_lock(const struct fd_lock *lock)
{
	return target_call(SYS_fcntl, lock->fd, lock->operation, lock->range);
}

EXPORT int flock(int fd, int operation)
{
	struct fd_lock lock = {
		.fd = fd, .attempt = attempt_flock, .operation = operation, .site = CALL_SITE};
	long result;

	ENTER();
	if (operation & (LOCK_NB | LOCK_UN)) {
		result = target_call(SYS_flock, fd, operation);
		fd_lock_orders(lock.site);
		fd_retry_changed();
		return (int)interpose_result(result);
	}
	return (int)interpose_result(fd_lock_wait(&lock));
}

static long fd_range_lock(int fd, int command, struct flock *range, uint64_t site)
{
	struct fd_lock lock = {.fd = fd,
		.attempt = attempt_range_lock,
		.operation = command == F_SETLKW ? F_SETLK : F_OFD_SETLK,
		.range = range,
		.site = site};

	return fd_lock_wait(&lock);
}

static long fd_control(int fd, int command, void *argument, uint64_t site)
{
	long result;

	switch (command) {
	case F_SETLKW:
	case F_OFD_SETLKW:
		return fd_range_lock(fd, command, argument, site);
	case F_SETLK:
	case F_OFD_SETLK:
		result = target_call(SYS_fcntl, fd, command, argument);
		fd_lock_orders(site);
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

EXPORT int fcntl(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	ENTER();
	va_start(arguments, command);
	argument = va_arg(arguments, void *); /* also where it is an int, or missing: a register */
	va_end(arguments);
	return (int)interpose_result(fd_control(fd, command, argument, CALL_SITE));
}

EXPORT int fcntl64(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	ENTER();
	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	return (int)interpose_result(fd_control(fd, command, argument, CALL_SITE));
}

EXPORT int lockf(int fd, int command, off_t length)
{
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = length};
	long result;

	ENTER();
	switch (command) {
	case F_LOCK:
		return (int)interpose_result(fd_range_lock(fd, F_SETLKW, &range, CALL_SITE));
	case F_TLOCK:
		return (int)interpose_result(fd_control(fd, F_SETLK, &range, CALL_SITE));
	case F_ULOCK:
		range.l_type = F_UNLCK;
		return (int)interpose_result(fd_control(fd, F_SETLK, &range, CALL_SITE));
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

EXPORT int lockf64(int fd, int command, off64_t length)
{
	ENTER();
	return lockf(fd, command, length);
}

/* ---- closing ---- */

static long fd_close(int fd, uint64_t site)
{
	long result;

	if (engine_is_live() && fd_classify(fd) != FD_PLAIN)
		engine_point(OP_FD_CLOSE, fd_object(fd), site);
	result = target_call(SYS_close, fd);
	fd_forget(fd);
	fd_retry_changed();
	runtime_pass(site);
	return result;
}

EXPORT int close(int fd)
{
	ENTER();
	runtime_test_cancel();
	return (int)interpose_result(fd_close(fd, CALL_SITE));
}

int __close(int fd);

EXPORT int __close(int fd)
{
	ENTER();
	return (int)interpose_result(fd_close(fd, CALL_SITE));
}

/* fclose() and others inside libc: only what we remember changes; the call goes on as it is. */
void fd_closing_elsewhere(int fd)
{
	fd_forget(fd);
	fd_retry_changed();
}
