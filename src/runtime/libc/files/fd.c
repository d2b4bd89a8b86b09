/* read, write and their vector forms, with the checked names of _FORTIFY_SOURCE. Transfers of plain
 * files go straight to the kernel. */
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/file_point.h"
#include "runtime/libc/world.h"

/* Returns whether the kernel rejects RWF_NOWAIT, the flag of tries that cannot block, for this
 * descriptor. */
static bool fd_is_unknown_to_kernel(long result)
{
	return result == -EOPNOTSUPP || result == -ENOSYS;
}

bool fd_polls_ready(int fd, short events)
{
	struct pollfd poll = {.fd = fd, .events = events};

	return platform_call(SYS_poll, &poll, 1, 0) > 0;
}

/* Makes the transfer in a form that cannot block: by a call for messages on a socket, otherwise by
 * one for vectors. */
static long fd_try(const struct fd_transfer *transfer, long of_message, long of_vector)
{
	const struct msghdr message = {.msg_iov = (struct iovec *)transfer->vector,
		.msg_iovlen = (size_t)transfer->vector_count};

	if (fd_classify(transfer->fd) == FD_SOCKET)
		return platform_call(of_message, transfer->fd, &message, MSG_DONTWAIT);
	return platform_call(of_vector, transfer->fd, transfer->vector, transfer->vector_count, -1,
		-1, RWF_NOWAIT);
}

static long fd_attempt_read(const struct fd_transfer *transfer)
{
	int fd = transfer->fd;
	long result = fd_try(transfer, SYS_recvmsg, SYS_preadv2);

	if (fd_is_unknown_to_kernel(result)) {
		if (fd_waits(fd) && !fd_polls_ready(fd, POLLIN))
			return -EAGAIN;
		result = platform_call(SYS_readv, fd, transfer->vector, transfer->vector_count);
	}
	if (result == sizeof(uint64_t))
		timerfd_was_read(fd, transfer->vector);
	fd_note(SYS_read, fd, result);
	return result;
}

static long fd_attempt_write(const struct fd_transfer *transfer)
{
	int fd = transfer->fd;
	long result = fd_try(transfer, SYS_sendmsg, SYS_pwritev2);

	if (fd_is_unknown_to_kernel(result)) {
		struct iovec first = transfer->vector[0];

		if (fd_waits(fd) && !fd_polls_ready(fd, POLLOUT))
			return -EAGAIN;
		/* A writable pipe takes PIPE_BUF without blocking. */
		if (first.iov_len > PIPE_BUF)
			first.iov_len = PIPE_BUF;
		result = platform_call(SYS_write, fd, first.iov_base, first.iov_len);
	}
	fd_note(SYS_write, fd, result);
	return result;
}

/* Transfers at a scheduling point. `kind`: OP_FD_READ or OP_FD_WRITE. */
static long fd_transfer_at_point(
	enum op_kind kind, int fd, const struct iovec *vector, int count, uint64_t site)
{
	const bool is_read = kind == OP_FD_READ;
	struct fd_transfer transfer = {.fd = fd,
		.kind = kind,
		.site = site,
		.attempt = is_read ? fd_attempt_read : fd_attempt_write,
		.vector = vector,
		.vector_count = count};

	return is_read ? fd_transfer(&transfer) : fd_write_all(&transfer, vector, count);
}

/* Returns true if there is nothing to transfer, or the kernel must refuse the count. */
static bool fd_is_odd_vector(const struct iovec *vector, int count)
{
	size_t bytes = 0;

	if (count <= 0 || count > IOV_MAX)
		return true;
	for (int i = 0; i < count; i++)
		bytes |= vector[i].iov_len;
	return !bytes;
}

/* Returns what the interposed function returns. */
static ssize_t fd_conclude(
	enum op_kind kind, const struct iovec *vector, int count, long result, uint64_t site)
{
	memory_note_transfer(kind == OP_FD_READ, vector, count, result, site);
	return interpose_result(result);
}

static ssize_t fd_read_from(int fd, void *buffer, size_t size, uint64_t site)
{
	struct iovec vector = {.iov_base = buffer, .iov_len = size};
	long result;

	if (!size || !fd_is_scheduled(fd, OP_FD_READ)) {
		runtime_test_cancel();
		result = target_call(SYS_read, fd, buffer, size);
		if (result == sizeof(uint64_t))
			timerfd_was_read(fd, &vector);
		fd_randomise(fd, &vector, 1, result);
		runtime_pass(site);
	} else {
		result = fd_transfer_at_point(OP_FD_READ, fd, &vector, 1, site);
	}
	return fd_conclude(OP_FD_READ, &vector, 1, result, site);
}

/* Writes without a scheduling point. A SIGPIPE is delivered before the write returns. */
static long fd_write_plainly(long number, int fd, const void *what, size_t size, uint64_t site)
{
	long result;

	runtime_test_cancel();
	file_point(number, (const long[6]){fd}, site);
	result = target_call(number, fd, what, size);
	if (result == -EPIPE)
		(void)signals_deliver_now();
	runtime_pass(site);
	return result;
}

