/*
 * prefix TURNS STEPS: three threads add to one counter STEPS
 * times each. When the first thread exists, main computes for
 * TURNS turns of a loop: every run repeats this unless it
 * begins at a checkpoint. (3 * STEPS)! / (STEPS!)^3 orders.
 * prefix: prints the number of turns per millisecond.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define THREADS 3

static _Atomic long counter;
static long steps;
static volatile uint64_t result;

static void *add(void *unused)
{
	for (long i = 0; i < steps; i++)
		counter++;
	return unused;
}

static void compute(uint64_t turns)
{
	uint64_t value = 88172645463325252u;

	while (turns--) {
		value ^= value << 13;
		value ^= value >> 7;
		value ^= value << 17;
	}
	result = value;
}

static int calibrate(void)
{
	const uint64_t turns = 20000000;
	struct timespec start, end;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	compute(turns);
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	printf("%.0f\n", (double)turns * 1e6 /
				 ((double)(end.tv_sec - start.tv_sec) * 1e9 +
					 (double)(end.tv_nsec - start.tv_nsec)));
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc < 3)
		return calibrate();
	steps = atol(argv[2]);
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, add, NULL))
			return 2;
		if (i == 0)
			compute(strtoull(argv[1], NULL, 10));
	}
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL); /* cannot fail */
	return counter != THREADS * steps;
}
