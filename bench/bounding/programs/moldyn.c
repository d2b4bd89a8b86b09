/*
 * Molecular dynamics, as in the Java Grande benchmarks: particles that attract and repel each other. Each thread
 * adds up the forces of its share of pairs in an array of its own; then the arrays are summed, and particles moved.
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
#define SIDE 8
#define PARTICLES (4 * SIDE * SIDE * SIDE / 4)
#define STEPS (40 * SCALE)
#define TIME_STEP 0.001
#define CUTOFF 6.25 /* squared */
#define EDGE (SIDE * 1.3)

struct vector {
	double x, y, z;
};

static struct vector positions[PARTICLES], velocities[PARTICLES], forces[PARTICLES];
static struct vector *partial[WORKERS]; /* forces of the pairs of each thread */
static pthread_barrier_t barrier;
static pthread_mutex_t energy_lock = PTHREAD_MUTEX_INITIALIZER;
static double potential; /* guarded by energy_lock */

static double wrapped(double distance)
{
	if (distance > EDGE / 2)
		return distance - EDGE;
	return distance < -EDGE / 2 ? distance + EDGE : distance;
}

/* Between one particle and all with a higher number; returns the energy. */
static double compute_forces(struct vector *own, int i)
{
	const struct vector at = positions[i];
	struct vector sum = {0};
	double energy = 0;

	for (int j = i + 1; j < PARTICLES; j++) {
		const double x = wrapped(at.x - positions[j].x);
		const double y = wrapped(at.y - positions[j].y);
		const double z = wrapped(at.z - positions[j].z);
		const double square = x * x + y * y + z * z;

		if (square > CUTOFF)
			continue;
		const double r2 = 1 / square, r6 = r2 * r2 * r2;
		const double force = 48 * r6 * (r6 - 0.5) * r2;

		energy += 4 * r6 * (r6 - 1);
		sum.x += force * x;
		sum.y += force * y;
		sum.z += force * z;
		own[j].x -= force * x;
		own[j].y -= force * y;
		own[j].z -= force * z;
	}
	own[i].x += sum.x;
	own[i].y += sum.y;
	own[i].z += sum.z;
	return energy;
}

static void sum_and_move(int i)
{
	struct vector sum = {0};

	for (int worker = 0; worker < WORKERS; worker++) {
		sum.x += partial[worker][i].x;
		sum.y += partial[worker][i].y;
		sum.z += partial[worker][i].z;
		partial[worker][i] = (struct vector){0};
	}
	forces[i] = sum;
	velocities[i].x += sum.x * TIME_STEP;
	velocities[i].y += sum.y * TIME_STEP;
	velocities[i].z += sum.z * TIME_STEP;
	positions[i].x += velocities[i].x * TIME_STEP;
	positions[i].y += velocities[i].y * TIME_STEP;
	positions[i].z += velocities[i].z * TIME_STEP;
}

static void *simulate(void *argument)
{
	const int worker = *(const int *)argument;

	for (int step = 0; step < STEPS; step++) {
		double energy = 0;

		for (int i = worker; i < PARTICLES; i += WORKERS)
			energy += compute_forces(partial[worker], i);
		pthread_mutex_lock(&energy_lock);
		potential += energy;
		pthread_mutex_unlock(&energy_lock);
		pthread_barrier_wait(&barrier);
		for (int i = worker; i < PARTICLES; i += WORKERS)
			sum_and_move(i);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* Places the particles on the corners of a lattice, with small offsets. */
static void place(void)
{
	unsigned seed = 1;

	for (int i = 0; i < PARTICLES; i++) {
		seed = seed * 1103515245 + 12345;
		positions[i].x = (i % SIDE + (seed >> 16) % 100 / 1000.0) * 1.3;
		positions[i].y = (i / SIDE % SIDE + (seed >> 20) % 100 / 1000.0) * 1.3;
		positions[i].z = (i / SIDE / SIDE + (seed >> 24) % 100 / 1000.0) * 1.3;
	}
}

int main(void)
{
	pthread_t threads[WORKERS];
	int numbers[WORKERS];
	struct vector momentum = {0};

	place();
	pthread_barrier_init(&barrier, NULL, WORKERS);
	for (int i = 0; i < WORKERS; i++)
		partial[i] = calloc(PARTICLES, sizeof(struct vector));
	for (int i = 0; i < WORKERS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, simulate, &numbers[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PARTICLES; i++)
		momentum.x += velocities[i].x;
	assert(fabs(momentum.x) < 1e-3);
	for (int i = 0; i < WORKERS; i++)
		free(partial[i]);
	run_ends();
	return 0;
}
