/*
 * leaves HOW WHAT: leaves its work to a daemon. HOW: fork, twice (and waits for the first), libc (daemon()),
 * exit (also flushes stdio), supervise (stays, and waits for it), helper (no daemon, but a child).
 * WHAT: buggy (two locks in two orders), correct, alone (no threads), pid (prints it, and waits for signals).
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static bool is_buggy;
static int counter;

static void *work(void *argument)
{
	const bool turns = is_buggy && argument;

	for (int i = 0; i < 3; i++) {
		(void)pthread_mutex_lock(turns ? &second : &first);
		(void)pthread_mutex_lock(turns ? &first : &second);
		counter++;
		(void)pthread_mutex_unlock(&first);
		(void)pthread_mutex_unlock(&second);
	}
	return NULL;
}

static void leave(const char *how)
{
	const pid_t child = fork();

	if (child < 0)
		exit(3);
	if (child && strcmp(how, "supervise") == 0) {
		int status;

		exit(waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status)
									      : 4);
	}
	if (child && strcmp(how, "twice") == 0)
		(void)waitpid(child, NULL, 0);
	if (child && strcmp(how, "exit") == 0) {
		(void)printf("left\n");
		exit(0);
	}
	if (child)
		_exit(0);
	if (strcmp(how, "helper") != 0 && setsid() < 0)
		exit(5);
	if (strcmp(how, "twice") == 0 && fork())
		_exit(0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	const char *what = argc > 2 ? argv[2] : "";
	pthread_t threads[2];

	is_buggy = strcmp(what, "buggy") == 0;
	if (strcmp(how, "libc") == 0) {
		if (daemon(1, 1) < 0)
			return 3;
	} else {
		leave(how);
	}
	if (strcmp(what, "alone") == 0)
		return 0;
	for (size_t i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			return 6;
	for (size_t i = 0; i < 2; i++)
		(void)pthread_join(threads[i], NULL);
	if (strcmp(what, "pid") == 0) {
		(void)printf("pid %d\n", (int)getpid());
		(void)fflush(stdout);
		for (;;)
			(void)pause();
	}
	return counter == 6 ? 0 : 7;
}
