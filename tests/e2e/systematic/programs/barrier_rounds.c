/*
 * barrier_rounds NUMBER [x]: the first digit of NUMBER is the number of threads, the second the number of rounds at a barrier.
 * The last thread of each round is known. With x the program fails if the first thread comes last in the first round only.
 */
#include <pthread.h>
#include <stdlib.h>

#define THREADS_MOST 9
#define ROUNDS_MOST 9

static pthread_barrier_t barrier;
static int rounds;
static long last[ROUNDS_MOST];

static void *take_part(void *number)
{
	for (int i = 0; i < rounds; i++)
		if (pthread_barrier_wait(&barrier))
			last[i] = (long)number;
	return NULL;
}

int main(int argc, char **argv)
{
	const int number = atoi(argv[1]), threads = number / 10;
	pthread_t thread[THREADS_MOST];
	int later = 0;

	rounds = number % 10;
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, take_part, (void *)i);
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (int i = 1; i < rounds; i++)
		later += last[i] == 0;
	return argc > 2 && last[0] == 0 && !later;
}
