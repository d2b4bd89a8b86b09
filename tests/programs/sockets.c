/* EXPECT: passed runs=20 */
/*
 * Sockets between threads: a pair, and a server on the loopback device that accepts while a client
 * connects.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

static int pair[2], listener;
static struct sockaddr_in address;

static void *shout(void *unused)
{
	char text[16];
	ssize_t count;

	(void)unused;
	while ((count = recv(pair[1], text, sizeof(text), 0)) > 0) {
		for (ssize_t i = 0; i < count; i++)
			text[i] = (char)(text[i] - 'a' + 'A');
		send(pair[1], text, (size_t)count, 0);
	}
	close(pair[1]);
	return NULL;
}

static void check_pair(void)
{
	char text[16] = "";
	struct iovec part = {.iov_base = text, .iov_len = sizeof(text)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	pthread_t thread;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	CHECK(recv(pair[0], text, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
	MUST(pthread_create(&thread, NULL, shout, NULL) == 0);
	CHECK(send(pair[0], "hello", 5, 0) == 5);
	CHECK(recv(pair[0], text, 5, MSG_WAITALL) == 5);
	CHECK(memcmp(text, "HELLO", 5) == 0);
	CHECK(write(pair[0], "again", 5) == 5);
	CHECK(recvmsg(pair[0], &message, 0) == 5);
	CHECK(memcmp(text, "AGAIN", 5) == 0);
	CHECK(shutdown(pair[0], SHUT_WR) == 0);
	CHECK(read(pair[0], text, sizeof(text)) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	close(pair[0]);
}

/* Answers each connection with the length of what it was sent. */
static void *serve_twice(void *unused)
{
	(void)unused;
	for (int i = 0; i < 2; i++) {
		struct sockaddr_in peer;
		socklen_t size = sizeof(peer);
		int connection = accept(listener, (struct sockaddr *)&peer, &size);
		char text[64];
		ssize_t count, total = 0;

		while ((count = read(connection, text, sizeof(text))) > 0)
			total += count;
		dprintf(connection, "%zd", total);
		close(connection);
	}
	return NULL;
}

static void *ask(void *argument)
{
	const char *question = argument;
	int connection = socket(AF_INET, SOCK_STREAM, 0);
	char answer[8] = "";

	if (connect(connection, (struct sockaddr *)&address, sizeof(address)) != 0)
		return NULL;
	if (send(connection, question, strlen(question), 0) != (ssize_t)strlen(question))
		return NULL;
	shutdown(connection, SHUT_WR);
	for (size_t filled = 0; filled < sizeof(answer) - 1;) {
		ssize_t count = read(connection, answer + filled, sizeof(answer) - 1 - filled);

		if (count <= 0)
			break;
		filled += (size_t)count;
	}
	close(connection);
	return (void *)(uintptr_t)(strlen(question) == (size_t)(answer[0] - '0') && !answer[1]);
}

static void check_server(void)
{
	socklen_t size = sizeof(address);
	pthread_t server, clients[2];
	void *is_right;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	address = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	CHECK(bind(listener, (struct sockaddr *)&address, sizeof(address)) == 0);
	CHECK(listen(listener, 4) == 0);
	CHECK(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
	MUST(pthread_create(&server, NULL, serve_twice, NULL) == 0);
	MUST(pthread_create(&clients[0], NULL, ask, "four") == 0);
	MUST(pthread_create(&clients[1], NULL, ask, "sixsix") == 0);
	for (int i = 0; i < 2; i++) {
		MUST(pthread_join(clients[i], &is_right) == 0);
		CHECK(is_right);
	}
	MUST(pthread_join(server, NULL) == 0);
	close(listener);
}

static int datagrams;

static void *receive_datagram(void *unused)
{
	char text[16];

	(void)unused;
	return (void *)(intptr_t)recvfrom(datagrams, text, sizeof(text), 0, NULL, NULL);
}

static void check_datagrams(void)
{
	struct timeval short_time = {.tv_usec = 20000};
	socklen_t size = sizeof(address);
	pthread_t receiver;
	void *count;
	char byte;
	int sender = socket(AF_INET, SOCK_DGRAM, 0);

	datagrams = socket(AF_INET, SOCK_DGRAM, 0);
	address.sin_port = 0;
	MUST(bind(datagrams, (struct sockaddr *)&address, sizeof(address)) == 0);
	MUST(getsockname(datagrams, (struct sockaddr *)&address, &size) == 0);
	MUST(pthread_create(&receiver, NULL, receive_datagram, NULL) == 0);
	CHECK(sendto(sender, "seven b", 7, 0, (struct sockaddr *)&address, size) == 7);
	MUST(pthread_join(receiver, &count) == 0);
	CHECK((intptr_t)count == 7);
	MUST(setsockopt(datagrams, SOL_SOCKET, SO_RCVTIMEO, &short_time, sizeof(short_time)) == 0);
	CHECK(recv(datagrams, &byte, 1, 0) == -1 && errno == EAGAIN);
	close(sender);
	close(datagrams);
}

int main(void)
{
	check_pair();
	check_server();
	check_datagrams();
	return check_status();
}
