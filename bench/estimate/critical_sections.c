/* THREADS that each take one mutex TIMES times: (THREADS * TIMES)! / (TIMES!)^THREADS orders. */
#include <pthread.h>
#include <stdlib.h>

#define THREADS_MOST 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *times)
{
	for (long i = (long)times; i; i--) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const int count = argc == 3 ? atoi(argv[1]) : 0;
	pthread_t threads[THREADS_MOST];

	if (count < 1 || count > THREADS_MOST)
		return 2;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)atol(argv[2])))
			return 2;
	for (int i = 0; i < count; i++)
		(void)pthread_join(threads[i], NULL);
	return 0;
}
