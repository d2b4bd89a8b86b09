/* Threads that compute between two operations: for 20 million rounds each, or, with an argument, for ever. */
#include <pthread.h>
#include <stdlib.h>

#define THREADS 4
#define ROUNDS 20000000
#define TABLE 4096

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned total;
static volatile int is_endless;

static void *compute(void *seed)
{
	unsigned *const table = calloc(TABLE, sizeof *table);
	unsigned sum = (unsigned)(size_t)seed;

	for (unsigned i = 0; i < ROUNDS || is_endless; i++) {
		unsigned *const entry = &table[i * 2654435761u >> 20];

		*entry = *entry * 33 + sum;
		sum ^= *entry;
	}
	free(table);
	pthread_mutex_lock(&mutex);
	total += sum;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];

	(void)arguments;
	is_endless = count > 1;
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, compute, (void *)i);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
