/* EXPECT: passed runs=50 */
/* Sockets between threads: accept and connect, datagrams, MSG_WAITALL, time limits, full queues. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "check.h"

#define CLIENTS 3
#define BULK_BYTES 400000

/* ---- TCP on the loopback interface ---- */

static int listener;
static struct sockaddr_in address;
static atomic_int answers_right;

static void listen_somewhere(void)
{
	socklen_t size = sizeof address;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	address = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	MUST(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
	MUST(listen(listener, 8) == 0);
	MUST(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
}

static int connect_there(void)
{
	int client = socket(AF_INET, SOCK_STREAM, 0);

	MUST(connect(client, (struct sockaddr *)&address, sizeof address) == 0);
	return client;
}

static void *ask(void *number)
{
	char question[8] = {0};
	char answer[8] = {0};
	int client = connect_there();

	question[0] = *(char *)number;
	MUST(send(client, question, sizeof question, 0) == sizeof question);
	MUST(recv(client, answer, sizeof answer, MSG_WAITALL) == sizeof answer);
	answers_right += answer[0] == question[0] + 1;
	close(client);
	return NULL;
}

static void *serve(void *unused)
{
	(void)unused;
	for (int i = 0; i < CLIENTS; i++) {
		char question[8];
		struct sockaddr_in peer;
		socklen_t size = sizeof peer;
		int client = accept(listener, (struct sockaddr *)&peer, &size);

		MUST(client >= 0 && size == sizeof peer && peer.sin_family == AF_INET);
		MUST(recv(client, question, sizeof question, MSG_WAITALL) == sizeof question);
		question[0]++;
		/* The bytes arrive in two pieces: the other side waits for all of them. */
		MUST(send(client, question, 3, 0) == 3);
		usleep(100);
		MUST(send(client, question + 3, 5, 0) == 5);
		close(client);
	}
	return NULL;
}

static void test_tcp(void)
{
	pthread_t server;
	pthread_t clients[CLIENTS];
	char numbers[CLIENTS] = {10, 20, 30};
	int refused;

	listen_somewhere();
	MUST(pthread_create(&server, NULL, serve, NULL) == 0);
	for (int i = 0; i < CLIENTS; i++)
		MUST(pthread_create(&clients[i], NULL, ask, &numbers[i]) == 0);
	for (int i = 0; i < CLIENTS; i++)
		MUST(pthread_join(clients[i], NULL) == 0);
	MUST(pthread_join(server, NULL) == 0);
	CHECK(answers_right == CLIENTS);
	close(listener);
	refused = socket(AF_INET, SOCK_STREAM, 0);
	errno = 0;
	CHECK(connect(refused, (struct sockaddr *)&address, sizeof address) == -1 &&
		errno == ECONNREFUSED);
	close(refused);
	errno = 0;
	CHECK(accept(listener, NULL, NULL) == -1 && errno == EBADF);
}

/* ---- much at once ---- */

static void *send_bulk(void *unused)
{
	static char bulk[BULK_BYTES];
	int client = connect_there();

	(void)unused;
	MUST(send(client, bulk, sizeof bulk, 0) == sizeof bulk);
	MUST(shutdown(client, SHUT_WR) == 0);
	MUST(recv(client, bulk, 1, 0) == 0);
	close(client);
	return NULL;
}

static void test_bulk(void)
{
	pthread_t sender;
	char part[5000];
	long received = 0;
	ssize_t got;
	int server;

	listen_somewhere();
	MUST(pthread_create(&sender, NULL, send_bulk, NULL) == 0);
	server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	CHECK(server >= 0 && fcntl(server, F_GETFD) == FD_CLOEXEC);
	while ((got = recv(server, part, sizeof part, 0)) > 0)
		received += got;
	CHECK(got == 0 && received == BULK_BYTES);
	close(server);
	MUST(pthread_join(sender, NULL) == 0);
	close(listener);
}

/* ---- time limits and waits that are not wanted ---- */

static void test_limits(void)
{
	struct timeval limit = {.tv_usec = 20000};
	struct timespec end = time_in(CLOCK_MONOTONIC, 20);
	int pair[2];
	char byte;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	MUST(setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
	errno = 0;
	CHECK(recv(pair[0], &byte, 1, 0) == -1 && errno == EAGAIN);
	CHECK(is_reached(CLOCK_MONOTONIC, &end));
	errno = 0;
	CHECK(recv(pair[1], &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	MUST(fcntl(pair[1], F_SETFL, O_NONBLOCK) == 0);
	errno = 0;
	CHECK(read(pair[1], &byte, 1) == -1 && errno == EAGAIN);
	close(pair[0]);
	errno = 0;
	CHECK(send(pair[1], "x", 1, MSG_NOSIGNAL) == -1 && errno == EPIPE);
	CHECK(recv(pair[1], &byte, 1, 0) == 0);
	close(pair[1]);
}

/* ---- datagrams, and descriptors as messages ---- */

static int datagrams[2];

static void *send_datagrams(void *unused)
{
	(void)unused;
	MUST(send(datagrams[1], "abc", 3, 0) == 3);
	MUST(send(datagrams[1], "", 0, 0) == 0);
	MUST(send(datagrams[1], "de", 2, 0) == 2);
	return NULL;
}

static void test_datagrams(void)
{
	pthread_t sender;
	char buffer[8];

	MUST(socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams) == 0);
	MUST(pthread_create(&sender, NULL, send_datagrams, NULL) == 0);
	CHECK(recv(datagrams[0], buffer, sizeof buffer, 0) == 3);
	CHECK(recv(datagrams[0], buffer, sizeof buffer, 0) == 0);
	CHECK(recv(datagrams[0], buffer, 1, MSG_TRUNC) == 2);
	MUST(pthread_join(sender, NULL) == 0);
}

static void *send_descriptor(void *descriptor)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {.iov_base = (char *)"x", .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), descriptor, sizeof(int));
	MUST(sendmsg(datagrams[1], &message, 0) == 1);
	return NULL;
}

static void test_descriptor_message(void)
{
	char control[CMSG_SPACE(sizeof(int))];
	char byte;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof control};
	pthread_t sender;
	int ends[2];
	int received = -1;

	MUST(pipe(ends) == 0);
	MUST(pthread_create(&sender, NULL, send_descriptor, &ends[1]) == 0);
	CHECK(recvmsg(datagrams[0], &message, 0) == 1);
	MUST(CMSG_FIRSTHDR(&message) != NULL);
	memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof received);
	MUST(pthread_join(sender, NULL) == 0);
	CHECK(write(received, "y", 1) == 1);
	CHECK(read(ends[0], &byte, 1) == 1 && byte == 'y');
	close(received);
	close(ends[0]);
	close(ends[1]);
	close(datagrams[0]);
	close(datagrams[1]);
}

