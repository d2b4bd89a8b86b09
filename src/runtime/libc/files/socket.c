/* send and recv in all their forms. Each transfer is tried with MSG_DONTWAIT. The caller's own
 * flags and O_NONBLOCK keep their meaning. */
#include <sys/socket.h>
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

static long socket_attempt_receive(const struct fd_transfer *transfer)
{
	long result = platform_call(
		SYS_recvmsg, transfer->fd, transfer->message, transfer->flags | MSG_DONTWAIT);

	fd_note(SYS_read, transfer->fd, result);
	return result;
}

/* Visits the descriptors in the message's control data. */
static void socket_each_descriptor(const struct msghdr *message, void (*visit)(int fd))
{
	struct cmsghdr *control;

	for (control = CMSG_FIRSTHDR(message); control;
		control = CMSG_NXTHDR((struct msghdr *)message, control)) {
		const int *fds = (const int *)(void *)CMSG_DATA(control);
		size_t bytes = control->cmsg_len - CMSG_LEN(0);

		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < bytes / sizeof *fds; i++)
			visit(fds[i]);
	}
}

static long socket_receive_once(int fd, struct msghdr *message, int flags, uint64_t site)
{
	struct fd_transfer transfer = {.fd = fd,
		.kind = OP_FD_READ,
		.call = CALL_RECEIVE,
		.never_waits = flags & MSG_DONTWAIT || flags & MSG_ERRQUEUE,
		.site = site,
		.attempt = socket_attempt_receive,
		.message = message,
		.flags = flags};
	long result;

	if (!fd_is_scheduled(fd, OP_FD_READ) || fd_classify(fd) != FD_SOCKET) {
		runtime_test_cancel();
		result = target_call(SYS_recvmsg, fd, message, flags);
	} else {
		result = fd_transfer(&transfer);
	}
	memory_note_transfer(true, message->msg_iov, (int)message->msg_iovlen, result, site);
	return result;
}

static long socket_receive_message(int fd, struct msghdr *message, int flags, uint64_t site)
{
	long result = socket_receive_once(fd, message, flags, site);

	/* Received descriptors may reuse known numbers */
	if (!platform_failed(result))
		socket_each_descriptor(message, fd_forget);
	return result;
}

/* recvmmsg and sendmmsg. */
static long socket_each_message(const long arguments[6],
	long (*transfer)(int fd, struct msghdr *message, int flags, uint64_t site), uint64_t site)
{
	struct mmsghdr *messages = (struct mmsghdr *)arguments[1];
	const unsigned int count = (unsigned int)arguments[2];
	int flags = (int)arguments[3];
	const bool waits_for_one = transfer == socket_receive_message && flags & MSG_WAITFORONE;
	unsigned int done;
	long result = 0;

	if (count && interpose_is_bad_pointer(messages))
		return CALL_OF_KERNEL;
	if (waits_for_one)
		flags &= ~MSG_WAITFORONE;
	for (done = 0; done < count; done++) {
		result = transfer((int)arguments[0], &messages[done].msg_hdr, flags, site);
		if (platform_failed(result))
			break;
		messages[done].msg_len = (unsigned int)result;
		if (waits_for_one)
			flags |= MSG_DONTWAIT;
	}
	return done ? (long)done : result;
}

static bool socket_is_stream(int fd)
{
	int type = 0;
	unsigned int size = sizeof type;

	return !platform_failed(
		       platform_call(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size)) &&
	       type == SOCK_STREAM;
}

struct address_out {
	struct sockaddr *address;
	socklen_t *length;
};

static long socket_receive(
	int fd, void *buffer, size_t size, int flags, struct address_out from, uint64_t site)
{
	bool wants_all = flags & MSG_WAITALL && !(flags & (MSG_DONTWAIT | MSG_PEEK)) &&
			 engine_is_live() && socket_is_stream(fd);
	size_t done = 0;

	for (;;) {
		struct iovec vector = {.iov_base = (char *)buffer + done, .iov_len = size - done};
		struct msghdr message = {.msg_name = from.address,
			.msg_namelen = from.length ? *from.length : 0,
			.msg_iov = &vector,
			.msg_iovlen = 1};
		long result = socket_receive_once(fd, &message, flags, site);

		if (platform_failed(result))
			return done ? (long)done : result;
		if (from.length)
			*from.length = message.msg_namelen;
		done += (size_t)result;
		if (!wants_all || !result || done >= size)
			return (long)done;
	}
}

long call_recvfrom(const long arguments[6], uint64_t site)
{
	struct sockaddr *address = (struct sockaddr *)arguments[4];
	const struct address_out from = {address, address ? (socklen_t *)arguments[5] : NULL};

	if (address && !from.length)
		return -EFAULT;
	return socket_receive((int)arguments[0], (void *)arguments[1], (size_t)arguments[2],
		(int)arguments[3], from, site);
}

