/* Two named threads meet over a socket, a signal and a child; the last assertion fails in every schedule. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t door = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;
static const struct sockaddr_un place = {.sun_family = AF_UNIX, .sun_path = "\0raddle-visits"};
static volatile sig_atomic_t has_heard;

static void hear(int signal)
{
	(void)signal;
	has_heard = 1;
}

static void *host(void *argument)
{
	const int *listener = argument;
	char word;
	int guest;
	pid_t child;

	pthread_setname_np(pthread_self(), "host");
	guest = accept(*listener, NULL, NULL);
	assert(recv(guest, &word, 1, 0) == 1);
	kill(getpid(), SIGUSR1);
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	close(guest);
	return NULL;
}

int main(void)
{
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), visitor = socket(AF_UNIX, SOCK_STREAM, 0);
	struct timespec limit;
	pthread_t thread;
	int result = 0;

	signal(SIGUSR1, hear);
	assert(!bind(listener, (const struct sockaddr *)&place, sizeof place));
	assert(!listen(listener, 1));
	pthread_create(&thread, NULL, host, &listener);
	assert(!connect(visitor, (const struct sockaddr *)&place, sizeof place));
	send(visitor, "!", 1, 0);
	pthread_join(thread, NULL);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec++;
	pthread_mutex_lock(&door);
	while (!result)
		result = pthread_cond_timedwait(&bell, &door, &limit);
	assert(result != ETIMEDOUT); /* the bell never rings */
	return 0;
}
