/* EXPECT: passed runs=1000 */
/*
 * Pattern: published when it is ready.
 *
 * A server in a thread says where it can be reached; its client connects as soon as it knows.
 *
 * Corrected: the server listens first. Cannot fail: a thread that knows the address finds a queue there.
 */
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t is_known;
	struct sockaddr_in address; /* guarded by lock; sin_port 0: not known yet */
} server = {.lock = PTHREAD_MUTEX_INITIALIZER, .is_known = PTHREAD_COND_INITIALIZER};

static void announce(int fd)
{
	socklen_t length = sizeof server.address;

	pthread_mutex_lock(&server.lock);
	getsockname(fd, (struct sockaddr *)&server.address, &length);
	pthread_cond_signal(&server.is_known);
	pthread_mutex_unlock(&server.lock);
}

static void *serve(void *unused)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	char word[4];
	int client;

	(void)unused;
	bind(fd, (struct sockaddr *)&any, sizeof any);
	listen(fd, 1);
	announce(fd);
	client = accept(fd, NULL, NULL);
	if (recv(client, word, sizeof word, MSG_WAITALL) == sizeof word)
		send(client, word, sizeof word, 0);
	close(client);
	close(fd);
	return NULL;
}

int main(void)
{
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	char word[5] = "";
	pthread_t thread;

	pthread_create(&thread, NULL, serve, NULL);
	pthread_mutex_lock(&server.lock);
	while (!server.address.sin_port)
		pthread_cond_wait(&server.is_known, &server.lock);
	pthread_mutex_unlock(&server.lock);

	const int error = connect(fd, (struct sockaddr *)&server.address, sizeof server.address);
	assert(!error);
	send(fd, "echo", 4, 0);
	recv(fd, word, 4, MSG_WAITALL);
	assert(strcmp(word, "echo") == 0);
	close(fd);
	pthread_join(thread, NULL);
	puts("echoed");
	return 0;
}
