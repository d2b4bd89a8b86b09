/* A thread appends to an array, and another one sums the array by a pointer that it has read under the lock. The
 * allocator could let the array grow at its place, because no other block lies behind it. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long *values;
static size_t count;

static void *append(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		values = realloc(values, (count + 1) * 100 * sizeof *values);
		if (!values)
			exit(0);
		values[count * 100] = 7;
		count++;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *sum(void *unused)
{
	const long *seen;
	size_t end;

	pthread_mutex_lock(&lock);
	seen = values;
	end = count;
	pthread_mutex_unlock(&lock);
	for (size_t i = 0; i < end; i++)
		if (seen[i * 100] != 7)
			abort();
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, append, NULL);
	pthread_create(&threads[1], NULL, sum, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(values);
	return 0;
}
