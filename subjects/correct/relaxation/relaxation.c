/* EXPECT: passed runs=100 needs=memory */
/* The twin of relaxation: there is a barrier after either colour. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#ifndef ROWS
#define ROWS 6
#endif
#ifndef COLUMNS
#define COLUMNS 4
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef THREADS
#define THREADS 2
#endif

struct share {
	pthread_t thread;
	int first, last;
};

static long grid[ROWS][COLUMNS];
static pthread_barrier_t barrier;

static void fill(long cells[ROWS][COLUMNS])
{
	for (int i = 0; i < ROWS * COLUMNS; i++)
		cells[i / COLUMNS][i % COLUMNS] = 64 * (i * i % 7);
}

/* Relaxes the rows of one colour, 0 or 1, from first up to last; the outer rows do not change. */
static void relax(long cells[ROWS][COLUMNS], int first, int last, int colour)
{
	for (int row = first; row < last; row++) {
		if (row % 2 != colour || row == 0 || row == ROWS - 1)
			continue;
		for (int column = 0; column < COLUMNS; column++)
			cells[row][column] = (cells[row - 1][column] + cells[row + 1][column]) / 2;
	}
}

static void *relax_share(void *argument)
{
	const struct share *const share = argument;

	for (int round = 0; round < ROUNDS; round++) {
		relax(grid, share->first, share->last, 0);
		pthread_barrier_wait(&barrier);
		relax(grid, share->first, share->last, 1);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	struct share shares[THREADS];
	long expected[ROWS][COLUMNS];

	fill(grid);
	fill(expected);
	for (int round = 0; round < ROUNDS; round++) {
		relax(expected, 0, ROWS, 0);
		relax(expected, 0, ROWS, 1);
	}
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++) {
		shares[i].first = i * ROWS / THREADS;
		shares[i].last = (i + 1) * ROWS / THREADS;
		pthread_create(&shares[i].thread, NULL, relax_share, &shares[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(shares[i].thread, NULL);
	assert(memcmp(grid, expected, sizeof grid) == 0);
	return 0;
}
