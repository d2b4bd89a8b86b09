/*
 * Connections of which both ends belong to this process, over TCP or AF_UNIX. While threads wait
 * only for them, for internal descriptors and for a deadline, no other process can end the wait
 * before the deadline, so virtual time may jump to it. A wait without a deadline still counts as
 * external: another process could connect to the listening socket.
 *
 * A connection is known once it is accepted. TCP may hold bytes back until the other end
 * acknowledges earlier ones, which takes real time: such a wait is real. Runs in the moving thread.
 */
#include <linux/tcp.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <linux/sockios.h>

#include "runtime/interpose.h"
#include "runtime/libc/world.h"

#define ENDS_MOST 1024
/* The kernel may deliver the end of a connection a moment after it was closed. */
#define CLOSED_NS UINT64_C(1000000)

enum loopback_kind {
	LOOPBACK_NONE,
	LOOPBACK_LISTENER, /* has accepted own connections only */
	LOOPBACK_OUTSIDE,  /* has accepted a connection of another process */
	LOOPBACK_UNIX,
	LOOPBACK_TCP
};

/* Written by calls that accept, watch and close descriptors. */
static struct {
	struct {
		uint8_t kind;
		bool watches_others; /* an epoll descriptor whose set is not known */
		uint16_t peer;	     /* of LOOPBACK_TCP: the other end */
		uint16_t watcher;    /* 1 + the epoll descriptor that watches this one; 0: none */
	} ends[ENDS_MOST];
	int end;	    /* above the last descriptor with an entry */
	uint64_t closed_ns; /* when a TCP connection was last closed, in real time */
} loopback;

static void loopback_set(int fd, enum loopback_kind kind)
{
	if (fd < 0 || fd >= ENDS_MOST)
		return;
	loopback.ends[fd].kind = (uint8_t)kind;
	if (fd >= loopback.end)
		loopback.end = fd + 1;
}

static bool loopback_is_peer_this_process(int fd)
{
	struct ucred peer = {0};
	unsigned int size = sizeof peer;

	return !platform_failed(
		       platform_call(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &peer, &size)) &&
	       peer.pid == (int)platform_call(SYS_getpid);
}

/* The other end of an accepted connection, if it belongs to this process. -1: it does not. */
static int loopback_find_client(int accepted)
{
	struct sockaddr_storage peer, name;
	unsigned int peer_size = sizeof peer;

	memset(&peer, 0, sizeof peer);
	if (platform_failed(platform_call(SYS_getpeername, accepted, &peer, &peer_size)))
		return -1;
	for (int fd = 0; fd < ENDS_MOST; fd++) {
		unsigned int size = sizeof name;

		if (fd == accepted || !fd_is_known_socket(fd))
			continue;
		memset(&name, 0, sizeof name);
		if (peer.ss_family == AF_UNIX
				? loopback_is_peer_this_process(fd) &&
					  loopback.ends[fd].kind == LOOPBACK_NONE
				: !platform_failed(
					  platform_call(SYS_getsockname, fd, &name, &size)) &&
					  size == peer_size && memcmp(&name, &peer, size) == 0)
			return fd;
	}
	return -1;
}

void loopback_accepted(int listener, int fd)
{
	const bool is_unix = loopback_is_peer_this_process(fd);
	const enum loopback_kind kind = is_unix ? LOOPBACK_UNIX : LOOPBACK_TCP;
	const int client = loopback_find_client(fd);

	if (listener < 0 || listener >= ENDS_MOST)
		return;
	if (client < 0) {
		loopback_set(listener, LOOPBACK_OUTSIDE);
		return;
	}
	if (fd >= ENDS_MOST)
		return;
	loopback_set(fd, kind);
	loopback_set(client, kind);
	loopback.ends[fd].peer = (uint16_t)client;
	loopback.ends[client].peer = (uint16_t)fd;
	if (loopback.ends[listener].kind != LOOPBACK_OUTSIDE)
		loopback_set(listener, LOOPBACK_LISTENER);
}

void loopback_watched(int epoll_fd, int fd)
{
	if (epoll_fd < 0 || epoll_fd >= ENDS_MOST)
		return;
	if (fd >= ENDS_MOST ||
		(loopback.ends[fd].watcher && loopback.ends[fd].watcher != epoll_fd + 1)) {
		loopback.ends[epoll_fd].watches_others = true;
		return;
	}
	loopback_set(fd, (enum loopback_kind)loopback.ends[fd].kind);
	loopback.ends[fd].watcher = (uint16_t)(epoll_fd + 1);
}

void loopback_forget(int fd)
{
	if (fd < 0 || fd >= loopback.end)
		return;
	if (loopback.ends[fd].kind == LOOPBACK_TCP)
		loopback.closed_ns = platform_monotonic_ns();
	for (int other = 0; other < loopback.end; other++)
		if (loopback.ends[other].watcher == fd + 1)
			loopback.ends[other].watcher = 0;
	memset(&loopback.ends[fd], 0, sizeof loopback.ends[fd]);
}

void loopback_forget_all(void)
{
	for (int fd = 0; fd < loopback.end; fd++) {
		loopback.ends[fd].kind = LOOPBACK_OUTSIDE;
		loopback.ends[fd].watches_others = true;
	}
}

bool loopback_is_own(int fd)
{
	bool is_own = true;

	if (fd < 0 || fd >= ENDS_MOST)
		return false;
	if (!fd_is_own_epoll(fd))
		return loopback.ends[fd].kind != LOOPBACK_NONE &&
		       loopback.ends[fd].kind != LOOPBACK_OUTSIDE;
	for (int watched = 0; watched < loopback.end && is_own; watched++)
		if (loopback.ends[watched].watcher == fd + 1)
			is_own = !fd_is_own_epoll(watched) &&
				 (fd_is_internal(watched) || loopback_is_own(watched));
	return is_own && !loopback.ends[fd].watches_others;
}

static void loopback_ask(int fd, struct tcp_info *info)
{
	unsigned int size = sizeof *info;

	memset(info, 0, sizeof *info);
	(void)platform_call(SYS_getsockopt, fd, IPPROTO_TCP, TCP_INFO, info, &size);
}

/* Returns whether the other end can read all bytes, which it may not have acknowledged yet. */
static bool loopback_has_delivered(int fd)
{
	const int peer = loopback.ends[fd].peer;
	struct tcp_info sender, receiver;
	int waiting = 0, unsent = 0;

	(void)platform_call(SYS_ioctl, fd, SIOCOUTQ, &waiting);
	if (!waiting)
		return true;
	(void)platform_call(SYS_ioctl, fd, SIOCOUTQNSD, &unsent);
	if (unsent || loopback.ends[peer].kind != LOOPBACK_TCP || loopback.ends[peer].peer != fd)
		return false;
	loopback_ask(fd, &sender);
	loopback_ask(peer, &receiver);
	return receiver.tcpi_bytes_received >= sender.tcpi_bytes_sent - sender.tcpi_bytes_retrans;
}

bool loopback_all_delivered(void)
{
	if (platform_monotonic_ns() - loopback.closed_ns < CLOSED_NS)
		return false;
	for (int fd = 0; fd < loopback.end; fd++)
		if (loopback.ends[fd].kind == LOOPBACK_TCP && !loopback_has_delivered(fd))
			return false;
	return true;
}
