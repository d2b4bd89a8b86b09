/*
 * A heap that is large before the first thread exists, so that the kernel tracks which of its pages are
 * written; three threads write to pages of their own choice, and main checks all of them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES ((size_t)2 << 20)
#define THREADS 3
#define TURNS 3

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *heap;
static size_t turn;

static void *work(void *argument)
{
	const size_t number = (size_t)argument;

	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&lock);
		heap[turn * 70000 + number] = 1;
		heap[BYTES - 1 - turn * 9000]++;
		turn++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	size_t marks = 0, sum = 0;

	heap = malloc(BYTES);
	if (!heap)
		return 2;
	memset(heap, 5, BYTES / 2);
	memset(heap + BYTES / 2, 0, BYTES / 2);
	for (size_t i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 2;
		if (i == 0)
			memset(heap + 800000, 6, 100000);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < BYTES / 2; i++)
		marks += heap[i] == 1;
	for (size_t i = BYTES / 2; i < BYTES; i++)
		sum += (size_t)heap[i];
	if (marks != THREADS * TURNS || sum != THREADS * TURNS) {
		fprintf(stderr, "%zu marks, sum %zu\n", marks, sum);
		abort();
	}
	return 0;
}
