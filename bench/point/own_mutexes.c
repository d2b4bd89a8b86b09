/*
 * own_mutexes THREADS OPS: each thread locks and unlocks a mutex of its own, OPS operations in all.
 * Every operation is a scheduling point at which every thread is enabled.
 */
#include <pthread.h>
#include <stdlib.h>

#define STACK_BYTES 65536

static long pairs_each;

static void *work(void *unused)
{
	pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

	for (long i = 0; i < pairs_each; i++) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
	return unused;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 2;
	pthread_t *threads = calloc((size_t)count, sizeof *threads);
	pthread_attr_t attributes;

	if (!threads)
		return 2;
	pairs_each = (argc > 2 ? atol(argv[2]) : 1000000) / 2 / count;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, work, NULL) != 0)
			return 2;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	return 0;
}
