/* EXPECT: passed runs=20000 */
/*
 * Pattern: wait for an event.
 *
 * A download thread signals main that the file is complete.
 *
 * Corrected: the question is asked under the lock that the wait gives up, in a loop. Cannot fail:
 * either main sees the flag, or it waits before the fetcher can lock, and then the signal finds
 * it.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
	pthread_mutex_t lock;
	pthread_cond_t completed;
	bool is_complete; /* guarded by lock */
	int size;	  /* guarded by lock */
} download = {.lock = PTHREAD_MUTEX_INITIALIZER, .completed = PTHREAD_COND_INITIALIZER};

static void await_download(void)
{
	pthread_mutex_lock(&download.lock);
	while (!download.is_complete)
		pthread_cond_wait(&download.completed, &download.lock);
	pthread_mutex_unlock(&download.lock);
}

static void *fetch(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&download.lock);
	download.size = 4711;
	download.is_complete = true;
	pthread_cond_signal(&download.completed);
	pthread_mutex_unlock(&download.lock);
	return NULL;
}

int main(void)
{
	pthread_t fetcher;

	pthread_create(&fetcher, NULL, fetch, NULL);
	await_download();
	pthread_join(fetcher, NULL);
	printf("%d bytes\n", download.size);
	return 0;
}
