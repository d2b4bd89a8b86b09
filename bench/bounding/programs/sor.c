/*
 * Successive over-relaxation of a grid, as in the Java Grande benchmarks: red and black rows
 * alternate. Each thread has its block of rows; threads share the rows where blocks meet.
 */
#include <assert.h>
#include <pthread.h>

#include "run_time.h"

#ifndef SCALE
#define SCALE 1
#endif
#define WORKERS 5
#define ROWS 300
#define COLUMNS 300
#define ROUNDS (80 * SCALE)
#define OMEGA 1.25

static double grid[ROWS][COLUMNS];
static pthread_barrier_t barrier;

static void relax(int row)
{
	for (int column = 1; column < COLUMNS - 1; column++)
		grid[row][column] = OMEGA / 4 *
					    (grid[row - 1][column] + grid[row + 1][column] +
						    grid[row][column - 1] + grid[row][column + 1]) +
				    (1 - OMEGA) * grid[row][column];
}

static void *work(void *argument)
{
	const int worker = *(const int *)argument;
	const int first = 1 + worker * (ROWS - 2) / WORKERS;
	const int end = 1 + (worker + 1) * (ROWS - 2) / WORKERS;

	for (int half = 0; half < 2 * ROUNDS; half++) {
		for (int row = first; row < end; row++)
			if (row % 2 == half % 2)
				relax(row);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];
	int numbers[WORKERS];

	for (int i = 0; i < ROWS * COLUMNS; i++)
		grid[i / COLUMNS][i % COLUMNS] = i % 977 / 977.0;
	pthread_barrier_init(&barrier, NULL, WORKERS);
	for (int i = 0; i < WORKERS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, work, &numbers[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	assert(grid[ROWS / 2][COLUMNS / 2] > 0.4 && grid[ROWS / 2][COLUMNS / 2] < 0.6);
	run_ends();
	return 0;
}
