/* EXPECT: passed runs=200 needs=memory */
/* The twin of ray_tracer: the sum has a lock of its own. */
#include <assert.h>
#include <pthread.h>

#define WIDTH 6
#define HEIGHT 4
#define THREADS 2
#define SPHERES 2

struct sphere {
	int x, y, radius, colour;
};

struct tracer {
	pthread_t thread;
	int first_row, last_row;
};

static const struct sphere spheres[SPHERES] = {{2, 1, 2, 7}, {4, 2, 1, 5}};
static long checksum;					 /* sum of all colours */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* lock of checksum */

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
		pthread_mutex_lock(&lock);
		checksum += row;
		pthread_mutex_unlock(&lock);
	}
}

static void *render_rows(void *tracer)
{
	render(tracer);
	return NULL;
}

int main(void)
{
	struct tracer tracers[THREADS];
	long expected = 0;

	for (int i = 0; i < THREADS; i++) {
		tracers[i].first_row = i * HEIGHT / THREADS;
		tracers[i].last_row = (i + 1) * HEIGHT / THREADS;
		pthread_create(&tracers[i].thread, NULL, render_rows, &tracers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(tracers[i].thread, NULL);
	for (int i = 0; i < WIDTH * HEIGHT; i++)
		expected += trace(i % WIDTH, i / WIDTH);
	assert(checksum == expected);
	return 0;
}