static ssize_t fd_write_to(int fd, const void *buffer, size_t size, uint64_t site)
{
	struct iovec vector = {.iov_base = (void *)buffer, .iov_len = size};
	const long result = !size || !fd_is_scheduled(fd, OP_FD_WRITE)
				    ? fd_write_plainly(SYS_write, fd, buffer, size, site)
				    : fd_transfer_at_point(OP_FD_WRITE, fd, &vector, 1, site);

	return fd_conclude(OP_FD_WRITE, &vector, 1, result, site);
}

INTERPOSED(ssize_t, read, (int fd, void *buffer, size_t size),
	fd_read_from(fd, buffer, size, CALL_SITE));
INTERPOSED(ssize_t, write, (int fd, const void *buffer, size_t size),
	fd_write_to(fd, buffer, size, CALL_SITE));

EXPORT ssize_t readv(int fd, const struct iovec *vector, int count)
{
	long result;

	ENTER();
	if (!fd_is_scheduled(fd, OP_FD_READ) || fd_is_odd_vector(vector, count)) {
		runtime_test_cancel();
		result = target_call(SYS_readv, fd, vector, count);
		fd_randomise(fd, vector, count, result);
		runtime_pass(CALL_SITE);
	} else {
		result = fd_transfer_at_point(OP_FD_READ, fd, vector, count, CALL_SITE);
	}
	return fd_conclude(OP_FD_READ, vector, count, result, CALL_SITE);
}

EXPORT ssize_t writev(int fd, const struct iovec *vector, int count)
{
	long result;

	ENTER();
	if (!fd_is_scheduled(fd, OP_FD_WRITE) || fd_is_odd_vector(vector, count))
		result = fd_write_plainly(SYS_writev, fd, vector, (size_t)count, CALL_SITE);
	else
		result = fd_transfer_at_point(OP_FD_WRITE, fd, vector, count, CALL_SITE);
	return fd_conclude(OP_FD_WRITE, vector, count, result, CALL_SITE);
}

ssize_t __read_chk(int fd, void *buffer, size_t size, size_t capacity);
ssize_t __read(int fd, void *buffer, size_t size);
ssize_t __write(int fd, const void *buffer, size_t size);

EXPORT ssize_t __read_chk(int fd, void *buffer, size_t size, size_t capacity)
{
	ENTER();
	if (size > capacity)
		__chk_fail();
	return fd_read_from(fd, buffer, size, CALL_SITE);
}

INTERPOSED(ssize_t, __read, (int fd, void *buffer, size_t size),
	fd_read_from(fd, buffer, size, CALL_SITE));
INTERPOSED(ssize_t, __write, (int fd, const void *buffer, size_t size),
	fd_write_to(fd, buffer, size, CALL_SITE));

/* libc's own versions bypass the interposed names. */
INTERPOSED(int, eventfd_read, (int fd, eventfd_t *value),
	fd_read_from(fd, value, sizeof *value, CALL_SITE) == sizeof *value ? 0 : -1);

INTERPOSED(int, eventfd_write, (int fd, eventfd_t value),
	fd_write_to(fd, &value, sizeof value, CALL_SITE) == sizeof value ? 0 : -1);

/* The kernel answers all transfers except scheduling points and reads of random numbers. */
static long fd_answer(
	enum op_kind kind, int fd, const struct iovec *vector, int count, uint64_t site)
{
	if (fd_is_odd_vector(vector, count))
		return CALL_OF_KERNEL;
	if (fd_is_scheduled(fd, kind))
		return fd_transfer_at_point(kind, fd, vector, count, site);
	if (kind == OP_FD_READ && fd_classify(fd) == FD_RANDOM) {
		long result = target_call(SYS_readv, fd, vector, count);

		fd_randomise(fd, vector, count, result);
		return result;
	}
	return CALL_OF_KERNEL;
}

static long fd_answer_one(enum op_kind kind, const long arguments[6], uint64_t site)
{
	const struct iovec vector = {
		.iov_base = (void *)arguments[1], .iov_len = (size_t)arguments[2]};

	return fd_answer(kind, (int)arguments[0], &vector, 1, site);
}

static long fd_answer_vector(enum op_kind kind, const long arguments[6], uint64_t site)
{
	const struct iovec *vector = (const struct iovec *)arguments[1];

	return interpose_is_bad_pointer(vector)
		       ? CALL_OF_KERNEL
		       : fd_answer(kind, (int)arguments[0], vector, (int)arguments[2], site);
}

long call_read(const long arguments[6], uint64_t site)
{
	return fd_answer_one(OP_FD_READ, arguments, site);
}

long call_write(const long arguments[6], uint64_t site)
{
	return fd_answer_one(OP_FD_WRITE, arguments, site);
}

long call_readv(const long arguments[6], uint64_t site)
{
	return fd_answer_vector(OP_FD_READ, arguments, site);
}

long call_writev(const long arguments[6], uint64_t site)
{
	return fd_answer_vector(OP_FD_WRITE, arguments, site);
}

/* Returns whether the call has a position or flags. Without them it is readv() or writev(); with
 * them it waits for no other thread. */
static bool fd_has_position_or_flags(const long arguments[6])
{
	return arguments[3] != -1 || arguments[5];
}

long call_preadv2(const long arguments[6], uint64_t site)
{
	return fd_has_position_or_flags(arguments) ? CALL_OF_KERNEL : call_readv(arguments, site);
}

long call_pwritev2(const long arguments[6], uint64_t site)
{
	return fd_has_position_or_flags(arguments) ? CALL_OF_KERNEL : call_writev(arguments, site);
}
