/* EXPECT: passed runs=3 */
/* A thousand threads: alive at once on small stacks, and one after the other. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#include "check.h"

#define THREADS 1000

static sem_t gate;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *wait_and_count(void *unused)
{
	sem_wait(&gate);
	sem_post(&gate);
	pthread_mutex_lock(&mutex);
	count++;
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *count_up(void *unused)
{
	count++;
	return unused;
}

int main(void)
{
	static pthread_t threads[THREADS];
	pthread_attr_t attributes;

	MUST(sem_init(&gate, 0, 0) == 0);
	MUST(pthread_attr_init(&attributes) == 0);
	MUST(pthread_attr_setstacksize(&attributes, 64 * 1024) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], &attributes, wait_and_count, NULL) == 0);
	MUST(sem_post(&gate) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(count == THREADS);
	for (int i = 0; i < THREADS; i++) {
		MUST(pthread_create(&threads[0], NULL, count_up, NULL) == 0);
		MUST(pthread_join(threads[0], NULL) == 0);
	}
	CHECK(count == 2 * THREADS);
	return check_status();
}
