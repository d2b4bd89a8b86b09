/* Forces between molecules in a box, half of them for each of two threads, which add up an energy. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 12.0

static int count, rounds;
static double (*place)[3], (*force)[3];
static double energy;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double pull(int i)
{
	double sum = 0;

	for (int j = 0; j < count; j++) {
		double way[3], square = 0;

		if (i == j)
			continue;
		for (int k = 0; k < 3; k++) {
			way[k] = place[i][k] - place[j][k];
			if (way[k] > SIDE / 2)
				way[k] -= SIDE;
			else if (way[k] < -SIDE / 2)
				way[k] += SIDE;
			square += way[k] * way[k];
		}
		if (square < 9.0) {
			const double inverse = 1 / square, cube = inverse * inverse * inverse;

			sum += cube * (cube - 1);
			for (int k = 0; k < 3; k++)
				force[i][k] += way[k] * inverse * cube * (cube - 0.5);
		}
	}
	return sum;
}

static void *worker(void *argument)
{
	const int first = (int)(long)argument * (count / 2);

	for (int round = 0; round < rounds; round++) {
		double sum = 0;

		for (int i = first; i < first + count / 2; i++)
			sum += pull(i);
		pthread_mutex_lock(&lock);
		energy += sum;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	unsigned random = 5;

	count = argc > 2 ? atoi(argv[2]) : 1000;
	rounds = argc > 1 ? atoi(argv[1]) : 5;
	place = calloc((size_t)count, sizeof *place);
	force = calloc((size_t)count, sizeof *force);
	for (int i = 0; i < 3 * count; i++) {
		random = random * 1103515245 + 12345;
		place[i / 3][i % 3] = SIDE * (random >> 8) / 16777216.0;
	}
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%g\n", energy);
	return 0;
}
