/* EXPECT: passed runs=200 */
/* A pre-forking server: workers with two threads each accept connections of one listening socket that they inherit. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define WORKERS 3
#define THREADS 2
#define REQUESTS 6

static int listener;
static struct sockaddr_in address;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int served;

static void *serve(void *unused)
{
	for (;;) {
		const int connection = accept(listener, NULL, NULL);
		char byte;

		if (connection < 0)
			return unused;
		if (read(connection, &byte, 1) == 1) {
			pthread_mutex_lock(&mutex);
			served++;
			pthread_mutex_unlock(&mutex);
			byte++;
			if (write(connection, &byte, 1) != 1)
				return unused;
		}
		close(connection);
	}
}

static void work(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	_exit(0);
}

static int request(char byte)
{
	const int client = socket(AF_INET, SOCK_STREAM, 0);
	char answer = 0;
	int is_right;

	is_right = connect(client, (struct sockaddr *)&address, sizeof address) == 0 &&
		   write(client, &byte, 1) == 1 && read(client, &answer, 1) == 1 &&
		   answer == byte + 1;
	close(client);
	return is_right;
}

static void *request_all(void *right)
{
	for (int i = 0; i < REQUESTS; i++)
		*(int *)right += request((char)('a' + i));
	return NULL;
}

int main(void)
{
	socklen_t size = sizeof address;
	pid_t workers[WORKERS];
	pthread_t client;
	int right = 0, ended = 0;

	listener = socket(AF_INET, SOCK_STREAM, 0);
	address = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	MUST(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
	MUST(listen(listener, REQUESTS) == 0);
	MUST(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
	for (int i = 0; i < WORKERS; i++) {
		workers[i] = fork();
		if (workers[i] == 0)
			work();
	}
	MUST(pthread_create(&client, NULL, request_all, &right) == 0);
	MUST(pthread_join(client, NULL) == 0);
	CHECK(right == REQUESTS);
	for (int i = 0; i < WORKERS; i++) {
		int status = 0;

		kill(workers[i], SIGTERM);
		waitpid(workers[i], &status, 0);
		ended += WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
	}
	CHECK(ended == WORKERS);
	return check_status();
}
