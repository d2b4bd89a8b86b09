/* Sixteen threads with many operations and accesses to shared memory: long runs, large constraints. */
#include <pthread.h>

enum { THREADS = 16, ROUNDS = 200, CELLS = 32 };

static pthread_mutex_t locks[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int cells[CELLS];
static int turns;

static void *work(void *argument)
{
	unsigned seed = (unsigned)(long)argument;

	for (int i = 0; i < ROUNDS; i++) {
		seed = seed * 1664525u + 1013904223u;
		pthread_mutex_lock(&locks[seed >> 16 & 3]);
		if (cells[seed >> 20 & (CELLS - 1)]++ > cells[seed >> 25 & (CELLS - 1)])
			cells[seed & (CELLS - 1)] += turns++ & 1;
		pthread_mutex_unlock(&locks[seed >> 16 & 3]);
	}
	return 0;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], 0, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], 0);
	return 0;
}
