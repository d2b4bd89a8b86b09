/*
 * The price of a share by simulation, as in the Java Grande benchmarks. Threads take tasks from a
 * list. Each task is a path of random steps in memory of its own; its result is stored in a table.
 */
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "run_time.h"

#ifndef SCALE
#define SCALE 1
#endif
#define WORKERS 7
#define TASKS (2000 * SCALE)
#define PATH_STEPS 1000
#define DRIFT 0.0001
#define VOLATILITY 0.01

struct result {
	double end, mean;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next_task;		     /* guarded by lock */
static struct result results[TASKS]; /* result of each task, written by its thread */
static double drift = DRIFT, volatility = VOLATILITY; /* read by all */

static double random_below_one(unsigned *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) / 16777216.0;
}

/* The sum of twelve uniform numbers is nearly normal. */
static double random_normal(unsigned *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += random_below_one(seed);
	return sum;
}

static void simulate(int task)
{
	double *const path = malloc(PATH_STEPS * sizeof *path);
	unsigned seed = (unsigned)task + 1;
	double logarithm = 0, sum = 0;

	for (int i = 0; i < PATH_STEPS; i++) {
		logarithm += drift + volatility * random_normal(&seed);
		path[i] = exp(logarithm);
	}
	for (int i = 0; i < PATH_STEPS; i++)
		sum += path[i];
	results[task] = (struct result){.end = path[PATH_STEPS - 1], .mean = sum / PATH_STEPS};
	free(path);
}

static int take_task(void)
{
	pthread_mutex_lock(&lock);
	const int task = next_task < TASKS ? next_task++ : -1;

	pthread_mutex_unlock(&lock);
	return task;
}

static void *work(void *unused)
{
	int task;

	while ((task = take_task()) >= 0)
		simulate(task);
	return unused;
}

int main(void)
{
	pthread_t threads[WORKERS];
	double mean = 0;

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < TASKS; i++)
		mean += results[i].end / TASKS;
	assert(mean > 1 && mean < 1.5);
	run_ends();
	return 0;
}
