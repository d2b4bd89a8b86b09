/*
 * sizes steps N: two threads perform N operations.
 * sizes threads N: N threads lock a mutex each.
 * sizes mutexes N: two threads lock 10 of N mutexes, which main has used before.
 * sizes lost N: the same as steps, and at its end each thread may lose an update of the other, which is a failure.
 * sizes heap N: two threads perform 10 operations beside a heap of N bytes, which main has written.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define STACK_BYTES 65536
#define LOCKED 10

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *own;
/* Volatile: the compiler must not remove memory that nobody reads. */
static char *volatile heap;
static long count, operations = LOCKED;

static void *work(void *own_mutex)
{
	pthread_mutex_t *locked = own_mutex ? own_mutex : &mutex;

	for (long i = 0; i < operations / 2; i++) {
		pthread_mutex_lock(locked);
		if (locked == &mutex)
			count++;
		pthread_mutex_unlock(locked);
	}
	return NULL;
}

static void *work_and_lose(void *unused)
{
	long seen;

	work(NULL);
	pthread_mutex_lock(&mutex);
	seen = count;
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	count = seen + 1;
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *lock_some(void *unused)
{
	for (long i = 0; i < LOCKED; i++) {
		pthread_mutex_lock(&own[i]);
		pthread_mutex_unlock(&own[i]);
	}
	return unused;
}

static int run_threads(long number, void *(*body)(void *), size_t stride)
{
	pthread_t *threads = calloc((size_t)number, sizeof *threads);
	pthread_attr_t attributes;

	if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, STACK_BYTES))
		return 2;
	for (long i = 0; i < number; i++)
		if (pthread_create(&threads[i], &attributes, body,
			    stride ? (char *)own + i * (long)stride : NULL))
			return 2;
	for (long i = 0; i < number; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const long size = argc == 3 ? atol(argv[2]) : 0;

	if (size < 2)
		return 2;
	if (strcmp(argv[1], "steps") == 0) {
		operations = size / 2;
		return run_threads(2, work, 0);
	}
	if (strcmp(argv[1], "lost") == 0) {
		operations = size / 2;
		return run_threads(2, work_and_lose, 0) || count != operations / 2 * 2 + 2;
	}
	if (strcmp(argv[1], "heap") == 0) {
		if (!(heap = malloc((size_t)size)))
			return 2;
		memset(heap, 1, (size_t)size);
		return run_threads(2, work, 0);
	}
	if (!(own = calloc((size_t)size, sizeof *own)))
		return 2;
	for (long i = 0; i < size; i++) {
		pthread_mutex_init(&own[i], NULL);
		pthread_mutex_lock(&own[i]);
		pthread_mutex_unlock(&own[i]);
	}
	operations = 2;
	if (strcmp(argv[1], "threads") == 0)
		return run_threads(size, work, sizeof *own);
	return run_threads(2, lock_some, 0);
}
