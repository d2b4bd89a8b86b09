/* connect, accept, bind, listen, shutdown. */
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "engine/sync.h"
#include "runtime/libc/family.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

static void connect_note_names(uint32_t names)
{
	struct contract *contract = runtime.contract;

	if (!contract || !(names & ~contract->names))
		return;
	__atomic_or_fetch(&contract->names, names, __ATOMIC_RELAXED);
	runtime_ring();
}

void connect_note_result(long result)
{
	if (result == -ENETUNREACH || result == -EHOSTUNREACH || result == -EADDRNOTAVAIL)
		connect_note_names(NAME_MISSING);
}

/* Waits for room in the listener's queue (unix), or for the peer's answer (network). */
static long connect_wait(int fd, bool is_retry, uint64_t site)
{
	struct fd_request request = {.shape = is_retry ? FD_SHAPE_RETRY : FD_SHAPE_ONE,
		.fd = fd,
		.events = POLLOUT,
		.epoch = fd_retry_epoch()};
	struct engine_op op = {.kind = OP_FD_WRITE,
		.call = CALL_CONNECT,
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

	(void)platform_call(SYS_getsockopt, fd, SOL_SOCKET, SO_ERROR, &error, &size);
	return -error;
}

/* Tries without blocking: sets O_NONBLOCK for this call on a blocking descriptor. */
static long connect_attempt(int fd, const struct sockaddr *address, socklen_t length)
{
	long flags = platform_call(SYS_fcntl, fd, F_GETFL);
	long result;

	(void)platform_call(SYS_fcntl, fd, F_SETFL, flags | O_NONBLOCK);
	result = target_call(SYS_connect, fd, address, length);
	(void)platform_call(SYS_fcntl, fd, F_SETFL, flags);
	return result;
}

static long connect_perform(const long arguments[6], uint64_t site)
{
	const struct sockaddr *address = (const struct sockaddr *)arguments[1];
	socklen_t length = (socklen_t)arguments[2];
	int fd = (int)arguments[0];
	long result;

	runtime_test_cancel();
	if (!engine_is_live() || fd_classify(fd) != FD_SOCKET)
		return target_call(SYS_connect, fd, address, length);
	fd_point(CALL_CONNECT, fd, site);
	if (!fd_waits(fd)) {
		result = target_call(SYS_connect, fd, address, length);
		fd_retry_changed();
		return result;
	}
	for (;;) {
		result = connect_attempt(fd, address, length);
		fd_changed();
		if (result != -EINPROGRESS && result != -EAGAIN)
			return result;
		if (connect_wait(fd, result == -EAGAIN, site))
			return -EINTR;
		if (result == -EINPROGRESS)
			return connect_result(fd);
	}
}

long call_connect(const long arguments[6], uint64_t site)
{
	const long result = connect_perform(arguments, site);

	connect_note_result(result);
	return result;
}

ANSWERED(int, connect, (int fd, const struct sockaddr *address, socklen_t length), connect, fd,
	address, length);

static long connect_attempt_accept(const struct fd_transfer *transfer)
{
	struct msghdr *address = transfer->message;
	struct pollfd poll = {.fd = transfer->fd, .events = POLLIN};
	const bool may_wait = !transfer->never_waits && fd_waits(transfer->fd);
	const bool is_shared = may_wait && family_has_others();
	long result = -EAGAIN;

	/* accept() has no flag against blocking: the descriptor is polled immediately before. The
	 * lock keeps other processes of the family from accepting in between. */
	shared_enter(is_shared);
	if (!may_wait || platform_call(SYS_poll, &poll, 1, 0) != 0)
		result = target_call(SYS_accept4, transfer->fd, address->msg_name,
			address->msg_control, transfer->flags);
	shared_leave(is_shared);
	return result;
}

/* Returns true for a socket that listens; the kernel refuses others. */
static bool connect_accept_may_wait(int fd)
{
	int is_listening = 0;
	unsigned int size = sizeof is_listening;

	return !platform_failed(platform_call(
		       SYS_getsockopt, fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size)) &&
	       is_listening;
}

long call_accept4(const long arguments[6], uint64_t site)
{
	struct msghdr where = {
		.msg_name = (void *)arguments[1], .msg_control = (void *)arguments[2]};
	struct fd_transfer transfer = {.fd = (int)arguments[0],
		.kind = OP_FD_READ,
		.call = CALL_ACCEPT,
		.site = site,
		.attempt = connect_attempt_accept,
		.message = &where,
		.flags = (int)arguments[3]};
	long result;

	if (fd_is_scheduled(transfer.fd, OP_FD_READ) && connect_accept_may_wait(transfer.fd)) {
		result = fd_transfer(&transfer);
	} else {
		runtime_test_cancel();
		result = target_call(
			SYS_accept4, arguments[0], arguments[1], arguments[2], arguments[3]);
	}
	if (!platform_failed(result)) {
		fd_opened((int)result, FD_SOCKET, false, (int)result);
		loopback_accepted(transfer.fd, (int)result);
		fd_retry_changed(); /* the listener's queue has room again */
	}
	return result;
}

long call_accept(const long arguments[6], uint64_t site)
{
	const long without_flags[6] = {arguments[0], arguments[1], arguments[2]};

	return call_accept4(without_flags, site);
}

ANSWERED(int, accept, (int fd, struct sockaddr *restrict address, socklen_t *restrict length),
	accept, fd, address, length);
ANSWERED(int, accept4,
	(int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags), accept4,
	fd, address, length, flags);

/* Returns the bit NAME_x for a name that a second process cannot bind, because its peers might wait forever; 0: for a
 * name that the kernel chooses. */
static uint32_t connect_taken_name(const struct sockaddr *address, socklen_t length)
{
	const struct sockaddr_un *local = (const struct sockaddr_un *)address;
	const struct sockaddr_in *inet = (const struct sockaddr_in *)address;

	if (length <= offsetof(struct sockaddr_un, sun_path))
		return 0;
	if (local->sun_family == AF_UNIX)
		return local->sun_path[0] ? NAME_OF_FILE : NAME_OF_NETWORK;
	return (inet->sin_family == AF_INET || inet->sin_family == AF_INET6) && inet->sin_port
		       ? NAME_OF_NETWORK
		       : 0;
}

long call_bind(const long arguments[6], uint64_t site)
{
	const struct sockaddr *address = (const struct sockaddr *)arguments[1];
	int fd = (int)arguments[0];
	long result;

	if (engine_is_live())
		fd_point(CALL_BIND, fd, site);
	result = target_call(SYS_bind, fd, address, arguments[2]);
	if (!platform_failed(result))
		connect_note_names(connect_taken_name(address, (socklen_t)arguments[2]));
	connect_note_result(result);
	fd_retry_changed();
	return result;
}

long call_listen(const long arguments[6], uint64_t site)
{
	int fd = (int)arguments[0];
	long result;

	if (engine_is_live())
		fd_point(CALL_LISTEN, fd, site);
	result = target_call(SYS_listen, fd, arguments[1]);
	fd_retry_changed();
	return result;
}

long call_shutdown(const long arguments[6], uint64_t site)
{
	int fd = (int)arguments[0];
	long result;

	if (engine_is_live())
		fd_point(CALL_SHUTDOWN, fd, site);
	result = target_call(SYS_shutdown, fd, arguments[1]);
	fd_changed();
	return result;
}

ANSWERED(int, bind, (int fd, const struct sockaddr *address, socklen_t length), bind, fd, address,
	length);
ANSWERED(int, listen, (int fd, int backlog), listen, fd, backlog);
ANSWERED(int, shutdown, (int fd, int how), shutdown, fd, how);
