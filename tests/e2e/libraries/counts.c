/*
 * Threads that allocate, free and count under a lock. If an argument is given, the count is read
 * and written in two critical sections, and an update may be lost.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define BLOCKS 16

/* jemalloc reads it: a thread of its own, and memory returned at once. */
const char *malloc_conf = "background_thread:true,dirty_decay_ms:0";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count, is_split;

static void *work(void *unused)
{
	char *blocks[BLOCKS];
	int before;

	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(100u << i % 10);
		memset(blocks[i], 1, 100);
	}
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	pthread_mutex_lock(&lock);
	before = count;
	if (is_split) {
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
	}
	count = before + 1;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(int argument_count, char **arguments)
{
	pthread_t threads[THREADS];

	(void)arguments;
	is_split = argument_count > 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(count == THREADS);
	return 0;
}
