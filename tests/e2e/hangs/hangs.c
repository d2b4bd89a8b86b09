/*
 * usage: hangs ROUNDS [FILE]. Four threads compute between two operations, for that many million rounds each;
 * 0: for ever. If FILE is given, only one thread computes, and for ever in the run that creates this file.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS 4
#define TABLE 4096

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned total;
static unsigned long rounds;
static volatile int is_endless;

static void *compute(void *seed)
{
	unsigned *const table = calloc(TABLE, sizeof *table);
	unsigned sum = (unsigned)(size_t)seed;

	pthread_mutex_lock(&mutex);
	total += sum;
	pthread_mutex_unlock(&mutex);
	for (unsigned long i = 0; i < rounds || is_endless; i++) {
		unsigned *const entry = &table[(unsigned)i * 2654435761u >> 20];

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
	const size_t thread_count = count > 2 ? 1 : THREADS;

	if (count < 2)
		return 2;
	rounds = strtoul(arguments[1], NULL, 10) * 1000000;
	is_endless = !rounds || (count > 2 && open(arguments[2], O_CREAT | O_EXCL, 0600) >= 0);
	for (size_t i = 0; i < thread_count; i++)
		pthread_create(&threads[i], NULL, compute, (void *)i);
	for (size_t i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
