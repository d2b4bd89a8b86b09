/*
 * Socket calls that may wait: accept, connect, send and recv in all their forms. Messages are tried
 * with MSG_DONTWAIT; the caller's own flags and O_NONBLOCK keep their meaning.
 * Runs in the target's moving thread.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/world.h"

/* ---- receiving ---- */

static long attempt_receive(const struct fd_transfer *transfer)
{
	long result = platform_call(
		SYS_recvmsg, transfer->fd, transfer->message, transfer->flags | MSG_DONTWAIT);

	fd_note(SYS_read, transfer->fd, result);
	return result;
}

/* For every descriptor in the message's control part. */
static void each_descriptor(const struct msghdr *message, void (*visit)(int fd))
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

static long receive_once(int fd, struct msghdr *message, int flags, uint64_t site)
{
	struct fd_transfer transfer = {.fd = fd,
		.kind = OP_FD_READ,
		.never_waits = flags & MSG_DONTWAIT || flags & MSG_ERRQUEUE,
		.site = site,
		.attempt = attempt_receive,
		.message = message,
		.flags = flags};

	if (!fd_is_scheduled(fd, OP_FD_READ)) {
		runtime_test_cancel();
		return target_call(SYS_recvmsg, fd, message, flags);
	}
	return fd_transfer(&transfer);
}

static long receive_message(int fd, struct msghdr *message, int flags, uint64_t site)
{
	long result = receive_once(fd, message, flags, site);

	if (!platform_failed(result))
		each_descriptor(message, fd_forget); /* their numbers mean something new */
	return result;
}

static bool is_stream(int fd)
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

static ssize_t receive(
	int fd, void *buffer, size_t size, int flags, struct address_out from, uint64_t site)
{
	bool wants_all = flags & MSG_WAITALL && !(flags & (MSG_DONTWAIT | MSG_PEEK)) &&
			 engine_is_live() && is_stream(fd);
	size_t done = 0;

	for (;;) {
		struct iovec vector = {.iov_base = (char *)buffer + done, .iov_len = size - done};
		struct msghdr message = {.msg_name = from.address,
			.msg_namelen = from.length ? *from.length : 0,
			.msg_iov = &vector,
			.msg_iovlen = 1};
		long result = receive_once(fd, &message, flags, site);

		if (platform_failed(result))
			return done ? (ssize_t)done : interpose_result(result);
		if (from.length)
			*from.length = message.msg_namelen;
		done += (size_t)result;
		if (!wants_all || !result || done >= size)
			return (ssize_t)done;
	}
}

EXPORT ssize_t recv(int fd, void *buffer, size_t size, int flags)
{
	ENTER();
	return receive(fd, buffer, size, flags, (struct address_out){0}, CALL_SITE);
}

EXPORT ssize_t recvfrom(int fd, void *restrict buffer, size_t size, int flags,
	struct sockaddr *restrict address, socklen_t *restrict length)
{
	ENTER();
	return receive(fd, buffer, size, flags,
		(struct address_out){address, address ? length : NULL}, CALL_SITE);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	ENTER();
	return interpose_result(receive_message(fd, message, flags, CALL_SITE));
}

EXPORT int recvmmsg(
	int fd, struct mmsghdr *messages, unsigned int count, int flags, struct timespec *timeout)
{
	unsigned int done;
	long result = 0;

	ENTER();
	(void)timeout; /* the kernel, too, looks at it only after a message has come */
	for (done = 0; done < count; done++) {
		int these = flags & ~MSG_WAITFORONE;

		if (done && flags & MSG_WAITFORONE)
			these |= MSG_DONTWAIT;
		result = receive_message(fd, &messages[done].msg_hdr, these, CALL_SITE);
		if (platform_failed(result))
			break;
		messages[done].msg_len = (unsigned int)result;
	}
	return done ? (int)done : (int)interpose_result(result);
}

ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t capacity, int flags);
ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t capacity, int flags,
	struct sockaddr *restrict address, socklen_t *restrict length);

EXPORT ssize_t __recv_chk(int fd, void *buffer, size_t size, size_t capacity, int flags)
{
	ENTER();
	if (size > capacity)
		__chk_fail();
	return receive(fd, buffer, size, flags, (struct address_out){0}, CALL_SITE);
}

EXPORT ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t size, size_t capacity,
	int flags, struct sockaddr *restrict address, socklen_t *restrict length)
{
	ENTER();
	if (size > capacity)
		__chk_fail();
	return receive(fd, buffer, size, flags,
		(struct address_out){address, address ? length : NULL}, CALL_SITE);
}

