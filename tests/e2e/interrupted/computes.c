/* Computes for long between few accesses: a run takes less than a second, its analysis takes minutes. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned shared;

static void *work(void *argument)
{
	unsigned value = argument != 0;

	for (long i = 0; i < 200000000; i++)
		if ((value = value * 1664525u + 1013904223u) >> 30 == 1)
			value ^= 1;
	pthread_mutex_lock(&lock);
	if (shared < value)
		shared = value;
	pthread_mutex_unlock(&lock);
	return 0;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, i ? &shared : 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return 0;
}
