/* EXPECT: exit(5) runs<=1 */
/*
 * A thread replaces the whole process while others wait: the exit status is that of the new
 * program, and no handler of the old one runs.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static sem_t never_posted;

static void at_exit(void)
{
	printf("this is never written\n");
}

static void *stay(void *unused)
{
	sem_wait(&never_posted);
	return unused;
}

static void *replace(void *unused)
{
	CHECK(execl("/no/such/shell", "sh", "-c", "exit 6", (char *)NULL) == -1);
	fflush(stdout);
	execl("/bin/sh", "sh", "-c", "echo ok replaced; exit 5", (char *)NULL);
	return unused;
}

int main(void)
{
	pthread_t waiting, replacing;

	MUST(sem_init(&never_posted, 0, 0) == 0);
	MUST(atexit(at_exit) == 0);
	MUST(pthread_create(&waiting, NULL, stay, NULL) == 0);
	MUST(pthread_create(&replacing, NULL, replace, NULL) == 0);
	pthread_join(replacing, NULL);
	return 1;
}