long call_recvmsg(const long arguments[6], uint64_t site)
{
	if (interpose_is_bad_pointer((const void *)arguments[1]))
		return CALL_OF_KERNEL;
	return socket_receive_message(
		(int)arguments[0], (struct msghdr *)arguments[1], (int)arguments[2], site);
}

/* The time limit is checked only after a message, like in the kernel. */
long call_recvmmsg(const long arguments[6], uint64_t site)
{
	return socket_each_message(arguments, socket_receive_message, site);
}

ANSWERED(ssize_t, recv, (int fd, void *buffer, size_t size, int flags), recvfrom, fd, buffer, size,
	flags);
ANSWERED(ssize_t, recvfrom,
	(int fd, void *restrict buffer, size_t size, int flags, struct sockaddr *restrict address,
		socklen_t *restrict length),
	recvfrom, fd, buffer, size, flags, address, length);
ANSWERED(
	ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), recvmsg, fd, message, flags);
ANSWERED(int, recvmmsg,
	(int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout),
	recvmmsg, fd, messages, count, flags, timeout);

ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t capacity, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t capacity, int flags,
	struct sockaddr *restrict address, socklen_t *restrict length);

EXPORT ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t capacity, int flags)
{
	ENTER();
	if (size > capacity)
		__chk_fail();
	return interpose_result(ANSWER(recvfrom, fd, buffer, size, flags));
}

EXPORT ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t capacity,
	int flags, struct sockaddr *restrict address, socklen_t *restrict length)
{
	ENTER();
	if (size > capacity)
		__chk_fail();
	return interpose_result(ANSWER(recvfrom, fd, buffer, size, flags, address, length));
}

static long socket_attempt_send(const struct fd_transfer *transfer)
{
	struct msghdr message = *transfer->message;
	long result;

	message.msg_iov = (struct iovec *)transfer->vector;
	message.msg_iovlen = (size_t)transfer->vector_count;
	if (transfer->vector != transfer->message->msg_iov) {
		/* A partly sent message has sent its control data. */
		message.msg_control = NULL;
		message.msg_controllen = 0;
	}
	result = platform_call(SYS_sendmsg, transfer->fd, &message, transfer->flags | MSG_DONTWAIT);
	fd_note(SYS_write, transfer->fd, result);
	return result;
}

static long socket_send_message(int fd, struct msghdr *message, int flags, uint64_t site)
{
	struct fd_transfer transfer = {.fd = fd,
		.kind = OP_FD_WRITE,
		.call = CALL_SEND,
		.never_waits = flags & MSG_DONTWAIT,
		.site = site,
		.attempt = socket_attempt_send,
		.message = message,
		.flags = flags};
	long result;

	if (!fd_is_internal(fd))
		socket_each_descriptor(message, fd_was_sent);
	if (!fd_is_scheduled(fd, OP_FD_WRITE) || fd_classify(fd) != FD_SOCKET) {
		runtime_test_cancel();
		result = target_call(SYS_sendmsg, fd, message, flags);
		if (result == -EPIPE)
			(void)signals_deliver_now();
	} else {
		result = fd_write_all(&transfer, message->msg_iov, (int)message->msg_iovlen);
	}
	connect_note_result(result);
	memory_note_transfer(false, message->msg_iov, (int)message->msg_iovlen, result, site);
	return result;
}

long call_sendto(const long arguments[6], uint64_t site)
{
	struct iovec vector = {.iov_base = (void *)arguments[1], .iov_len = (size_t)arguments[2]};
	struct msghdr message = {.msg_name = (void *)arguments[4],
		.msg_namelen = arguments[4] ? (socklen_t)arguments[5] : 0,
		.msg_iov = &vector,
		.msg_iovlen = 1};

	return socket_send_message((int)arguments[0], &message, (int)arguments[3], site);
}

long call_sendmsg(const long arguments[6], uint64_t site)
{
	if (interpose_is_bad_pointer((const void *)arguments[1]))
		return CALL_OF_KERNEL;
	return socket_send_message(
		(int)arguments[0], (struct msghdr *)arguments[1], (int)arguments[2], site);
}

long call_sendmmsg(const long arguments[6], uint64_t site)
{
	return socket_each_message(arguments, socket_send_message, site);
}

ANSWERED(ssize_t, send, (int fd, const void *buffer, size_t size, int flags), sendto, fd, buffer,
	size, flags);
ANSWERED(ssize_t, sendto,
	(int fd, const void *buffer, size_t size, int flags, const struct sockaddr *address,
		socklen_t length),
	sendto, fd, buffer, size, flags, address, length);
ANSWERED(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), sendmsg, fd, message,
	flags);
ANSWERED(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned int count, int flags), sendmmsg,
	fd, messages, count, flags);
