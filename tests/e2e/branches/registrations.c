/*
 * A run of thousands of events, with a condition that needs more threads than usual. Main waits for five threads that
 * register, each with a signal. The condition has another result at once only if all five register before main tests it.
 */
#include <pthread.h>

#define THREADS 5
#define ROUNDS 150

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t registered = PTHREAD_COND_INITIALIZER;
static int count;
static long sums[THREADS + 1];

static void *work(void *number)
{
	const long own = (long)number;

	pthread_mutex_lock(&mutex);
	count++;
	pthread_cond_signal(&registered);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < ROUNDS; i++)
		sums[own + 1] += sums[own];
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 1;
	pthread_mutex_lock(&mutex);
	while (count < THREADS) /* sensitive */
		pthread_cond_wait(&registered, &mutex);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
