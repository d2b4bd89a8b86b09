/* The classic programs by which partial order reductions are compared: argv[1] threads and main. */
#include <pthread.h>
#include <stdlib.h>

#define THREADS_MOST 64

static void run_threads(int count, void *(*body)(void *))
{
	pthread_t threads[THREADS_MOST];

	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, body, (void *)i))
			abort();
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static int thread_count(int argc, char **argv)
{
	const int count = argc > 1 ? atoi(argv[1]) : 0;

	if (count < 1 || count > THREADS_MOST)
		abort();
	return count;
}