/* ---- sending ---- */

static long attempt_send(const struct fd_transfer *transfer)
{
	struct msghdr message = *transfer->message;
	long result;

	message.msg_iov = (struct iovec *)transfer->vector;
	message.msg_iovlen = (size_t)transfer->vector_count;
	if (transfer->vector != transfer->message->msg_iov) {
		/* The rest of a partly sent message: its control part has gone already. */
		message.msg_control = NULL;
		message.msg_controllen = 0;
	}
	result = platform_call(SYS_sendmsg, transfer->fd, &message, transfer->flags | MSG_DONTWAIT);
	fd_note(SYS_write, transfer->fd, result);
	return result;
}

static long send_message(int fd, const struct msghdr *message, int flags, uint64_t site)
{
	struct fd_transfer transfer = {.fd = fd,
		.kind = OP_FD_WRITE,
		.never_waits = flags & MSG_DONTWAIT,
		.site = site,
		.attempt = attempt_send,
		.message = (struct msghdr *)message,
		.flags = flags};

	if (!fd_is_internal(fd))
		each_descriptor(message, fd_was_sent);
	if (!fd_is_scheduled(fd, OP_FD_WRITE)) {
		long result;

		runtime_test_cancel();
		result = target_call(SYS_sendmsg, fd, message, flags);
		if (result == -EPIPE)
			(void)signals_deliver_now();
		return result;
	}
	return fd_write_all(&transfer, message->msg_iov, (int)message->msg_iovlen);
}

static ssize_t send_to(int fd, const void *buffer, size_t size, int flags,
	const struct msghdr *address, uint64_t site)
{
	struct iovec vector = {.iov_base = (void *)buffer, .iov_len = size};
	struct msghdr message = *address;

	message.msg_iov = &vector;
	message.msg_iovlen = 1;
	return interpose_result(send_message(fd, &message, flags, site));
}

EXPORT ssize_t send(int fd, const void *buffer, size_t size, int flags)
{
	ENTER();
	return send_to(fd, buffer, size, flags, &(struct msghdr){0}, CALL_SITE);
}

EXPORT ssize_t sendto(int fd, const void *buffer, size_t size, int flags,
	const struct sockaddr *address, socklen_t length)
{
	ENTER();
	return send_to(fd, buffer, size, flags,
		&(struct msghdr){.msg_name = (void *)address, .msg_namelen = address ? length : 0},
		CALL_SITE);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	ENTER();
	return interpose_result(send_message(fd, message, flags, CALL_SITE));
}

EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned int count, int flags)
{
	unsigned int done;
	long result = 0;

	ENTER();
	for (done = 0; done < count; done++) {
		result = send_message(fd, &messages[done].msg_hdr, flags, CALL_SITE);
		if (platform_failed(result))
			break;
		messages[done].msg_len = (unsigned int)result;
	}
	return done ? (int)done : (int)interpose_result(result);
}

/* ---- connecting ---- */

/* Waits for room in the listener's queue (unix sockets), or for the answer from far away. */
static long connect_wait(int fd, bool is_retry, uint64_t site)
{
	struct fd_request request = {.shape = is_retry ? FD_SHAPE_RETRY : FD_SHAPE_ONE,
		.fd = fd,
		.events = POLLOUT,
		.epoch = fd_retry_epoch()};
	struct engine_op op = {.kind = OP_FD_WRITE,
		.address = fd_object(fd),
		.site = site,
		.ready = fd_request_ready,
		.deadline_ns = ENGINE_FOREVER};

	return fd_perform(&op, &request) == WAIT_INTERRUPTED ? -EINTR : 0;
}

static long connect_result(int fd)
{
	int error = 0;
	unsigned int size = sizeof error;

	(void)platform_call(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR, &error, &size); /* a socket */
	return -error;
}

/* connect() of a descriptor that waits, done without waiting: the flag is put back at once. */
static long connect_attempt(int fd, const struct sockaddr *address, socklen_t length)
{
	long flags = platform_call(SYS_fcntl, fd, F_GETFL);
	long result;

	(void)platform_call(SYS_fcntl, fd, F_SETFL, flags | O_NONBLOCK); /* checked by F_GETFL */
	result = target_call(SYS_connect, fd, address, length);
	(void)platform_call(SYS_fcntl, fd, F_SETFL, flags);
	return result;
}

EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	long result;

	ENTER();
	runtime_test_cancel();
	if (!engine_is_live() || fd_classify(fd) != FD_SOCKET)
		return (int)interpose_result(target_call(SYS_connect, fd, address, length));
	engine_point(OP_FD_WRITE, fd_object(fd), CALL_SITE);
	if (!fd_waits(fd)) {
		result = target_call(SYS_connect, fd, address, length);
		fd_retry_changed();
		return (int)interpose_result(result);
	}
	for (;;) {
		result = connect_attempt(fd, address, length);
		fd_changed();
		if (result != -EINPROGRESS && result != -EAGAIN)
			break;
		if (connect_wait(fd, result == -EAGAIN, CALL_SITE)) {
			result = -EINTR;
			break;
		}
		if (result == -EINPROGRESS) {
			result = connect_result(fd);
			break;
		}
	}
	return (int)interpose_result(result);
}

/* ---- accepting ---- */

static long attempt_accept(const struct fd_transfer *transfer)
{
	struct msghdr *address = transfer->message;
	struct pollfd poll = {.fd = transfer->fd, .events = POLLIN};

	/* There is no form of accept() that cannot wait: ask once more right before. */
	if (!transfer->never_waits && fd_waits(transfer->fd) &&
		platform_call(SYS_poll, &poll, 1, 0) == 0)
		return -EAGAIN;
	return target_call(SYS_accept4, transfer->fd, address->msg_name, address->msg_control,
		transfer->flags);
}

static int accept_from(
	int fd, struct sockaddr *address, socklen_t *length, int flags, uint64_t site)
{
	struct msghdr where = {.msg_name = address, .msg_control = length};
	struct fd_transfer transfer = {.fd = fd,
		.kind = OP_FD_READ,
		.site = site,
		.attempt = attempt_accept,
		.message = &where,
		.flags = flags};
	long result;

	if (fd_is_scheduled(fd, OP_FD_READ)) {
		result = fd_transfer(&transfer);
	} else {
		runtime_test_cancel();
		result = target_call(SYS_accept4, fd, address, length, flags);
	}
	if (!platform_failed(result)) {
		fd_opened((int)result, FD_SOCKET, false, (int)result);
		fd_retry_changed(); /* there is room in the queue again */
	}
	return (int)interpose_result(result);
}

EXPORT int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
	ENTER();
	return accept_from(fd, address, length, 0, CALL_SITE);
}

EXPORT int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags)
{
	ENTER();
	return accept_from(fd, address, length, flags, CALL_SITE);
}

/* ---- what others find or do not find ---- */

/* Of two processes that take the same one only one is found by others, and the other may wait for them for good. */
static bool is_shared_name(const struct sockaddr *address, socklen_t length)
{
	const struct sockaddr_un *local = (const struct sockaddr_un *)address;
	const struct sockaddr_in *inet = (const struct sockaddr_in *)address;

	if (length <= offsetof(struct sockaddr_un, sun_path))
		return false; /* the system chooses one */
	if (local->sun_family == AF_UNIX)
		return true;
	return (inet->sin_family == AF_INET || inet->sin_family == AF_INET6) && inet->sin_port;
}

static void note_name(const struct sockaddr *address, socklen_t length)
{
	struct contract *contract = runtime.contract;

	if (!contract || contract->takes_name || !is_shared_name(address, length))
		return;
	__atomic_store_n(&contract->takes_name, 1, __ATOMIC_RELAXED);
	(void)__atomic_add_fetch(&contract->doorbell, 1, __ATOMIC_RELEASE);
	platform_futex_wake(&contract->doorbell, 1, true);
}

EXPORT int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	long result;

	ENTER();
	if (engine_is_live())
		engine_point(OP_FD_WRITE, fd_object(fd), CALL_SITE);
	result = target_call(SYS_bind, fd, address, length);
	if (!platform_failed(result))
		note_name(address, length);
	fd_retry_changed();
	return (int)interpose_result(result);
}

EXPORT int listen(int fd, int backlog)
{
	long result;

	ENTER();
	if (engine_is_live())
		engine_point(OP_FD_WRITE, fd_object(fd), CALL_SITE);
	result = target_call(SYS_listen, fd, backlog);
	fd_retry_changed();
	return (int)interpose_result(result);
}

EXPORT int shutdown(int fd, int how)
{
	long result;

	ENTER();
	if (engine_is_live())
		engine_point(OP_FD_WRITE, fd_object(fd), CALL_SITE);
	result = target_call(SYS_shutdown, fd, how);
	fd_changed();
	return (int)interpose_result(result);
}
