/*
 * Much work on shared memory: bodies that attract each other, moved by threads that share the arrays
 * and wait for each other at a barrier. Ends with status 1, so that there is a finding to explain.
 */
#include <pthread.h>
#include <stdlib.h>

#ifndef BODIES
#define BODIES 16
#define STEPS 8
#endif
#define THREADS 2

static double position[BODIES][3], velocity[BODIES][3];
static pthread_barrier_t barrier;

static void pull(int body)
{
	for (int other = 0; other < BODIES; other++) {
		double distance[3], square = 0.01;

		for (int axis = 0; axis < 3; axis++) {
			distance[axis] = position[other][axis] - position[body][axis];
			square += distance[axis] * distance[axis];
		}
		for (int axis = 0; axis < 3; axis++)
			velocity[body][axis] += 0.001 * distance[axis] / (square * square);
	}
}

static void *work(void *argument)
{
	const int first = *(const int *)argument;

	for (int step = 0; step < STEPS; step++) {
		for (int body = first; body < BODIES; body += THREADS)
			pull(body);
		(void)pthread_barrier_wait(
			&barrier); /* the special result of one thread is not used */
		for (int body = first; body < BODIES; body += THREADS)
			for (int axis = 0; axis < 3; axis++)
				position[body][axis] += velocity[body][axis];
		(void)pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	static int firsts[THREADS];
	pthread_t threads[THREADS];

	if (pthread_barrier_init(&barrier, NULL, THREADS))
		return 2;
	for (int body = 0; body < BODIES; body++)
		for (int axis = 0; axis < 3; axis++)
			position[body][axis] = (7 * body + 3 * axis) % 11 - 5;
	for (int i = 0; i < THREADS; i++) {
		firsts[i] = i;
		if (pthread_create(&threads[i], NULL, work, &firsts[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL); /* they exist */
	return position[0][0] < 1e9;
}