/* ---- a listener whose queue is full ---- */

static struct sockaddr_un local = {.sun_family = AF_UNIX};

static void *connect_local(void *unused)
{
	int client = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)unused;
	MUST(connect(client, (struct sockaddr *)&local, sizeof local) == 0);
	close(client);
	return NULL;
}

static void test_full_queue(void)
{
	pthread_t clients[4];
	int accepted = 0;

	/* An abstract name: nothing stays in the file system. */
	snprintf(local.sun_path + 1, sizeof local.sun_path - 1, "world-sockets-%d", (int)getpid());
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	MUST(bind(listener, (struct sockaddr *)&local, sizeof local) == 0);
	MUST(listen(listener, 0) == 0);
	for (int i = 0; i < 4; i++)
		MUST(pthread_create(&clients[i], NULL, connect_local, NULL) == 0);
	for (int i = 0; i < 4; i++) {
		int client = accept(listener, NULL, NULL);

		accepted += client >= 0;
		close(client);
	}
	for (int i = 0; i < 4; i++)
		MUST(pthread_join(clients[i], NULL) == 0);
	CHECK(accepted == 4);
	close(listener);
}

int main(void)
{
	test_tcp();
	test_bulk();
	test_limits();
	test_datagrams();
	test_descriptor_message();
	test_full_queue();
	return check_status();
}
