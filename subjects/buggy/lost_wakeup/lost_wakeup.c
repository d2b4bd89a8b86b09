/* EXPECT: lost-wakeup strategy=random runs<=500 */
/*
 * Pattern: lost wake-up.
 *
 * A download thread signals main that the file is complete. Main asks whether it has to wait, and
 * decides to; what happens before it really waits goes unheard.
 *
 * Fails when: main locks and unlocks in is_complete and finds nothing; main.0 completes, signals
 * (no thread waits) and ends; main locks again and waits for a signal that was sent already.
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

static bool is_complete(void)
{
	pthread_mutex_lock(&download.lock);
	bool complete = download.is_complete;
	pthread_mutex_unlock(&download.lock);
	return complete;
}

static void await_download(void)
{
	if (is_complete())
		return;
	pthread_mutex_lock(&download.lock);
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
