/*
 * Three workers share three mutexes. A run has 120 scheduling points from the first creation to the
 * last join (per worker a create, begin, exit and join, and 18 times a lock and an unlock).
 */
#include <pthread.h>

#define WORKERS 3
#define ROUNDS 18

/* exiting_threads.c has another way to end a thread. */
#ifndef END_THREAD
#define END_THREAD() return NULL
#endif

static pthread_mutex_t mutexes[WORKERS] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int counts[WORKERS];
static int numbers[WORKERS] = {0, 1, 2};

static void *work(void *argument)
{
	const int *number = argument;

	for (int i = 0; i < ROUNDS; i++) {
		int which = (i + *number) % WORKERS;

		pthread_mutex_lock(&mutexes[which]);
		counts[which]++;
		pthread_mutex_unlock(&mutexes[which]);
	}
	END_THREAD();
}

int main(void)
{
	pthread_t threads[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
			return 2;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	return counts[0] + counts[1] + counts[2] != WORKERS * ROUNDS;
}
