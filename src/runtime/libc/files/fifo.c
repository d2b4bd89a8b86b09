/* Opening a FIFO blocks until the other end is opened. The runtime opens with O_NONBLOCK, clears
 * the flag afterwards, and waits at scheduling points. A reader gets its descriptor at once, so
 * that a writer's open can succeed; it continues when a writer is, or was, present. Handled where
 * the system call is trapped, because fopen() and others bypass open(). */
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/thread_ids.h"
#include "runtime/libc/world.h"

struct fifo_opening {
	long directory;
	const char *path;
	long flags, mode;
	uint64_t site;
};

static bool fifo_is_opened(long number, const long arguments[6], struct fifo_opening *opening)
{
	const bool has_directory = number == SYS_openat;
	struct stat status;

	if (number != SYS_open && !has_directory)
		return false;
	opening->directory = has_directory ? arguments[0] : AT_FDCWD;
	opening->path = (const char *)arguments[has_directory];
	opening->flags = arguments[has_directory + 1];
	opening->mode = arguments[has_directory + 2];
	if (opening->flags & (O_NONBLOCK | O_PATH | O_DIRECTORY) ||
		(opening->flags & O_ACCMODE) == O_RDWR)
		return false;
	return !platform_failed(platform_call(SYS_newfstatat, opening->directory, opening->path,
		       &status, opening->flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0)) &&
	       S_ISFIFO(status.st_mode);
}

/* Tests for a writer by tee(), which removes no data. */
static bool fifo_has_writer(int fd)
{
	struct pollfd poll = {.fd = fd, .events = POLLIN};
	int copy[2];
	long result;

	if (platform_call(SYS_poll, &poll, 1, 0) > 0)
		return true; /* data is present, or a writer has closed its end */
	if (platform_failed(platform_call(SYS_pipe2, copy, O_CLOEXEC)))
		/* returning too early is better than never, if no descriptor is free */
		return true;
	result = platform_call(SYS_tee, fd, copy[1], 1, SPLICE_F_NONBLOCK);
	(void)platform_call(SYS_close, copy[0]);
	(void)platform_call(SYS_close, copy[1]);
	return result == -EAGAIN;
}

/* Waits until another descriptor is opened or closed. Returns false if a signal ends the call. */
static bool fifo_wait(const struct fifo_opening *opening, int fd, bool is_try)
{
	struct fd_request request = {.shape = FD_SHAPE_RETRY, .fd = fd, .epoch = fd_retry_epoch()};
	struct engine_op op = {.kind = OP_FD_POLL,
		.call = CALL_OPEN,
		.address = fd_object(fd),
		.site = opening->site,
		.ready = is_try ? NULL : fd_request_ready,
		.deadline_ns = ENGINE_FOREVER};

	return fd_perform(&op, &request) != WAIT_INTERRUPTED || signals_want_restart();
}

static long fifo_try(const struct fifo_opening *opening)
{
	long result = target_call(SYS_openat, opening->directory, opening->path,
		opening->flags | O_NONBLOCK, opening->mode);

	if (!platform_failed(result)) {
		fd_forget((int)result);
		(void)platform_call(SYS_fcntl, (int)result, F_SETFL,
			platform_call(SYS_fcntl, (int)result, F_GETFL) & ~(long)O_NONBLOCK);
		fd_retry_changed();
	}
	return result;
}

static long fifo_answer(long number, const long arguments[6], uint64_t site)
{
	struct fifo_opening opening = {.site = site};
	bool is_reader;
	long result;

	if (!engine_is_live())
		return CALL_OF_KERNEL;
	if (!fifo_is_opened(number, arguments, &opening))
		return thread_ids_open(number, arguments);
	is_reader = (opening.flags & O_ACCMODE) == O_RDONLY;
	result = fifo_wait(&opening, -1, true) ? fifo_try(&opening) : -EINTR;
	while (result == -ENXIO && !is_reader)
		result = fifo_wait(&opening, -1, false) ? fifo_try(&opening) : -EINTR;
	while (is_reader && !platform_failed(result) && !fifo_has_writer((int)result))
		if (!fifo_wait(&opening, (int)result, false)) {
			(void)target_call(SYS_close, result);
			result = -EINTR;
		}
	return result;
}

long call_open(const long arguments[6], uint64_t site)
{
	return fifo_answer(SYS_open, arguments, site);
}

long call_openat(const long arguments[6], uint64_t site)
{
	return fifo_answer(SYS_openat, arguments, site);
}
