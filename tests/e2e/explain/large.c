/*
 * Two threads that sort much of their own, and count what they have done together, now and then without
 * the lock: too many accesses to be controlled one by one, and nearly none of them matters. Blocks of one
 * thread are never the other's.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define NUMBERS 4000
#ifndef ROUNDS
#define ROUNDS 40
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *done; /* guarded by lock */

static int compare(const void *first, const void *second)
{
	const unsigned a = *(const unsigned *)first, b = *(const unsigned *)second;

	return (a > b) - (a < b);
}

static void *work(void *argument)
{
	unsigned seed = *(unsigned *)argument;

	for (int round = 0; round < ROUNDS; round++) {
		unsigned *numbers = malloc(NUMBERS * sizeof *numbers);

		for (int i = 0; i < NUMBERS; i++)
			numbers[i] = seed = seed * 1103515245 + 12345;
		qsort(numbers, NUMBERS, sizeof *numbers, compare);
		for (int i = 1; i < NUMBERS; i++)
			assert(numbers[i - 1] <= numbers[i]);
		free(numbers);
		if (round % 4) {
			pthread_mutex_lock(&lock);
			*done += 1;
			pthread_mutex_unlock(&lock);
		} else {
			*done += 1;
		}
	}
	return NULL;
}

int main(void)
{
	static unsigned seeds[] = {1, 2};
	pthread_t threads[2];

	done = calloc(1, sizeof *done);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &seeds[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(*done == 2 * ROUNDS);
	free(done);
	return 0;
}
