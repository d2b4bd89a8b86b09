/* Reads and writes that may block, on pipes, sockets and event descriptors. A transfer announces
 * its op and waits until the kernel reports readiness. Then it is tried in a form that cannot
 * block, because another process may have been faster. A write is tried once before the thread
 * waits: poll() may hide room in a pipe or socket. */
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/undo.h"
#include "runtime/libc/world.h"

/* Number of entries that the next try sends after a partial gather write. */
#define VECTOR_WINDOW 16

static bool fd_polls(int fd, short events)
{
	struct pollfd poll = {.fd = fd, .events = events};

	return platform_call(SYS_poll, &poll, 1, 0) != 0;
}

bool fd_is_scheduled(int fd, enum op_kind kind)
{
	enum fd_class class;

	if (kind == OP_FD_WRITE && (fd <= 2 || !engine_is_live()))
		return false; /* output is no communication between the program's threads */
	class = fd_classify(fd);
	if (class == FD_PLAIN || class == FD_RANDOM ||
		(class == FD_CHARACTER && kind == OP_FD_WRITE))
		return false;
	/* While the engine is not live, only a blocking read matters, for timers and the watchdog. */
	return engine_is_live() || (!fd_polls(fd, POLLIN) && fd_waits(fd));
}

void fd_note(long number, int fd, long result)
{
	const long arguments[6] = {fd};

	runtime_note_call(number, arguments, result);
}

/* Returns SO_RCVTIMEO or SO_SNDTIMEO as a deadline. */
static uint64_t fd_socket_deadline(const struct fd_transfer *transfer)
{
	struct timeval limit = {0};
	unsigned int size = sizeof limit;
	int option = transfer->kind == OP_FD_READ ? SO_RCVTIMEO : SO_SNDTIMEO;
	struct timespec time;

	if (fd_classify(transfer->fd) != FD_SOCKET ||
		platform_failed(platform_call(
			SYS_getsockopt, transfer->fd, SOL_SOCKET, option, &limit, &size)) ||
		(!limit.tv_sec && !limit.tv_usec))
		return ENGINE_FOREVER;
	time = (struct timespec){.tv_sec = limit.tv_sec, .tv_nsec = limit.tv_usec * 1000};
	return time_after(time_from_timespec(&time));
}

/* Returns 0, -EINTR, or -EAGAIN after a time-out. */
static long fd_transfer_wait(const struct fd_transfer *transfer, bool is_try, uint64_t deadline_ns)
{
	struct fd_request request = {.shape = FD_SHAPE_ONE,
		.fd = transfer->fd,
		.events = transfer->kind == OP_FD_READ ? POLLIN : POLLOUT};
	struct engine_op op = {.kind = transfer->kind,
		.call = transfer->call,
		.address = fd_object(transfer->fd),
		.site = transfer->site,
		.ready = is_try ? NULL : fd_request_ready,
		.deadline_ns = deadline_ns};

	switch (fd_perform(&op, &request)) {
	case WAIT_INTERRUPTED:
		return -EINTR;
	case WAIT_TIMED_OUT:
		return -EAGAIN;
	default:
		return 0;
	}
}

/* Returns whether the descriptor is write-only. The kernel refuses a read at once, although poll()
 * never reports it as readable. */
static bool fd_is_write_only(int fd)
{
	long flags = platform_call(SYS_fcntl, fd, F_GETFL);

	return !platform_failed(flags) && (flags & O_ACCMODE) == O_WRONLY;
}

long fd_transfer(const struct fd_transfer *transfer)
{
	uint64_t deadline_ns = ENGINE_FOREVER;
	bool never_waits = transfer->never_waits || !fd_waits(transfer->fd);
	bool is_try =
		never_waits || transfer->kind == OP_FD_WRITE || fd_is_write_only(transfer->fd);
	long result;

	if (!is_try && fd_classify(transfer->fd) == FD_SOCKET && !fd_polls(transfer->fd, POLLIN))
		deadline_ns = fd_socket_deadline(transfer);
	for (;;) {
		result = fd_transfer_wait(transfer, is_try, deadline_ns);
		if (result == -EINTR && deadline_ns == ENGINE_FOREVER && signals_want_restart())
			continue;
		if (result)
			return result;
		result = transfer->attempt(transfer);
		if (result != -EAGAIN)
			break;
		/* Another thread may have changed the descriptor before this step. */
		never_waits = transfer->never_waits || !fd_waits(transfer->fd);
		if (never_waits) {
			world_failed_try(!fd_is_internal(transfer->fd));
			return result;
		}
		if (is_try)
			deadline_ns = fd_socket_deadline(transfer);
		is_try = false;
	}
	fd_changed();
	if (result == -EPIPE)
		(void)signals_deliver_now(); /* SIGPIPE is delivered before the call returns */
	return result;
}

static size_t fd_transfer_vector_bytes(const struct iovec *vector, int count)
{
	size_t bytes = 0;

	for (int i = 0; i < count; i++)
		bytes += vector[i].iov_len;
	return bytes;
}

/* Collects the entries behind the first `skip` bytes. */
static int fd_transfer_vector_rest(
	const struct iovec *vector, int count, size_t skip, struct iovec rest[VECTOR_WINDOW])
{
	int filled = 0;

	for (int i = 0; i < count && filled < VECTOR_WINDOW; i++) {
		if (skip >= vector[i].iov_len) {
			skip -= vector[i].iov_len;
			continue;
		}
		rest[filled].iov_base = (char *)vector[i].iov_base + skip;
		rest[filled++].iov_len = vector[i].iov_len - skip;
		skip = 0;
	}
	return filled;
}

long fd_write_all(struct fd_transfer *transfer, const struct iovec *vector, int count)
{
	struct iovec rest[VECTOR_WINDOW];
	size_t wanted = fd_transfer_vector_bytes(vector, count);
	size_t done = 0;

	transfer->vector = vector;
	transfer->vector_count = count;
	for (;;) {
		long result = fd_transfer(transfer);

		if (platform_failed(result))
			return done ? (long)done : result;
		done += (size_t)result;
		if (!result || done >= wanted || transfer->never_waits || !fd_waits(transfer->fd))
			return (long)done;
		transfer->vector = rest;
		transfer->vector_count = fd_transfer_vector_rest(vector, count, done, rest);
	}
}
