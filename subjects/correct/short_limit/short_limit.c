/* EXPECT: passed runs=20000 */
/*
 * Pattern: a generous time limit.
 *
 * A client waits at most a minute for an answer that is there within microseconds, and takes a
 * missing answer for an error of the server.
 *
 * Corrected: the limit is longer than a busy machine stalls a thread. Fails only with `--stalls any`.
 */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

static sem_t answered;

static void *answer(void *unused)
{
	(void)unused;
	sem_post(&answered);
	return NULL;
}

int main(void)
{
	struct timespec limit;
	pthread_t server;

	sem_init(&answered, 0, 0);
	pthread_create(&server, NULL, answer, NULL);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 60;
	assert(sem_timedwait(&answered, &limit) == 0);
	pthread_join(server, NULL);
	sem_destroy(&answered);
	puts("answered");
	return 0;
}
