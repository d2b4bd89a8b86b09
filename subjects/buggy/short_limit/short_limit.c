/* EXPECT: abort runs<=2000 */
/*
 * Pattern: a time limit that only a busy machine exceeds.
 *
 * A client waits at most 50 ms for an answer that is always there within microseconds, and takes a
 * missing answer for an error of the server.
 *
 * Fails when: main.0 is stalled for 50 ms before its post: the wait of main times out.
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
	limit.tv_nsec += 50000000;
	if (limit.tv_nsec >= 1000000000) {
		limit.tv_sec++;
		limit.tv_nsec -= 1000000000;
	}
	assert(sem_timedwait(&answered, &limit) == 0);
	pthread_join(server, NULL);
	sem_destroy(&answered);
	puts("answered");
	return 0;
}
