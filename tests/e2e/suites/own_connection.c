/*
 * A client and a server of one process, which wait for each other through a TCP or AF_UNIX connection, and sleep for
 * nearly an hour in each run. TCP holds the second byte of a message back until the first one is acknowledged.
 */
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MESSAGES 3

static struct sockaddr_in in = {.sin_family = AF_INET};
static struct sockaddr_un un = {.sun_family = AF_UNIX};
static struct sockaddr *address = (struct sockaddr *)&in;
static socklen_t address_size = sizeof in;
static int listener;

static void require(int is_met, const char *what)
{
	if (is_met)
		return;
	perror(what);
	exit(1);
}

static void watch(int set, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	require(epoll_ctl(set, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

static void *serve(void *argument)
{
	const int set = epoll_create1(0);
	struct epoll_event event;
	char bytes[2];
	int fd = -1;

	watch(set, listener);
	for (int got = 0; got < 2 * MESSAGES;) {
		require(epoll_wait(set, &event, 1, 5000000) == 1, "epoll_wait");
		if (event.data.fd == listener) {
			fd = accept(listener, NULL, NULL);
			watch(set, fd);
			continue;
		}
		got += (int)read(fd, bytes, sizeof bytes);
		if (got % 2 == 0)
			require(write(fd, "ok", 2) == 2, "write");
	}
	close(fd);
	close(set);
	return argument;
}

static void *ask(void *argument)
{
	const int fd = socket(address->sa_family, SOCK_STREAM, 0);
	struct pollfd poll_of = {.fd = fd, .events = POLLIN};
	char bytes[2];

	require(connect(fd, address, address_size) == 0, "connect");
	for (int i = 0; i < MESSAGES; i++) {
		sleep(1000);
		require(write(fd, "x", 1) == 1 && write(fd, "y", 1) == 1, "write");
		/* longer than the stalls of a run */
		require(poll(&poll_of, 1, 10000) == 1, "the answer is late");
		require(read(fd, bytes, sizeof bytes) == 2, "read");
	}
	close(fd);
	return argument;
}

int main(int count, char **arguments)
{
	pthread_t server, client;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (strcmp(arguments[count - 1], "unix") == 0) {
		snprintf(un.sun_path, sizeof un.sun_path, "socket.%d", (int)getpid());
		unlink(un.sun_path);
		address = (struct sockaddr *)&un;
		address_size = sizeof un;
	}
	listener = socket(address->sa_family, SOCK_STREAM, 0);
	require(bind(listener, address, address_size) == 0 && listen(listener, 1) == 0, "bind");
	if (address->sa_family == AF_INET)
		require(getsockname(listener, address, &address_size) == 0, "getsockname");
	pthread_create(&server, NULL, serve, NULL);
	pthread_create(&client, NULL, ask, NULL);
	pthread_join(server, NULL);
	pthread_join(client, NULL);
	close(listener);
	unlink(un.sun_path);
	return 0;
}
