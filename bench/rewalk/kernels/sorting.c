/* Two threads sort an array each, and count their swaps together. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static long count, swaps;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long sort(int *array, long low, long high)
{
	long left = low, right = high, done = 0;
	const int middle = array[low + (high - low) / 2];

	if (low >= high)
		return 0;
	while (left <= right) {
		while (array[left] < middle)
			left++;
		while (array[right] > middle)
			right--;
		if (left <= right) {
			const int other = array[left];

			array[left++] = array[right];
			array[right--] = other;
			done++;
		}
	}
	return done + sort(array, low, right) + sort(array, left, high);
}

static void *worker(void *argument)
{
	unsigned random = 1 + (unsigned)(long)argument;
	int *array = malloc((size_t)count * sizeof *array);
	long done;

	for (long i = 0; i < count; i++) {
		random = random * 1103515245 + 12345;
		array[i] = (int)(random >> 8);
	}
	done = sort(array, 0, count - 1);
	pthread_mutex_lock(&lock);
	swaps += done;
	pthread_mutex_unlock(&lock);
	free(array);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	count = argc > 1 ? atol(argv[1]) : 100000;
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", swaps);
	return 0;
}
