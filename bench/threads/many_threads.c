/*
 * many_threads turns THREADS LOOPS: creates and joins that many threads, one after the other.
 * many_threads alive THREADS LOOPS: all of them live at once, pass a barrier, and are joined.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES 65536

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long count;
static pthread_barrier_t barrier;

static void *work(void *is_waiting)
{
	if (is_waiting)
		pthread_barrier_wait(&barrier);
	pthread_mutex_lock(&mutex);
	count++;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static bool run_in_turns(int threads, pthread_t *handles, const pthread_attr_t *attributes)
{
	for (int i = 0; i < threads; i++)
		if (pthread_create(&handles[i], attributes, work, NULL) != 0 ||
			pthread_join(handles[i], NULL) != 0)
			return false;
	return true;
}

static bool run_alive(int threads, pthread_t *handles, const pthread_attr_t *attributes)
{
	if (pthread_barrier_init(&barrier, NULL, (unsigned)threads) != 0)
		return false;
	for (int i = 0; i < threads; i++)
		if (pthread_create(&handles[i], attributes, work, &barrier) != 0)
			return false;
	for (int i = 0; i < threads; i++)
		if (pthread_join(handles[i], NULL) != 0)
			return false;
	return pthread_barrier_destroy(&barrier) == 0;
}

int main(int argc, char **argv)
{
	int threads = argc == 4 ? atoi(argv[2]) : 0;
	int loops = argc == 4 ? atoi(argv[3]) : 0;
	pthread_t *handles = calloc((size_t)threads, sizeof *handles);
	pthread_attr_t attributes;

	if (!handles || !threads)
		return 2;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	for (int i = 0; i < loops; i++)
		if (strcmp(argv[1], "turns") == 0 ? !run_in_turns(threads, handles, &attributes)
						  : !run_alive(threads, handles, &attributes))
			return 2;
	free(handles);
	return count != (long)threads * loops;
}
