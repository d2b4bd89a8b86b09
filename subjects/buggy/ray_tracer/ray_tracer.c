/* EXPECT: abort runs<=200 needs=memory */
/*
 * A ray tracer: the sum of all colours is guarded by the lock of the tracer, and every thread has its own
 * tracer. After the program of that name in the Java Grande benchmarks.
 *
 * Fails when: main.0 reads the sum; main.1 adds the colours of its rows; main.0 writes what it had read plus
 * its own.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 checksum @add @add @add
 * EXPECT-VIOLATION: R1-W2-W1 render render @add @add @add
 * EXPECT-BRANCH: assert(checksum == expected); [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define WIDTH 6
#define HEIGHT 4
#define THREADS 2
#define SPHERES 2

struct sphere {
	int x, y, radius, colour;
};

struct tracer {
	pthread_t thread;
	pthread_mutex_t lock;
	int first_row, last_row;
};

static const struct sphere spheres[SPHERES] = {{2, 1, 2, 7}, {4, 2, 1, 5}};
static long checksum; /* sum of all colours */

static int trace(int x, int y)
{
	for (int i = 0; i < SPHERES; i++) {
		const struct sphere *const sphere = &spheres[i];
		const int dx = x - sphere->x, dy = y - sphere->y;

		if (dx * dx + dy * dy <= sphere->radius * sphere->radius)
			return sphere->colour;
	}
	return 0;
}

static void render(struct tracer *tracer)
{
	for (int y = tracer->first_row; y < tracer->last_row; y++) {
		long row = 0;

		for (int x = 0; x < WIDTH; x++)
			row += trace(x, y);
		pthread_mutex_lock(&tracer->lock);
		checksum += row; /* @add */
		pthread_mutex_unlock(&tracer->lock);
	}
}

/* Steps of its own that the second thread makes first: the first argument. */
static long steps_apart;

static void stay_apart(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
}

static void *render_rows(void *tracer)
{
	if (((struct tracer *)tracer)->first_row)
		stay_apart();
	render(tracer);
	return NULL;
}

int main(int count, char **arguments)
{
	struct tracer tracers[THREADS];
	long expected = 0;

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	for (int i = 0; i < THREADS; i++) {
		tracers[i].first_row = i * HEIGHT / THREADS;
		tracers[i].last_row = (i + 1) * HEIGHT / THREADS;
		pthread_mutex_init(&tracers[i].lock, NULL);
		pthread_create(&tracers[i].thread, NULL, render_rows, &tracers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(tracers[i].thread, NULL);
	for (int i = 0; i < WIDTH * HEIGHT; i++)
		expected += trace(i % WIDTH, i / WIDTH);
	assert(checksum == expected);
	return 0;
}
