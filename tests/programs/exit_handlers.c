/* EXPECT: exit(3) runs<=1 */
/*
 * exit in a thread while others wait. Handlers run in the opposite order of their registration,
 * on_exit handlers get the status, buffered output is written, and the status is that of the call.
 * Natively and under raddle the program ends with status 3.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char order[8];
static sem_t never_posted;

static void first(void)
{
	strcat(order, "1");
	CHECK(strcmp(order, "321") == 0);
	check_status();
}

static void second(int status, void *argument)
{
	CHECK(status == 3);
	CHECK(argument == order);
	strcat(order, "2");
}

static void third(void)
{
	strcat(order, "3");
}

static void *stay(void *unused)
{
	sem_wait(&never_posted);
	return unused;
}

static void *leave(void *unused)
{
	(void)unused;
	exit(check_failures ? 1 : 3);
}

/* _exit runs no handlers: the child would print. */
static void check_immediate_exit(void)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		printf("this is never written");
		_exit(8);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8);
}

int main(void)
{
	pthread_t threads[2];

	MUST(sem_init(&never_posted, 0, 0) == 0);
	CHECK(atexit(first) == 0);
	CHECK(on_exit(second, order) == 0);
	CHECK(atexit(third) == 0);
	check_immediate_exit();
	MUST(pthread_create(&threads[0], NULL, stay, NULL) == 0);
	MUST(pthread_create(&threads[1], NULL, leave, NULL) == 0);
	pthread_join(threads[0], NULL);
	return 1;
}
