/* A worker moves all the time, while main waits for another process. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMPUTED 100000000l /* longer than 65,536 steps of the worker */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int must_stop;

static void *work(void *unused)
{
	int stops = 0;

	while (!stops) {
		pthread_mutex_lock(&lock);
		stops = must_stop;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static pid_t start_child(int output)
{
	const pid_t pid = fork();

	if (pid)
		return pid;
	for (volatile long i = 0; i < COMPUTED; i++)
		continue;
	_exit(write(output, "x", 1) != 1);
}

int main(int count, char **arguments)
{
	const int waits_for_byte = count > 1 && !strcmp(arguments[1], "pipe");
	pthread_t thread;
	char byte;
	int ends[2], status = 0;
	pid_t pid;

	if (pipe(ends))
		return 2;
	pid = start_child(ends[1]);
	pthread_create(&thread, NULL, work, NULL);
	if (waits_for_byte ? read(ends[0], &byte, 1) != 1 : waitpid(pid, &status, 0) != pid)
		return 3;
	pthread_mutex_lock(&lock);
	must_stop = 1;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	if (waits_for_byte && waitpid(pid, &status, 0) != pid)
		return 4;
	return status;
}
