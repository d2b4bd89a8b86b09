/*
 * locks ROUNDS [THOUSANDS]: threads that take three locks in turn, each beginning with another one: many orders, each a few
 * microseconds long; with THOUSANDS each run ends with so many thousand steps of computing.
 */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t locks[3] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile int counts[3];
static int rounds;

static void *work(void *argument)
{
	const int first = *(const int *)argument;

	for (int i = 0; i < rounds; i++) {
		const int lock = (first + i) % 3;

		pthread_mutex_lock(&locks[lock]);
		counts[lock]++;
		pthread_mutex_unlock(&locks[lock]);
	}
	return NULL;
}

static void compute(long steps)
{
	volatile long left = steps;

	while (left > 0)
		left--;
}

int main(int argc, char **argv)
{
	static const int first[3] = {0, 1, 2};
	pthread_t threads[3];

	rounds = argc > 1 ? atoi(argv[1]) : 6;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)&first[i]) != 0)
			return 2;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	compute(argc > 2 ? 1000 * atol(argv[2]) : 0);
	return counts[0] + counts[1] + counts[2] != 3 * rounds;
}
