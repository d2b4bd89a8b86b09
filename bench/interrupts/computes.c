/* Threads that compute for half a second between operations. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned shared;

static unsigned compute(unsigned seed)
{
	for (long i = 0; i < 150000000; i++)
		seed = seed * 1664525u + 1013904223u;
	return seed;
}

static void *work(void *argument)
{
	for (int i = 0; i < 2; i++) {
		const unsigned value = compute((unsigned)(long)argument);

		pthread_mutex_lock(&lock);
		shared += value | 1;
		pthread_mutex_unlock(&lock);
	}
	return 0;
}

int main(void)
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return 0;
}
